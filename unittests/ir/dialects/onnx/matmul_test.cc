#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxMatMul = InferTest;

TEST_F(OnnxMatMul, MatMulJoinsColumnsWithRows) {
  EXPECT_EQ(Run<ops::MatMul>({X({2, 3}), X({3, 5})}), "tensor<2x5xf32>");
  EXPECT_EQ(Run<ops::MatMul>({X({7, 1, 2, 3}), X({4, 3, 5})}), "tensor<7x4x2x5xf32>");
  EXPECT_EQ(Run<ops::MatMul>({X({3}), X({3, 5})}), "tensor<5xf32>");
  EXPECT_EQ(Run<ops::MatMul>({X({2, 3}), X({3})}), "tensor<2xf32>");
  EXPECT_EQ(Run<ops::MatMul>({X({3}), X({3})}), "tensor<f32>");
  EXPECT_EQ(Run<ops::MatMul>({X({n, 2, m}), X({n, m, 5})}), "tensor<Nx2x5xf32>");
  EXPECT_EQ(Run<ops::MatMul>({X({2, n}), X({3, m})}), "tensor<2xMxf32>");
  EXPECT_EQ(Run<ops::MatMul>({Unranked(), X({3, 5})}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::MatMul>({X({2, 4}), X({5, 3})}),
            "onnx.MatMul: x has 4 columns but y has 5 rows");
  EXPECT_EQ(Run<ops::MatMul>({X({2, 2, 3}), X({3, 3, 5})}),
            "onnx.MatMul: leading dimensions of x [2,2,3] and y [3,3,5] do not broadcast");
  EXPECT_EQ(Run<ops::MatMul>({X({}), X({3})}), "onnx.MatMul: x has rank 0 but must have 1 or more");
  EXPECT_EQ(Run<ops::MatMul>({X({2, 2}), X({2, 2}, DataType::kF64)}),
            "onnx.MatMul: x is f32 but y is f64");
}

TEST_F(OnnxMatMul, GemmTransposesAndAddsABias) {
  EXPECT_EQ(Run<ops::Gemm>({X({2, 3}), X({3, 5}), X({5})}), "tensor<2x5xf32>");
  EXPECT_EQ(Run<ops::Gemm>({X({3, n}), X({5, 3}), X({1})}, {.transA = 1, .transB = 1}),
            "tensor<Nx5xf32>");
  EXPECT_EQ(Run<ops::Gemm>({Unranked(), X({3, 5})}), "tensor<-1x5xf32>");
  EXPECT_EQ(Run<ops::Gemm>({X({2, 3}), X({5, 4})}, {.transB = 1}),
            "onnx.Gemm: a has 3 columns but b has 4 rows (transposed)");
  EXPECT_EQ(Run<ops::Gemm>({X({2, 3}), X({4, 5})}), "onnx.Gemm: a has 3 columns but b has 4 rows");
  EXPECT_EQ(Run<ops::Gemm>({X({2, 3, 4}), X({4, 5})}), "onnx.Gemm: a has rank 3 but must have 2");
  EXPECT_EQ(Run<ops::Gemm>({X({2, 3}), X({3, 5}), X({4})}),
            "onnx.Gemm: c [4] does not broadcast to [2,5]");
  EXPECT_EQ(Run<ops::Gemm>({X({1, 3}), X({3, 5}), X({2, 5})}),
            "onnx.Gemm: c [2,5] does not broadcast to [1,5]");
}

}  // namespace
}  // namespace weft::ir
