#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class PdGrad : public InferTest {
 protected:
  Value Array(const Ints& value) { return b.Make<pd::FullIntArray>({}, {.value = value}); }
};

TEST_F(PdGrad, GradientsOfElementwiseOpsHaveTheOperandsShapes) {
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

TEST_F(PdGrad, GradientsOfMatMulFollowItsTranspositions) {
  EXPECT_EQ(Run<pd::MatMulGrad>({X({3, n}), X({3, 5}), X({n, 5})}, {.transpose_x = true}, 2),
            "tensor<3xNxf32>, tensor<3x5xf32>");
  EXPECT_EQ(Run<pd::MatMulGrad>({X({2, 3}), X({3, 5}), X({5, 2})}, {}, 2),
            "pd.matmul_grad: out_grad is [5,2] but must be [2,5]");
  EXPECT_EQ(Run<pd::MatMulGrad>({X({2, 3}), X({3, 5}), X({2, 5})}, {.transpose_y = true}, 2),
            "pd.matmul_grad: x has 3 columns but y has 5 rows");
}

TEST_F(PdGrad, Conv2dGradFitsTheConvolution) {
  EXPECT_EQ(Run<pd::Conv2dGrad>({X({n, 3, 224, 224}), X({64, 3, 7, 7}), X({n, 64, 112, 112})},
                                {.paddings = {3, 3}, .strides = {2, 2}}, 2),
            "tensor<Nx3x224x224xf32>, tensor<64x3x7x7xf32>");
  EXPECT_EQ(Run<pd::Conv2dGrad>({X({1, 3, 5, 5}), X({4, 3, 3, 3}), X({1, 4, 5, 5})}, {}, 2),
            "pd.conv2d_grad: out_grad is [1,4,5,5] but must be [1,4,3,3]");
  EXPECT_EQ(Run<pd::Conv2dGrad>({X({1, 3, 5, 5}), X({4, 2, 3, 3}), X({1, 4, 3, 3})}, {}, 2),
            "pd.conv2d_grad: x has 3 channels but w reads 2 in each of 1 groups");
}

TEST_F(PdGrad, BatchNormGradIsOfDataScaleAndBias) {
  const auto run = [&](const Shape& grad, int64_t channels) {
    const Value c = X({channels}), x = X({n, 64, 7, 7});
    return Run<pd::BatchNormGrad>({x, c, c, c, c, c, c, X(grad)}, {}, 3);
  };
  EXPECT_EQ(run({n, 64, 7, 7}, 64), "tensor<Nx64x7x7xf32>, tensor<64xf32>, tensor<64xf32>");
  EXPECT_EQ(run({n, 64, 7, 7}, 63), "pd.batch_norm_grad: scale is [63] but must be [64]");
  EXPECT_EQ(run({n, 64, 7, 8}, 64),
            "pd.batch_norm_grad: out_grad is [\"N\",64,7,8] but must be [\"N\",64,7,7]");
}

TEST_F(PdGrad, Pool2dGradFitsThePool) {
  const auto run = [&](const Shape& out, const Shape& grad) {
    return Run<pd::Pool2dGrad>({X({n, 64, 112, 112}), X(out), X(grad), Array({3, 3})},
                               {.paddings = {1, 1}, .strides = {2, 2}});
  };
  EXPECT_EQ(run({n, 64, 56, 56}, {n, 64, 56, 56}), "tensor<Nx64x112x112xf32>");
  EXPECT_EQ(run({n, 64, 55, 55}, {n, 64, 55, 55}),
            "pd.pool2d_grad: out is [\"N\",64,55,55] but must be [\"N\",64,56,56]");
  EXPECT_EQ(run({n, 64, 56, 56}, {n, 64, 55, 56}),
            "pd.pool2d_grad: out_grad is [\"N\",64,55,56] but must be [\"N\",64,56,56]");
}

TEST_F(PdGrad, GradientsOfSoftmaxMeanAndLoss) {
  EXPECT_EQ(Run<pd::SoftmaxGrad>({X({n, 3}), X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<pd::SoftmaxGrad>({X({2, 3}), X({2, 3})}, {.axis = 2}),
            "pd.softmax_grad: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<pd::MeanGrad>({X({n, 3}), X({n})}, {.axis = {1}}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<pd::MeanGrad>({X({2, 3}), X({2})}), "pd.mean_grad: out_grad is [2] but must be []");
  using Op = pd::CrossEntropyWithSoftmaxGrad;
  const Value label = X({n, 1}, DataType::kI64);
  EXPECT_EQ(Run<Op>({label, X({n, 9}), X({n, 1})}), "tensor<Nx9xf32>");
  EXPECT_EQ(Run<Op>({label, X({n, 9}), X({n, 9})}),
            "pd.cross_entropy_with_softmax_grad: loss_grad is [\"N\",9] but must be [\"N\",1]");
}

TEST_F(PdGrad, OldShapesComeFromXShape) {
  EXPECT_EQ(Run<pd::ReshapeGrad>({X({0, n, 6}), X({n, 2, 3})}), "tensor<Nx6xf32>");
  EXPECT_EQ(Run<pd::FlattenGrad>({X({0, 2, 3}), X({6})}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<pd::ReshapeGrad>({X({1, 2, 3}), X({6})}),
            "pd.reshape_grad: xshape [1,2,3] does not begin with 0");
  EXPECT_EQ(Run<pd::ReshapeGrad>({X({0, 2, 3}), X({7})}),
            "pd.reshape_grad: out_grad [7] does not fit xshape [0,2,3]");
}

TEST_F(PdGrad, GradientsOfExpandAndConcat) {
  EXPECT_EQ(Run<pd::ExpandGrad>({X({3, 1}), Array({2, -1, 4}), X({2, 3, 4})}), "tensor<3x1xf32>");
  EXPECT_EQ(Run<pd::ExpandGrad>({X({3, 2}), Array({2, -1, 4}), X({2, 3, 4})}),
            "pd.expand_grad: x [3,2] does not broadcast to [2,3,4]");
  const Value parts = b.Make<CombineOp>({X({2, 3}), X({2, n})});
  EXPECT_EQ(Run<pd::ConcatGrad>({parts, Array({1}), X({2, 5})}),
            "vec[tensor<2x3xf32>,tensor<2xNxf32>]");
  EXPECT_EQ(Run<pd::ConcatGrad>({X({2}), Array({0}), X({2})}),
            "pd.concat_grad: x is tensor<2xf32>, not a vector");
}

}  // namespace
}  // namespace weft::ir
