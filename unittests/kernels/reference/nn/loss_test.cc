// The reference kernels of losses, worked out by hand.
#include "ir/dialects/onnx/nn/loss.h"

#include <cmath>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using ops::LossReduction;
using Attrs = ops::NegativeLogLikelihoodLoss::Attrs<ir::BuilderSlot>;

// x[n, c, d] = -(100 n + 10 c + d), N = 2, C = 3, d1 = 2.
Tensor Scores() {
  return F32({2, 3, 2}, {-0, -1, -10, -11, -20, -21, -100, -101, -110, -111, -120, -121});
}
Tensor Classes() { return I64({2, 2}, {2, 0, 1, 1}); }  // 20, 1, 110, 111

std::vector<float> Nll(Operand classes, Operand weights, const Attrs& attrs, ir::Shape result) {
  return ValuesOf<float>(
      RunOp<ops::NegativeLogLikelihoodLoss>({Scores(), std::move(classes), std::move(weights)},
                                            attrs, {DataType::kF32, std::move(result)}));
}

TEST(ReferenceNegativeLogLikelihoodLoss, PicksAndReduces) {
  using V = std::vector<float>;
  EXPECT_EQ(Nll(Classes(), {}, {.reduction = LossReduction::kNone}, {2, 2}), (V{20, 1, 110, 111}));
  EXPECT_EQ(Nll(Classes(), {}, {.reduction = LossReduction::kSum}, {}), (V{242}));
  EXPECT_EQ(Nll(Classes(), {}, {}, {}), (V{60.5}));
}

TEST(ReferenceNegativeLogLikelihoodLoss, WeighsClasses) {
  using V = std::vector<float>;
  const auto weights = [] { return F32({3}, {10, 0.5, 2}); };
  EXPECT_EQ(Nll(Classes(), weights(), {.reduction = LossReduction::kNone}, {2, 2}),
            (V{40, 10, 55, 55.5}));
  EXPECT_EQ(Nll(Classes(), weights(), {}, {}), (V{160.5f / 13}));
}

TEST(ReferenceNegativeLogLikelihoodLoss, IgnoresAClassThatNeedNotExist) {
  using V = std::vector<float>;
  const auto classes = [] { return I64({2, 2}, {2, -7, 1, 1}); };
  EXPECT_EQ(Nll(classes(), {}, {.ignore_index = -7, .reduction = LossReduction::kNone}, {2, 2}),
            (V{20, 0, 110, 111}));
  EXPECT_EQ(Nll(classes(), {}, {.ignore_index = -7}, {}), (V{241.0f / 3}));
  EXPECT_EQ(Nll(Classes(), F32({3}, {10, 0.5, 2}), {.ignore_index = 1}, {}), (V{50.0f / 12}));
}

TEST(ReferenceNegativeLogLikelihoodLoss, RefusesAClassThatDoesNotExist) {
  for (const int64_t c : {-1, 3}) {
    const auto result = TryRunOp<ops::NegativeLogLikelihoodLoss>(
        {Scores(), I64({2, 2}, {0, 1, c, 2})}, {}, {{DataType::kF32, {}}});
    EXPECT_EQ(result.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(result.status().message(),
              "onnx.NegativeLogLikelihoodLoss: class " + std::to_string(c) + " is none of 3");
  }
}

TEST(ReferenceSoftmaxCrossEntropyLoss, IsTheLossOfTheLogSoftmax) {
  const float log3 = std::log(3.0f);
  const auto results = TryRunOp<ops::SoftmaxCrossEntropyLoss>(
      {F32({2, 2}, {0, log3, 1000, 0}), I32({2}, {1, 1})}, {.reduction = LossReduction::kNone},
      {{DataType::kF32, {2}}, {DataType::kF32, {2, 2}}});
  ASSERT_TRUE(results.ok()) << results.status();
  const std::vector<float> loss = ValuesOf<float>((*results)[0]);
  EXPECT_FLOAT_EQ(loss[0], -std::log(0.75f));
  EXPECT_FLOAT_EQ(loss[1], 1000);
  const std::vector<float> log_prob = ValuesOf<float>((*results)[1]);
  EXPECT_FLOAT_EQ(log_prob[0], std::log(0.25f));
  EXPECT_FLOAT_EQ(log_prob[1], std::log(0.75f));
  EXPECT_FLOAT_EQ(log_prob[2], 0);
  EXPECT_FLOAT_EQ(log_prob[3], -1000);
}

TEST(ReferenceSoftmaxCrossEntropyLoss, WeighsAndIgnores) {
  const Tensor y = RunOp<ops::SoftmaxCrossEntropyLoss>(
      {F32({3, 2}, {0, 0, 5, 5, 1, 2}), I64({3}, {0, 1, -1}), F32({2}, {1, 3})},
      {.ignore_index = -1, .reduction = LossReduction::kSum}, {DataType::kF32, {}});
  EXPECT_FLOAT_EQ(y.values<float>()[0], 4 * std::log(2.0f));
}

}  // namespace
}  // namespace weft::kernels
