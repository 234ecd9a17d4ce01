#include "ir/dialects/onnx/nn/loss.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxLoss = InferTest;
using ops::LossReduction;

TEST_F(OnnxLoss, IsAScalarUnlessNotReduced) {
  const auto run = [&](auto op) {
    using O = decltype(op);
    const Value x = X({n, 5, 4}), target = X({n, 4}, DataType::kI64);
    EXPECT_EQ(Run<O>({x, target}), "tensor<f32>");
    EXPECT_EQ(Run<O>({x, target, X({5})}, {.reduction = LossReduction::kSum}), "tensor<f32>");
    EXPECT_EQ(Run<O>({x, target}, {.reduction = LossReduction::kNone}), "tensor<Nx4xf32>");
    EXPECT_EQ(Run<O>({Unranked(), target}, {.reduction = LossReduction::kNone}), "tensor<Nx4xf32>");
  };
  run(ops::NegativeLogLikelihoodLoss());
  run(ops::SoftmaxCrossEntropyLoss());
}

TEST_F(OnnxLoss, CrossEntropyGivesItsLogarithmsToo) {
  EXPECT_EQ(Run<ops::SoftmaxCrossEntropyLoss>({X({n, 5}), X({n}, DataType::kI32)}, {}, 2),
            "tensor<f32>, tensor<Nx5xf32>");
}

TEST_F(OnnxLoss, ChecksTheClassesThatAreKnown) {
  using O = ops::NegativeLogLikelihoodLoss;
  const Value x = X({2, 5}), weights = X({5});
  EXPECT_EQ(Run<O>({x, I({0, 4}), weights}), "tensor<f32>");
  EXPECT_EQ(Run<O>({x, I({0, -1}), weights}, {.ignore_index = -1}), "tensor<f32>");
  EXPECT_EQ(Run<O>({x, I({0, 5})}),
            "onnx.NegativeLogLikelihoodLoss: target 5 is out of range for 5 classes");
  EXPECT_EQ(Run<O>({Unranked(), I({0, -1}), weights}),
            "onnx.NegativeLogLikelihoodLoss: target -1 is out of range for 5 classes");
}

TEST_F(OnnxLoss, RefusesWhatDoesNotFit) {
  const auto run = [&](auto op, std::string x, std::string target, std::string weight) {
    using O = decltype(op);
    const std::string name = std::string(O::kInfo.name) + ": ";
    const auto classes = [&](Shape dims) { return X(dims, DataType::kI64); };
    EXPECT_EQ(Run<O>({X({3, 5}), classes({4})}), name + target + " is [4] but must be [3]");
    EXPECT_EQ(Run<O>({X({3, 5}), classes({3, 1})}), name + target + " is [3,1] but must be [3]");
    EXPECT_EQ(Run<O>({X({3, 5}), classes({3}), X({3})}), name + weight + " is [3] but must be [5]");
    EXPECT_EQ(Run<O>({X({3, 5}), X({3})}), name + target + " is f32 but must be i32 or i64");
    EXPECT_EQ(Run<O>({X({3}), classes({3})}), name + x + " has rank 1 but must have 2 or more");
    EXPECT_EQ(Run<O>({X({3, 5}, DataType::kI64), classes({3})}),
              name + x + " is i64 but must be a float");
    EXPECT_EQ(Run<O>({X({3, 5}), classes({3}), X({5}, DataType::kF64)}),
              name + x + " is f32 but " + weight + " is f64");
  };
  run(ops::NegativeLogLikelihoodLoss(), "x", "target", "weight");
  run(ops::SoftmaxCrossEntropyLoss(), "scores", "labels", "weights");
}

}  // namespace
}  // namespace weft::ir
