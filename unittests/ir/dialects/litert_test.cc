#include "ir/dialects/litert.h"

#include "ir/analysis/reference_body.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using Litert = InferTest;

TEST_F(Litert, MatMulMayExchangeTheLastTwoDimensionsOfItsOperands) {
  EXPECT_EQ(Run<litert::MatMul>({X({n, 4, 5}), X({1, 5, 6})}), "tensor<Nx4x6xf32>");
  EXPECT_EQ(Run<litert::MatMul>({X({2, 4, 5}), X({6, 5})}, {.adj_y = true}), "tensor<2x4x6xf32>");
  EXPECT_EQ(Run<litert::MatMul>({X({5, 4}), X({6, 5})}, {.adj_x = true, .adj_y = true}),
            "tensor<4x6xf32>");
  EXPECT_EQ(Run<litert::MatMul>({X({4, 5}), X({6, 5})}),
            "litert.MatMul: x has 5 columns but y has 6 rows");
}

TEST_F(Litert, MatMulIsQuantisedThroughoutOrNotAtAll) {
  const auto q = [&](const Shape& dims) { return X(dims, DataType::kI16); };
  EXPECT_EQ(Run<litert::MatMul>({q({4, 5}), X({5, 6}, DataType::kI8)},
                                {.out_scale = 0.5f, .x_scale = 0.1f, .y_scale = 0.2f}),
            "tensor<4x6xi16>");
  EXPECT_EQ(Run<litert::MatMul>({q({4, 5}), q({5, 6})}, {.out_scale = 0.5f, .x_scale = 0.1f}),
            "litert.MatMul: y is i16 but has no scale");
  EXPECT_EQ(Run<litert::MatMul>({q({4, 5}), X({5, 6})}, {.out_scale = 0.5f, .x_scale = 0.1f}),
            "litert.MatMul: one operand has a scale and the other has none");
  EXPECT_EQ(Run<litert::MatMul>({X({4, 5}), X({5, 6})}, {.out_scale = 0.5f}),
            "litert.MatMul: the result has a scale but is f32");
}

TEST_F(Litert, ConvertChecksScaleAndZeroPoint) {
  EXPECT_EQ(Run<litert::Convert>({X({4})},
                                 {.to = DataType::kI8, .to_scale = 0.1f, .to_zero_point = -128}),
            "tensor<4xi8>");
  EXPECT_EQ(
      Run<litert::Convert>({X({4}, DataType::kU8)}, {.from_scale = 0.1f, .to = DataType::kF32}),
      "tensor<4xf32>");
  EXPECT_EQ(
      Run<litert::Convert>({X({4})}, {.to = DataType::kI8, .to_scale = 0.1f, .to_zero_point = 128}),
      "litert.Convert: the zero point of the result, 128, is no i8");
  EXPECT_EQ(Run<litert::Convert>({X({4})}, {.to = DataType::kI8, .to_scale = -1.0f}),
            "litert.Convert: the scale of the result is -1");
}

TEST_F(Litert, ValuesOfUnknownTypeHaveNoBody) {
  const auto has_body = [&]<class O>(std::vector<Value> operands,
                                     const typename O::template Attrs<BuilderSlot>& attrs) {
    OperationState state{
        .opcode = kOpcodeOf<O>, .operands = operands, .attrs = MakeAttrs<O>(context, attrs)};
    Operation op;
    std::string error;
    EXPECT_TRUE(b.TryCreate(std::move(state), 1, &op, &error)) << error;
    return !BuildReferenceBody(b, op, operands).empty();
  };
  const Value unknown = OfType(context.TensorType(DataType::kNull, {4, 4}));
  const auto convert = [&](Value x, const litert::Convert::Attrs<BuilderSlot>& attrs) {
    return has_body.operator()<litert::Convert>({x}, attrs);
  };
  EXPECT_TRUE(convert(X({4}), {.to = DataType::kI8, .to_scale = 0.1f}));
  EXPECT_FALSE(convert(unknown, {.to = DataType::kI8, .to_scale = 0.1f}));
  EXPECT_FALSE(convert(unknown, {.from_scale = 0.1f, .to = DataType::kF32}));
  EXPECT_FALSE(convert(unknown, {.to = DataType::kF32}));
  EXPECT_EQ(Run<litert::Convert>({X({4})}, {.to = DataType::kNull, .to_scale = 0.1f}),
            "litert.Convert: the result has a scale but no element type");
  EXPECT_FALSE(has_body.operator()<litert::MatMul>(
      {unknown, unknown}, {.out_scale = 0.5f, .x_scale = 0.1f, .y_scale = 0.2f}));
}

TEST_F(Litert, StridedSliceCountsFromTheEndAndClamps) {
  EXPECT_EQ(Run<litert::StridedSlice>(
                {X({n, 7, 5})}, {.begin = {0, -3, 1}, .end = {2, 99, 5}, .strides = {1, 2, 3}}),
            "tensor<-1x2x2xf32>");
  EXPECT_EQ(Run<litert::StridedSlice>({X({7})}, {.begin = {5}, .end = {2}, .strides = {1}}),
            "tensor<0xf32>");
  EXPECT_EQ(Run<litert::StridedSlice>({X({7})}, {.begin = {5}, .end = {2}, .strides = {-1}}),
            "litert.StridedSlice: strides [-1] are not positive");
}

TEST_F(Litert, PackAddsAnAxisAndUnpackTakesItAway) {
  EXPECT_EQ(Run<litert::Pack>({X({n, 5}), X({n, 5})}, {.axis = 1}), "tensor<Nx2x5xf32>");
  EXPECT_EQ(Run<litert::Pack>({X({4, 5}), X({4, 6})}),
            "litert.Pack: inputs[1] is [4,6] but must be [4,5]");
  EXPECT_EQ(Run<litert::Unpack>({X({4, 2, 5})}, {.axis = 1}, 2),
            "tensor<4x5xf32>, tensor<4x5xf32>");
  EXPECT_EQ(Run<litert::Unpack>({X({4, 2, 5})}, {.axis = 1}, 3),
            "litert.Unpack: has 3 results but dimension 1 of x is 2");
}

TEST_F(Litert, ComparisonsAndChoicesBroadcast) {
  EXPECT_EQ(Run<litert::NotEqual>({X({2, 1}), Scalar(0)}), "tensor<2x1xbool>");
  EXPECT_EQ(Run<litert::Select>({X({2, 1}, DataType::kBool), X({1, 3}), Scalar(0)}),
            "tensor<2x3xf32>");
}

}  // namespace
}  // namespace weft::ir
