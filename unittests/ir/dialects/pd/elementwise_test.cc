#include "unittests/ir/dialects/pd/pd_fixture.h"

namespace weft::ir {
namespace {

using PdElementwise = PdTest;

TEST_F(PdElementwise, ElementwiseOpsBroadcast) {
  EXPECT_EQ(Run<pd::Relu>({X({n})}), "tensor<Nxf32>");
  EXPECT_EQ(Run<pd::Sigmoid>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<pd::Tanh>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<pd::Gelu>({X({2})}), "tensor<2xf32>");
  EXPECT_EQ(Run<pd::Add>({X({n, 300, 256}), X({256})}), "tensor<Nx300x256xf32>");
  EXPECT_EQ(Run<pd::Subtract>({X({2}), X({1})}), "tensor<2xf32>");
  EXPECT_EQ(Run<pd::Multiply>({X({2}), X({1})}), "tensor<2xf32>");
  EXPECT_EQ(Run<pd::Divide>({X({2}), X({1})}), "tensor<2xf32>");
  EXPECT_EQ(Run<pd::Add>({X({2}), X({3})}), "pd.add: x [2] and y [3] do not broadcast");
  EXPECT_EQ(Run<pd::Add>({X({2}), X({2}, DataType::kI64)}), "pd.add: x is f32 but y is i64");
  EXPECT_EQ(Run<pd::Relu>({X({2}, DataType::kBool)}), "pd.relu: x is bool but must be a number");
  EXPECT_EQ(Run<pd::Cast>({X({n})}, {.dtype = DataType::kF64}), "tensor<Nxf64>");
  EXPECT_EQ(Run<pd::Scale>({X({n, 2}), Number(0.5f)}), "tensor<Nx2xf32>");
  EXPECT_EQ(Run<pd::Scale>({X({2}), X({2})}), "pd.scale: scale is [2], not a scalar");
}

TEST_F(PdElementwise, GradientsOfElementwiseOpsHaveTheOperandsShapes) {
  const Value x = X({n, 1, 4}), y = X({3, 1}), grad = X({n, 3, 4});
  const char* types = "tensor<Nx1x4xf32>, tensor<3x1xf32>";
  EXPECT_EQ(Run<pd::AddGrad>({x, y, grad}, {}, 2), types);
  EXPECT_EQ(Run<pd::SubtractGrad>({x, y, grad}, {}, 2), types);
  EXPECT_EQ(Run<pd::MultiplyGrad>({x, y, grad}, {}, 2), types);
  EXPECT_EQ(Run<pd::DivideGrad>({x, y, grad, grad}, {}, 2), types);
  EXPECT_EQ(Run<pd::ReluGrad>({x, x}), "tensor<Nx1x4xf32>");
  EXPECT_EQ(Run<pd::GeluGrad>({x, x}), "tensor<Nx1x4xf32>");
  EXPECT_EQ(Run<pd::AddGrad>({x, y, X({3, 4})}, {}, 2),
            "pd.add_grad: out_grad is [3,4] but must be [\"N\",3,4]");
  EXPECT_EQ(Run<pd::AddGrad>({X({2}), X({3}), X({2})}, {}, 2),
            "pd.add_grad: x [2] and y [3] do not broadcast");
  EXPECT_EQ(Run<pd::DivideGrad>({X({2}), X({2}), X({2}), X({1})}, {}, 2),
            "pd.divide_grad: out_grad is [1] but must be [2]");
  EXPECT_EQ(Run<pd::ReluGrad>({X({2}), X({3})}), "pd.relu_grad: out_grad is [3] but must be [2]");
  EXPECT_EQ(Run<pd::GeluGrad>({X({2}), X({3})}), "pd.gelu_grad: out_grad is [3] but must be [2]");
  EXPECT_EQ(Run<pd::ReluGrad>({X({2}), X({2}, DataType::kF64)}),
            "pd.relu_grad: out is f32 but out_grad is f64");
}

}  // namespace
}  // namespace weft::ir
