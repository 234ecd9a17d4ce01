#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

class Pd : public InferTest {
 protected:
  Value Array(const Ints& value) { return b.Make<pd::FullIntArray>({}, {.value = value}); }
  Value Number(float value, DataType dtype = DataType::kF32) {
    return b.Make<pd::Full>({}, {.dtype = dtype, .shape = {1}, .value = value});
  }
};

TEST_F(Pd, FullHasTheGivenShape) {
  EXPECT_EQ(Run<pd::Full>({}, {.shape = {4, 3, 16}, .value = 1.5f}), "tensor<4x3x16xf32>");
  EXPECT_EQ(Run<pd::Full>({}, {.dtype = DataType::kI32, .shape = Ints{}, .value = 0.0f}),
            "tensor<i32>");
  EXPECT_EQ(Run<pd::Full>({}, {.shape = {-1}, .value = 1.5f}), "pd.full: shape has the entry -1");
  EXPECT_EQ(Run<pd::FullIntArray>({}, {.value = {4, 3}}), "tensor<2xi64>");
  EXPECT_EQ(Run<pd::FullIntArray>({}, {.dtype = DataType::kF32, .value = {4, 3}}), "tensor<2xf32>");
}

TEST_F(Pd, IntegersAreReadFromEveryKindOfConstant) {
  EXPECT_EQ(pd::IntsOf(Array({3, -1})), (Ints{3, -1}));
  EXPECT_EQ(pd::IntsOf(Number(2, DataType::kI32)), (Ints{2}));
  EXPECT_EQ(pd::IntsOf(I({5})), (Ints{5}));
  EXPECT_EQ(pd::IntsOf(b.Make<ConstantOp>({}, {.value = context.IntsAttr(Ints{3, 3})})),
            (Ints{3, 3}));
  EXPECT_EQ(pd::IntsOf(b.Make<pd::Full>({}, {.shape = {2}, .value = 1.0f})), std::nullopt);
  EXPECT_EQ(pd::IntsOf(Number(INFINITY)), std::nullopt);
  EXPECT_EQ(pd::IntsOf(X({1}, DataType::kI64)), std::nullopt);
}

TEST_F(Pd, ExpandInfersNothingWhereTheListingBreaksTheRules) {
  EXPECT_EQ(Run<pd::Expand>({X({3, 1}), Array({2, -1, 4})}), "tensor<2x3x4xf32>");
  EXPECT_EQ(Run<pd::Expand>({X({n, 1}), Array({-1, 4})}), "tensor<Nx4xf32>");
  EXPECT_EQ(Run<pd::Expand>({X({4, 3, 16}), Array({4, 3, 16, 16})}), "tensor<*xf32>");
  // With the type that the seed's listing states it verifies.
  const Operation op = b.Create(
      OperationState{.opcode = kOpcodeOf<pd::Expand>,
                     .operands = {X({4, 3, 16}), Array({4, 3, 16, 16})},
                     .result_types = {context.TensorType(DataType::kF32, {4, 3, 16, 16})}});
  EXPECT_EQ(VerifyOperation(op).message(), "");
}

TEST_F(Pd, ReshapeRemembersTheOldShape) {
  EXPECT_EQ(Run<pd::Reshape>({X({1, 300, 256}), Array({0, 0, 8, 32})}, {}, 2),
            "tensor<1x300x8x32xf32>, tensor<0x1x300x256xf32>");
  EXPECT_EQ(Run<pd::Reshape>({X({n, 6}), Array({-1, 2, 3})}, {}, 2),
            "tensor<Nx2x3xf32>, tensor<0xNx6xf32>");
  EXPECT_EQ(Run<pd::Reshape>({X({2}), X({2}, DataType::kI64)}, {}, 2),
            "tensor<*xf32>, tensor<0x2xf32>");
  EXPECT_EQ(Run<pd::Reshape>({X({2, 3}), Array({4})}, {}, 2),
            "pd.reshape: [2,3] does not fit shape [4]");
}

TEST_F(Pd, ElementwiseOpsBroadcast) {
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

TEST_F(Pd, MatMulTransposesItsOperands) {
  EXPECT_EQ(Run<pd::MatMul>({X({1, 8, 300, 32}), X({1, 8, 300, 32})}, {.transpose_y = true}),
            "tensor<1x8x300x300xf32>");
  EXPECT_EQ(Run<pd::MatMul>({X({3, n}), X({3, 5})}, {.transpose_x = true}), "tensor<Nx5xf32>");
  EXPECT_EQ(Run<pd::MatMul>({X({3}), X({3})}, {.transpose_x = true, .transpose_y = true}),
            "tensor<f32>");
  EXPECT_EQ(Run<pd::MatMul>({X({2, 3}), X({3, 5})}, {.transpose_y = true}),
            "pd.matmul: x has 3 columns but y has 5 rows");
  EXPECT_EQ(Run<pd::FusedLinear>({X({n, 7, 3}), X({3, 5}), X({5})}), "tensor<Nx7x5xf32>");
  EXPECT_EQ(Run<pd::FusedLinear>({X({7, 4}), X({3, 5})}),
            "pd.fused_linear: x has 4 columns but y has 3 rows");
  EXPECT_EQ(Run<pd::FusedLinear>({X({7, 3}), X({3, 5}), X({4})}),
            "pd.fused_linear: bias is [4] but must be [5]");
}

TEST_F(Pd, TransposePermutes) {
  EXPECT_EQ(Run<pd::Transpose>({X({16, 3, n, 5})}, {.perm = {0, 2, 1, 3}}), "tensor<16xNx3x5xf32>");
  EXPECT_EQ(Run<pd::Transpose>({X({16, 3})}, {.perm = {0}}),
            "pd.transpose: x has rank 2 but perm has 1 entries");
}

TEST_F(Pd, ConcatJoinsTheElementsOfAVector) {
  const Value parts = b.Make<CombineOp>({X({256, 256}), X({256, n}), X({256, 1})});
  EXPECT_EQ(Run<pd::Concat>({parts, Number(0, DataType::kI32)}),
            "pd.concat: input 2 [256,1] does not fit [256,256] along axis 0");
  EXPECT_EQ(Run<pd::Concat>({parts, Number(1, DataType::kI32)}), "tensor<256x-1xf32>");
  const Value same = b.Make<CombineOp>({X({256, 256}), X({256, 256})});
  EXPECT_EQ(Run<pd::Concat>({same, Number(0, DataType::kI32)}), "tensor<512x256xf32>");
  EXPECT_EQ(Run<pd::Concat>({same, X({1}, DataType::kI32)}), "tensor<*xf32>");
  EXPECT_EQ(Run<pd::Concat>({X({2}), Number(0)}), "pd.concat: x is tensor<2xf32>, not a vector");
  EXPECT_EQ(Run<pd::Concat>({same, Array({0, 1})}), "pd.concat: axis has 2 elements");
}

TEST_F(Pd, FlattenJoinsARange) {
  EXPECT_EQ(Run<pd::Flatten>({X({n, 2048, 1, 1})}, {.start_axis = 1, .stop_axis = 3}, 2),
            "tensor<Nx2048xf32>, tensor<0xNx2048x1x1xf32>");
  EXPECT_EQ(Run<pd::Flatten>({X({2, 3})}, {.start_axis = 1, .stop_axis = 0}, 2),
            "pd.flatten: start_axis 1 is after stop_axis 0");
  EXPECT_EQ(Run<pd::Flatten>({X({2, 3})}, {.start_axis = 0, .stop_axis = 2}, 2),
            "pd.flatten: stop_axis 2 is out of range for rank 2");
}

TEST_F(Pd, Conv2dTakesPaddlesPaddings) {
  EXPECT_EQ(Run<pd::Conv2d>({X({n, 3, 224, 224}), X({64, 3, 7, 7})},
                            {.paddings = {3, 3}, .strides = {2, 2}}),
            "tensor<Nx64x112x112xf32>");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 5, 5, 3}), X({4, 3, 3, 3})},
                            {.data_format = pd::DataFormat::kNhwc, .paddings = {1, 0, 2, 1}}),
            "tensor<1x4x6x4xf32>");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 3, 5, 5}), X({4, 3, 3, 3})},
                            {.padding_algorithm = pd::PaddingAlgorithm::kSame}),
            "tensor<1x4x5x5xf32>");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 3, 5, 5}), X({4, 3, 3, 3})}, {.paddings = {1}}),
            "pd.conv2d: paddings has 1 entries but needs 2 or 4");
  EXPECT_EQ(Run<pd::Conv2d>({X({1, 3, 5, 5}), X({4, 2, 3, 3})}),
            "pd.conv2d: x has 3 channels but w reads 2 in each of 1 groups");
}

TEST_F(Pd, BatchNormHasSixResults) {
  const auto run = [&](Shape x, int64_t bias) {
    return Run<pd::BatchNorm>({X(x), X({64}), X({64}), X({64}), X({bias})}, {}, 6);
  };
  EXPECT_EQ(run({n, 64, 112, 112}, 64),
            "tensor<Nx64x112x112xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, "
            "tensor<64xf32>, tensor<*x?>");
  EXPECT_EQ(run({n, 64, 112, 112}, 63), "pd.batch_norm: bias is [63] but must be [64]");
}

TEST_F(Pd, Pool2dReadsItsKernelFromAnOperand) {
  EXPECT_EQ(Run<pd::Pool2d>({X({n, 64, 112, 112}), Array({3, 3})},
                            {.paddings = {1, 1}, .strides = {2, 2}}),
            "tensor<Nx64x56x56xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({n, 64, 7, 7}), Array({1, 1})}, {.adaptive = true}),
            "tensor<Nx64x1x1xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 7, 7, 64}), X({2}, DataType::kI64)},
                            {.data_format = pd::DataFormat::kNhwc, .global_pooling = true}),
            "tensor<1x1x1x64xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 64, 7, 7}), X({2}, DataType::kI64)}), "tensor<1x64x-1x-1xf32>");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 64, 7, 7}), Array({3})}),
            "pd.pool2d: kernel_size has 1 entries but needs 2");
  EXPECT_EQ(Run<pd::Pool2d>({X({1, 64, 7, 7}), Array({0, 1})}, {.adaptive = true}),
            "pd.pool2d: kernel_size has the entry 0");
}

TEST_F(Pd, SoftmaxNeedsAnAxisOfItsOperand) {
  EXPECT_EQ(Run<pd::Softmax>({X({n, 3})}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<pd::Softmax>({X({2, 3})}, {.axis = 2}),
            "pd.softmax: axis 2 is out of range for rank 2");
}

TEST_F(Pd, MultiheadMatmulHoldsThreeMatrices) {
  const Value x = X({n, 300, 256}), w = X({256, 3, 256}), bias = X({3, 256});
  const Value mask = X({1, 8, 300, 300});
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, w, bias, mask}, {.head_number = 8}),
            "tensor<Nx300x256xf32>");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, w, bias}, {.head_number = 7}),
            "pd.multihead_matmul: 256 columns of w do not split into 7 heads");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, X({128, 3, 256}), bias}, {.head_number = 8}),
            "pd.multihead_matmul: input has 256 columns but w has 128 rows");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, X({256, 2, 256}), bias}, {.head_number = 8}),
            "pd.multihead_matmul: w holds 2 matrices, not 3");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({x, w, X({256})}, {.head_number = 8}),
            "pd.multihead_matmul: bias is [256] but must be [3,256]");
  EXPECT_EQ(Run<pd::MultiheadMatmul>({X({2, 300, 256}), w, bias, mask}, {.head_number = 4}),
            "pd.multihead_matmul: bias_qk [1,8,300,300] does not broadcast to [2,4,300,300]");
}

TEST_F(Pd, FetchGivesItsOperandOrNothing) {
  EXPECT_EQ(Run<pd::Fetch>({X({n})}, {.name = "out"}), "tensor<Nxf32>");
  EXPECT_EQ(Run<pd::Fetch>({X({n})}, {.name = "out"}, 0), "");
}

}  // namespace
}  // namespace weft::ir
