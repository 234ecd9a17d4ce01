#include "ir/dialects/onnx/nn/activation.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxActivation = InferTest;

TEST_F(OnnxActivation, KeepsTheType) {
  EXPECT_EQ(Run<ops::Celu>({X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Softplus>({X({2}, DataType::kF16)}), "tensor<2xf16>");
  EXPECT_EQ(Run<ops::Softsign>({X({})}), "tensor<f32>");
  EXPECT_EQ(Run<ops::ThresholdedRelu>({X({0, 2})}), "tensor<0x2xf32>");
  EXPECT_EQ(Run<ops::Shrink>({X({2}, DataType::kU8)}), "tensor<2xu8>");
  EXPECT_EQ(Run<ops::Mish>({Unranked()}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Gelu>({X({2}, DataType::kF64)}), "tensor<2xf64>");
  EXPECT_EQ(Run<ops::Swish>({X({2})}), "tensor<2xf32>");
}

TEST_F(OnnxActivation, IsForFloats) {
  const auto error = [&](auto op) {
    using O = decltype(op);
    return Run<O>({X({2}, DataType::kI32)});
  };
  EXPECT_EQ(error(ops::Celu()), "onnx.Celu: x is i32 but must be a float");
  EXPECT_EQ(error(ops::Softplus()), "onnx.Softplus: x is i32 but must be a float");
  EXPECT_EQ(error(ops::Softsign()), "onnx.Softsign: x is i32 but must be a float");
  EXPECT_EQ(error(ops::ThresholdedRelu()), "onnx.ThresholdedRelu: x is i32 but must be a float");
  EXPECT_EQ(error(ops::Mish()), "onnx.Mish: x is i32 but must be a float");
  EXPECT_EQ(error(ops::Gelu()), "onnx.Gelu: x is i32 but must be a float");
  EXPECT_EQ(error(ops::Swish()), "onnx.Swish: x is i32 but must be a float");
  EXPECT_EQ(Run<ops::Shrink>({X({2}, DataType::kBool)}),
            "onnx.Shrink: x is bool but must be a number");
}

TEST_F(OnnxActivation, PReluBroadcastsItsSlopeOnly) {
  EXPECT_EQ(Run<ops::PRelu>({X({n, 3, 4}), X({3, 1})}), "tensor<Nx3x4xf32>");
  EXPECT_EQ(Run<ops::PRelu>({X({2}, DataType::kI64), X({}, DataType::kI64)}), "tensor<2xi64>");
  EXPECT_EQ(Run<ops::PRelu>({Unranked(), X({3})}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::PRelu>({X({3}), X({2, 3})}),
            "onnx.PRelu: slope [2,3] does not broadcast to [3]");
  EXPECT_EQ(Run<ops::PRelu>({X({1}), X({3})}), "onnx.PRelu: slope [3] does not broadcast to [1]");
  EXPECT_EQ(Run<ops::PRelu>({X({3}), X({3}, DataType::kF64)}),
            "onnx.PRelu: x is f32 but slope is f64");
}

}  // namespace
}  // namespace weft::ir
