// Losses of classifiers against the reference kernels.
#include "ir/dialects/onnx/nn/loss.h"

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using ops::LossReduction;

// Of scores [7, 20] and [3, 20, 5], with weights and without.
template <class O>
void ExpectLosses(size_t num_results) {
  for (const bool has_axis : {false, true}) {
    const ir::Shape x = has_axis ? ir::Shape{3, 20, 5} : ir::Shape{7, 20};
    const ir::Shape samples = has_axis ? ir::Shape{3, 5} : ir::Shape{7};
    for (const DataType type : {DataType::kI64, DataType::kI32}) {
      for (const auto reduction :
           {LossReduction::kNone, LossReduction::kSum, LossReduction::kMean}) {
        for (const bool ignores : {false, true}) {
          for (const bool weighs : {false, true}) {
            const Operand target(*RandomTensor(type, samples, 2, 0, ValueRange{0, 19}));
            const Tensor& classes = *target.tensor;
            const int64_t some = type == DataType::kI64 ? classes.values<int64_t>()[1]
                                                        : classes.values<int32_t>()[1];
            std::vector<ResultType> results = {
                FloatResult(reduction == LossReduction::kNone ? samples : ir::Shape{})};
            if (num_results > 1) results.push_back(FloatResult(x));
            Agreement<O>({Random(x, 1), target, weighs ? Operand(Random({20}, 3)) : Operand()},
                         {.ignore_index = ignores ? std::optional(some) : std::nullopt,
                          .reduction = reduction},
                         results)
                .Of("native");
          }
        }
      }
    }
  }
}

TEST(NativeLoss, OfNegativeLogLikelihood) { ExpectLosses<ops::NegativeLogLikelihoodLoss>(1); }

TEST(NativeLoss, OfSoftmaxCrossEntropy) {
  ExpectLosses<ops::SoftmaxCrossEntropyLoss>(1);
  ExpectLosses<ops::SoftmaxCrossEntropyLoss>(2);
}

TEST(NativeLoss, RefusesAClassThatDoesNotExist) {
  for (const int64_t c : {-1, 3}) {
    const auto result = TryRunOp<ops::SoftmaxCrossEntropyLoss>(
        {Random({2, 3}, 1), I64({2}, {0, c})}, {}, {FloatResult({})}, {.provider = "native"});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(result.status().message(),
              "onnx.SoftmaxCrossEntropyLoss: class " + std::to_string(c) + " is none of 3");
  }
}

TEST(NativeLoss, LeavesOtherTypesToTheReference) {
  const OpProgram program = OpProgram::Make<ops::NegativeLogLikelihoodLoss>(
      {F64({1, 2}, {1, 2}), I64({1}, {0})}, {}, {{DataType::kF64, {}}});
  EXPECT_EQ(program.ProviderOf({.provider = "native"}), "reference");
}

}  // namespace
}  // namespace weft::kernels
