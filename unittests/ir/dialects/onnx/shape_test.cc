#include "ir/dialects/onnx/infer/shape_value.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxShape = InferTest;

TEST_F(OnnxShape, ReshapeFillsTheGivenShape) {
  EXPECT_EQ(Run<ops::Reshape>({X({2, 6}), I({3, 4})}), "tensor<3x4xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({2, 6}), I({-1, 4})}), "tensor<3x4xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({2, 6}), I({0, -1, 3})}), "tensor<2x2x3xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({1}), I({})}), "tensor<f32>");
  EXPECT_EQ(Run<ops::Reshape>({X({0, 3}), I({3, 0})}, {.allowzero = 1}), "tensor<3x0xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({0, 3}), I({0, -1})}), "tensor<0x3xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({0, 0}), I({5, 0, -1})}), "tensor<5x0x0xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({2, 6}), X({3}, DataType::kI64)}), "tensor<-1x-1x-1xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({2, 6}), X({n}, DataType::kI64)}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Reshape>({Unranked(), I({0, 4, -1})}), "tensor<-1x4x-1xf32>");
}

TEST_F(OnnxShape, ReshapeCarriesSymbolsOver) {
  EXPECT_EQ(Run<ops::Reshape>({X({n, 6}), I({0, 2, 3})}), "tensor<Nx2x3xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({n, 6}), I({-1, 2, 3})}), "tensor<Nx2x3xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({n, 2, m, 3}), I({0, -1, 6})}), "tensor<NxMx6xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({n, m, 3}), I({0, -1, 3})}), "tensor<NxMx3xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({n, 6}), I({-1, 4})}), "tensor<N + N//2x4xf32>");
  EXPECT_EQ(Run<ops::Reshape>({X({n, 2, 3}), I({0, -1})}), "tensor<Nx6xf32>");
}

TEST_F(OnnxShape, ReshapeNamesShapesThatDoNotFit) {
  const Value x = X({2, 6});
  EXPECT_EQ(Run<ops::Reshape>({x, I({5})}), "onnx.Reshape: [2,6] does not fit shape [5]");
  EXPECT_EQ(Run<ops::Reshape>({x, I({5, -1})}),
            "onnx.Reshape: 12 elements do not fill shape [5,-1]");
  EXPECT_EQ(Run<ops::Reshape>({x, I({-1, -1})}),
            "onnx.Reshape: shape [-1,-1] has more than one -1");
  EXPECT_EQ(Run<ops::Reshape>({x, I({-2})}), "onnx.Reshape: shape [-2] has the entry -2");
  EXPECT_EQ(Run<ops::Reshape>({x, I({2, 6, 0})}),
            "onnx.Reshape: shape [2,6,0] copies dimension 2 of [2,6]");
  EXPECT_EQ(Run<ops::Reshape>({x, I({0, -1})}, {.allowzero = 1}),
            "onnx.Reshape: shape [0,-1] has both 0 and -1");
  EXPECT_EQ(Run<ops::Reshape>({x, I({INT64_MAX, INT64_MAX})}),
            "onnx.Reshape: [2,6] does not fit shape [9223372036854775807,9223372036854775807]");
  EXPECT_EQ(Run<ops::Reshape>({x, I({-1, INT64_MAX, INT64_MAX})}),
            "onnx.Reshape: shape [-1,9223372036854775807,9223372036854775807] is too large");
  EXPECT_EQ(Run<ops::Reshape>({x, X({2})}), "onnx.Reshape: shape is f32 but must be i64");
  EXPECT_EQ(Run<ops::Reshape>({x, X({2, 1}, DataType::kI64)}),
            "onnx.Reshape: shape has rank 2 but must have 1");
}

TEST_F(OnnxShape, FlattenGivesAMatrix) {
  EXPECT_EQ(Run<ops::Flatten>({X({2, 3, 4})}), "tensor<2x12xf32>");
  EXPECT_EQ(Run<ops::Flatten>({X({n, 3, 4})}, {.axis = -2}), "tensor<Nx12xf32>");
  EXPECT_EQ(Run<ops::Flatten>({X({n, 3, 4})}, {.axis = 2}), "tensor<3*Nx4xf32>");
  EXPECT_EQ(Run<ops::Flatten>({X({n, 3})}, {.axis = 0}), "tensor<1x3*Nxf32>");
  EXPECT_EQ(Run<ops::Flatten>({X({2, 3})}, {.axis = 2}), "tensor<6x1xf32>");
  EXPECT_EQ(Run<ops::Flatten>({X({})}, {.axis = 0}), "tensor<1x1xf32>");
  EXPECT_EQ(Run<ops::Flatten>({Unranked()}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::Flatten>({X({2, 3})}, {.axis = 3}),
            "onnx.Flatten: axis 3 is out of range for rank 2");
}

TEST_F(OnnxShape, SqueezeDropsOnes) {
  EXPECT_EQ(Run<ops::Squeeze>({X({1, n, 1}), I({-1})}), "tensor<1xNxf32>");
  EXPECT_EQ(Run<ops::Squeeze>({X({1, 3, 1})}), "tensor<3xf32>");
  EXPECT_EQ(Run<ops::Squeeze>({X({1, n, 1})}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Squeeze>({X({1, 3}), X({1}, DataType::kI64)}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Squeeze>({X({n, 3}), I({0})}), "tensor<3xf32>");
  EXPECT_EQ(Run<ops::Squeeze>({X({2, 3}), I({1})}),
            "onnx.Squeeze: dimension 1 of data [2,3] is not 1");
  EXPECT_EQ(Run<ops::Squeeze>({X({1, 3}), I({2})}),
            "onnx.Squeeze: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Squeeze>({X({1, 3}), I({0, -2})}), "onnx.Squeeze: axis 0 is given twice");
}

TEST_F(OnnxShape, UnsqueezeInsertsOnes) {
  EXPECT_EQ(Run<ops::Unsqueeze>({X({n, 3}), I({-1, 0})}), "tensor<1xNx3x1xf32>");
  EXPECT_EQ(Run<ops::Unsqueeze>({X({2}), X({1}, DataType::kI64)}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::Unsqueeze>({Unranked(), I({0})}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::Unsqueeze>({X({2}), I({2})}),
            "onnx.Unsqueeze: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Unsqueeze>({X({2}), I({0, 0})}), "onnx.Unsqueeze: axis 0 is given twice");
}

TEST_F(OnnxShape, ShapeCountsDimensions) {
  EXPECT_EQ(Run<ops::Shape>({X({n, 3, 4})}), "tensor<3xi64>");
  EXPECT_EQ(Run<ops::Shape>({X({n, 3, 4})}, {.end = -1, .start = 1}), "tensor<1xi64>");
  EXPECT_EQ(Run<ops::Shape>({X({n, 3, 4})}, {.end = 1, .start = 2}), "tensor<0xi64>");
  EXPECT_EQ(Run<ops::Shape>({X({n, 3, 4})}, {.end = INT64_MAX, .start = INT64_MIN}),
            "tensor<3xi64>");
  EXPECT_EQ(Run<ops::Shape>({Unranked()}), "tensor<-1xi64>");
}

TEST_F(OnnxShape, ConstantOfShapeTakesTheTypeOfItsValue) {
  const Attribute one = context.DenseAttrOf<int64_t>(context.TensorType(DataType::kI64, {1}),
                                                     std::vector<int64_t>{1});
  const Attribute two = context.DenseAttrOf<int64_t>(context.TensorType(DataType::kI64, {2}),
                                                     std::vector<int64_t>{1, 2});
  EXPECT_EQ(Run<ops::ConstantOfShape>({I({2, 3})}), "tensor<2x3xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({I({2, 3})}, {.value = one}), "tensor<2x3xi64>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({X({2}, DataType::kI64)}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({X({n}, DataType::kI64)}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({I({-3})}), "onnx.ConstantOfShape: shape has the entry -3");
  EXPECT_EQ(Run<ops::ConstantOfShape>({I({int64_t{1} << 40, int64_t{1} << 40})}),
            "onnx.ConstantOfShape: the result is too large: [1099511627776,1099511627776]");
  EXPECT_EQ(Run<ops::ConstantOfShape>({I({2})}, {.value = two}),
            "onnx.ConstantOfShape: value is tensor<2xi64> but must have one element");
  EXPECT_EQ(Run<ops::ConstantOfShape>({I({2})}, {.value = context.IntAttr(1)}),
            "onnx.ConstantOfShape: value is no tensor");
}

// Reshape(x, Concat(Unsqueeze(Gather(Shape(x), 0)), [-1])): what exporters write for x.view(B, -1)

TEST_F(OnnxShape, ShapesComputedFromDimensionsAreFollowed) {
  const Value x = X({n, 4, 6});
  const Value shape = b.Make<ops::Shape>({x});
  const Value batch = b.Make<ops::Gather>({shape, Scalar(0, DataType::kI64)});
  const Value target =
      b.Make<ops::Concat>({b.Make<ops::Unsqueeze>({batch, I({0})}), I({-1})}, {.axis = 0});
  EXPECT_EQ(Run<ops::Reshape>({x, target}), "tensor<Nx24xf32>");
  const Value tail = b.Make<ops::Slice>({shape, I({1}), I({INT64_MAX})});
  EXPECT_EQ(Run<ops::ConstantOfShape>({tail}), "tensor<4x6xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({b.Make<ops::Mul>({tail, I({2})})}), "tensor<8x12xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({b.Make<ops::Div>({tail, I({0})})}), "tensor<-1x-1xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({b.Make<ops::Mul>({shape, I({1})})}), "tensor<Nx4x6xf32>");
  EXPECT_EQ(Run<ops::ConstantOfShape>({b.Make<ops::Add>({shape, I({1})})}),
            "tensor<N + 1x5x7xf32>");
}

TEST_F(OnnxShape, FilledNumbersAreExact) {
  const auto filled = [&](int64_t number) {
    const Attribute value = context.DenseAttrOf<int64_t>(context.TensorType(DataType::kI64, {1}),
                                                         std::vector<int64_t>{number});
    return b.Make<ops::ConstantOfShape>({I({2})}, {.value = value});
  };
  for (const int64_t number : {INT64_MIN, INT64_MAX, (int64_t{1} << 53) + 1, int64_t{-7}})
    EXPECT_EQ(EvaluateShapeValue(filled(number)), ShapeValue(2, ShapeEntry::Number(number)));
  EXPECT_EQ(Run<ops::Slice>({X({3, 4}), I({1, 1}), filled(INT64_MAX)}), "tensor<2x3xf32>");
}

TEST_F(OnnxShape, UnsignedNumbersAreExactOrUnknown) {
  const auto entries = [&](uint64_t number) {
    const Attribute value = context.DenseAttrOf<uint64_t>(context.TensorType(DataType::kU64, {1}),
                                                          std::vector<uint64_t>{number});
    auto constant = EvaluateShapeValue(b.Constant(value));
    EXPECT_EQ(EvaluateShapeValue(b.Make<ops::ConstantOfShape>({I({1})}, {.value = value})),
              constant);
    return constant;
  };
  EXPECT_EQ(entries((uint64_t{1} << 53) + 1),
            ShapeValue(1, ShapeEntry::Number((int64_t{1} << 53) + 1)));
  EXPECT_EQ(entries(UINT64_MAX), ShapeValue(1));
}

TEST_F(OnnxShape, NumbersThatDoNotFitTheirTypeAreUnknown) {
  const auto i32 = [&](Value v) { return b.Make<ops::Cast>({v}, {.to = DataType::kI32}); };
  const auto number = ShapeEntry::Number;
  EXPECT_EQ(EvaluateShapeValue(i32(I({int64_t{1} << 40, 7}))), (ShapeValue{{}, number(7)}));
  EXPECT_EQ(EvaluateShapeValue(i32(I({INT32_MIN, INT32_MAX}))),
            (ShapeValue{number(INT32_MIN), number(INT32_MAX)}));
  const Value v = i32(I({65536, 4}));
  EXPECT_EQ(EvaluateShapeValue(b.Make<ops::Mul>({v, v})), (ShapeValue{{}, number(16)}));
  EXPECT_EQ(EvaluateShapeValue(b.Make<ops::ReduceProd>({b.Make<ops::Mul>({v, i32(I({8192}))})})),
            ShapeValue(1));
}

TEST_F(OnnxShape, ChainsThatShareMuchAreGivenUp) {
  Value v = b.Make<ops::Shape>({X({1, 1})});
  for (int i = 0; i < 40; ++i) v = b.Make<ops::Mul>({v, v});
  EXPECT_EQ(EvaluateShapeValue(v), ShapeValue(2));
}

}  // namespace
}  // namespace weft::ir
