// Types of the ops on quantised numbers, and operands that they refuse.
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using enum DataType;

class Quantized : public InferTest {
 protected:
  // A number, its scale and its zero point.
  std::vector<Value> Triple(const Shape& dims, DataType dtype, const Shape& per = {}) {
    return {X(dims, dtype), X(per), X(per, dtype)};
  }
  // x, w and the form of y; then changes[i] instead of operand i.
  std::vector<Value> Product(const Shape& x, const Shape& w, const Shape& channels = {},
                             std::vector<std::pair<size_t, Value>> changes = {}) {
    std::vector<Value> operands = Triple(x, kU8);
    for (const Value v : Triple(w, kI8, channels)) operands.push_back(v);
    operands.push_back(X({}));
    operands.push_back(X({}, kU8));
    for (auto& [i, value] : changes) {
      operands.resize(std::max(operands.size(), i + 1));
      operands[i] = value;
    }
    return operands;
  }
  std::vector<Value> Binary(const Shape& a, const Shape& b, DataType y = kU8) {
    std::vector<Value> operands = Triple(a, kU8);
    for (const Value v : Triple(b, kI8)) operands.push_back(v);
    operands.push_back(X({}));
    operands.push_back(X({}, y));
    return operands;
  }
};

TEST_F(Quantized, ProductsHaveTheTypeOfTheirZeroPoint) {
  EXPECT_EQ(Run<fused::QConv2d>(Product({n, 9, 8, 6}, {12, 3, 3, 3}, {12}),
                                {.strides = Ints{2, 2}, .pads = Ints{1, 1, 1, 1}, .group = 2}),
            "tensor<Nx5x4x12xu8>");
  EXPECT_EQ(Run<fused::QConv2d>(Product({1, 9, 8, 6}, {12, 6, 1, 1}, {}, {{7, X({1}, kI8)}})),
            "tensor<1x9x8x12xi8>");
  EXPECT_EQ(Run<fused::QLinear>(Product({n, 7, 10}, {10, 4}, {4}, {{8, X({4}, kI32)}})),
            "tensor<Nx7x4xu8>");
  EXPECT_EQ(Run<fused::QLinear>(Product({7, 10}, {4, 10}, {4}), {.transpose_w = true}),
            "tensor<7x4xu8>");
}

TEST_F(Quantized, ConvolutionsRefuseShapesThatDoNotFit) {
  const auto conv = [&](const Shape& x, const Shape& w, const Shape& channels = {},
                        std::vector<std::pair<size_t, Value>> changes = {}) {
    return Run<fused::QConv2d>(Product(x, w, channels, std::move(changes)));
  };
  EXPECT_EQ(conv({9, 8, 6}, {12, 6, 3, 3}), "fused.qconv2d: x has rank 3 but must have 4");
  EXPECT_EQ(conv({1, 9, 8, 6}, {12, 6, 3}), "fused.qconv2d: w has rank 3 but must have 4");
  EXPECT_EQ(conv({1, 9, 8, 6}, {12, 5, 3, 3}),
            "fused.qconv2d: x has 6 channels but w reads 5 in each of 1 groups");
  EXPECT_EQ(conv({1, 9, 8, 6}, {12, 6, 3, 3}, {11}),
            "fused.qconv2d: w_scale has 11 entries but channels are 12");
  EXPECT_EQ(conv({1, 9, 8, 6}, {12, 6, 3, 3}, {12, 1}),
            "fused.qconv2d: w_scale has rank 2 but must have 1");
  EXPECT_EQ(conv({1, 9, 8, 6}, {12, 6, 3, 3}, {}, {{8, X({11}, kI32)}}),
            "fused.qconv2d: bias is [11] but must be [12]");
  EXPECT_EQ(conv({1, 9, 8, 6}, {12, 6, 3, 3}, {}, {{1, X({6})}}),
            "fused.qconv2d: x_scale is [6], not a scalar");
  EXPECT_EQ(conv({1, 2, 2, 6}, {12, 6, 3, 3}),
            "fused.qconv2d: a window of 3 does not fit the padded size 2");
}

TEST_F(Quantized, ProductsRefuseTypesThatDoNotFit) {
  const auto linear = [&](std::vector<std::pair<size_t, Value>> changes, const Ints& clamp = {}) {
    return Run<fused::QLinear>(Product({7, 10}, {10, 4}, {}, std::move(changes)), {.clamp = clamp});
  };
  EXPECT_EQ(linear({{0, X({7, 10}, kI32)}}), "fused.qlinear: x is i32 but must be i8 or u8");
  EXPECT_EQ(linear({{0, X({7, 10}, kI8)}}), "fused.qlinear: x is i8 but x_zero_point is u8");
  EXPECT_EQ(linear({{1, X({}, kF16)}}), "fused.qlinear: x_scale is f16 but must be f32");
  EXPECT_EQ(linear({{3, X({10, 4})}}), "fused.qlinear: w is f32 but must be i8 or u8");
  EXPECT_EQ(linear({{5, X({}, kU8)}}), "fused.qlinear: w is i8 but w_zero_point is u8");
  EXPECT_EQ(linear({{2, X({1, 1}, kU8)}}),
            "fused.qlinear: x_zero_point has rank 2 but must have 0 to 1");
  EXPECT_EQ(linear({{6, X({}, kF64)}}), "fused.qlinear: y_scale is f64 but must be f32");
  EXPECT_EQ(linear({{7, X({}, kI32)}}), "fused.qlinear: y_zero_point is i32 but must be i8 or u8");
  EXPECT_EQ(linear({{8, X({4})}}), "fused.qlinear: bias is f32 but must be i32");
  EXPECT_EQ(linear({{0, X({7, 9}, kU8)}}), "fused.qlinear: x has 9 columns but w has 10 rows");
  EXPECT_EQ(linear({{0, X({}, kU8)}}), "fused.qlinear: x has rank 0 but must have 1 or more");
  EXPECT_EQ(linear({}, {5}),
            "fused.qlinear: clamp is [5] but must be the lowest and the highest result");
  EXPECT_EQ(linear({}, {9, 5}),
            "fused.qlinear: clamp is [9,5] but must be the lowest and the highest result");
}

TEST_F(Quantized, WeightsInBlocksHaveAScaleForEach) {
  const auto product = [&](std::vector<Value> operands, int64_t block = 16) {
    return Run<fused::DequantizeMatmul>(std::move(operands), {.block_size = block});
  };
  EXPECT_EQ(product({X({n, 7, 40}), X({40, 5}, kI4), X({3, 5})}), "tensor<Nx7x5xf32>");
  EXPECT_EQ(product({X({40}, kF16), X({40, 5}, kU8), X({3, 5}, kF16), X({3, 5}, kU8)}),
            "tensor<5xf16>");
  EXPECT_EQ(product({X({7, 40}), Unranked(kU2), X({3, 5})}), "tensor<7x-1xf32>");
  EXPECT_EQ(product({X({7, 40}), X({40, 5}, kI4), X({2, 5})}),
            "fused.dequantize_matmul: w_scale is [2,5] but must be [3,5]");
  EXPECT_EQ(product({X({7, 40}), X({40, 5}, kI4), X({3, 5}), X({3}, kI4)}),
            "fused.dequantize_matmul: w_zero_point is [3] but must be [3,5]");
  EXPECT_EQ(product({X({7, 40}), X({40, 5}, kI4), X({3, 5}), X({3, 5}, kU4)}),
            "fused.dequantize_matmul: w is i4 but w_zero_point is u4");
  EXPECT_EQ(product({X({7, 40}), X({40, 5}, kI16), X({3, 5})}),
            "fused.dequantize_matmul: w is i16 but must be an integer of 8 bits or less");
  EXPECT_EQ(product({X({7, 40}, kF64), X({40, 5}, kI4), X({3, 5}, kF64)}),
            "fused.dequantize_matmul: x is f64 but must be f32, f16 or bf16");
  EXPECT_EQ(product({X({7, 40}), X({40, 5}, kI4), X({3, 5}, kF16)}),
            "fused.dequantize_matmul: x is f32 but w_scale is f16");
  EXPECT_EQ(product({X({7, 41}), X({40, 5}, kI4), X({3, 5})}),
            "fused.dequantize_matmul: x has 41 columns but w has 40 rows");
  EXPECT_EQ(product({X({}), X({40, 5}, kI4), X({3, 5})}),
            "fused.dequantize_matmul: x has rank 0 but must have 1 or more");
  EXPECT_EQ(product({X({7, 40}), X({2, 40, 5}, kI4), X({3, 5})}),
            "fused.dequantize_matmul: w has rank 3 but must have 2");
  EXPECT_EQ(product({X({7, 40}), X({40, 5}, kI4), X({3, 5})}, 0),
            "fused.dequantize_matmul: block_size is 0");
}

TEST_F(Quantized, ElementwiseOpsBroadcast) {
  EXPECT_EQ(Run<fused::QAdd>(Binary({n, 1, 5}, {4, 1})), "tensor<Nx4x5xu8>");
  EXPECT_EQ(Run<fused::QMul>(Binary({3, 5}, {5}, kI8)), "tensor<3x5xi8>");
  EXPECT_EQ(Run<fused::QAdd>(Binary({3, 5}, {4})),
            "fused.qadd: a [3,5] and b [4] do not broadcast");
  EXPECT_EQ(Run<fused::QMul>(Binary({3, 5}, {5}, kF32)),
            "fused.qmul: y_zero_point is f32 but must be i8 or u8");
  std::vector<Value> operands = Binary({3, 5}, {5});
  operands[4] = X({5});
  EXPECT_EQ(Run<fused::QAdd>(operands), "fused.qadd: b_scale is [5], not a scalar");
  EXPECT_EQ(Run<fused::QAdd>(Binary({3, 5}, {5}), {.clamp = Ints{1, 2, 3}}),
            "fused.qadd: clamp is [1,2,3] but must be the lowest and the highest result");
  EXPECT_EQ(Run<fused::QAdd>(Binary({3, 5}, {5}), {.clamp = Ints{-1, 9}}),
            "fused.qadd: clamp is [-1,9] but results are 0 to 255");
  EXPECT_EQ(Run<fused::QMul>(Binary({3, 5}, {5}, kI8), {.clamp = Ints{0, 128}}),
            "fused.qmul: clamp is [0,128] but results are -128 to 127");
}

TEST_F(Quantized, TablesHave256Entries) {
  EXPECT_EQ(Run<fused::QLookup>({X({n, 3}, kU8), X({256}, kI8)}), "tensor<Nx3xi8>");
  EXPECT_EQ(Run<fused::QLookup>({Unranked(kI8), X({256}, kU8)}), "tensor<*xu8>");
  EXPECT_EQ(Run<fused::QLookup>({X({3}, kU8), X({255}, kU8)}),
            "fused.qlookup: table is [255] but must be [256]");
  EXPECT_EQ(Run<fused::QLookup>({X({3}, kU8), X({256})}),
            "fused.qlookup: table is f32 but must be i8 or u8");
  EXPECT_EQ(Run<fused::QLookup>({X({3}, kI32), X({256}, kU8)}),
            "fused.qlookup: x is i32 but must be i8 or u8");
}

TEST_F(Quantized, PoolsTakeImages) {
  const auto pool = [&](const Shape& x, DataType y = kI8) {
    std::vector<Value> operands = Triple(x, kU8);
    operands.push_back(X({}));
    operands.push_back(X({}, y));
    return operands;
  };
  EXPECT_EQ(Run<fused::QAveragePool2d>(pool({n, 9, 8, 6}),
                                       {.kernel_shape = Ints{3, 2}, .strides = Ints{2, 2}}),
            "tensor<Nx4x4x6xi8>");
  EXPECT_EQ(Run<fused::QGlobalAveragePool2d>(pool({n, 9, 8, 6})), "tensor<Nx1x1x6xi8>");
  EXPECT_EQ(Run<fused::QGlobalAveragePool2d>(pool({9, 8, 6})),
            "fused.qglobal_average_pool2d: x has rank 3 but must have 4");
  EXPECT_EQ(Run<fused::QGlobalAveragePool2d>(pool({n, 9, 8, 6}, kF32)),
            "fused.qglobal_average_pool2d: y_zero_point is f32 but must be i8 or u8");
  EXPECT_EQ(Run<fused::QAveragePool2d>(pool({9, 8, 6}), {.kernel_shape = Ints{3, 2}}),
            "fused.qaverage_pool2d: x has rank 3 but must have 4");
}

}  // namespace
}  // namespace weft::ir
