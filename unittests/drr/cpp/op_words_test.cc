// Words about ops and what is computed of them: names, attributes, windows, quantised numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "drr/text/rule_text.h"
#include "ir/builder.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/nn/activation.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/reduce.h"
#include "unittests/drr/cpp/words_test_util.h"

namespace weft::drr {
namespace {

using ir::Attribute;
using ir::DataType;
using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Norm;
using toy::Relu;
using toy::Tanh;
using T = Tensor;
namespace fused = ir::fused;
namespace ops = ir::ops;

class OpWords : public Words {
 protected:
  OpWords() { ir::LoadFusedDialect(context); }
  Value Number(DataType dtype, double number, const ir::Shape& shape = {}) {
    const Attribute dense =
        context.DenseAttr(context.TensorType(dtype, shape), ir::ElementBytes(dtype, number));
    return b.Create<ir::ConstantOp>({}, {.value = dense}).result(0);
  }
  // The activation of a linear that takes the place of `out`, or why there is none.
  std::string ActivationFrom(Value out) {
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      auto out = src.OneOf<ops::HardSigmoid, ops::Exp, ops::Elu>(AnyAttrs())(x);
      res.Tensor(out) = res.Op<fused::Linear>(
          {.activation = SnakeOpName(out), .activation_params = FloatAttributes(out)})(x, x);
    });
    return refused.empty() ? user.DefiningOp().operand(0).DefiningOp().attr("activation").AsString()
                           : refused;
  }
};

TEST_F(OpWords, ANameBecomesAnEnumeratorOrNothing) {
  const Value square = Input("square", {3, 3});
  EXPECT_EQ(ActivationFrom(b.Make<ops::HardSigmoid>({square}, {.alpha = 0.25f, .beta = 0.5f})),
            "hard_sigmoid");
  EXPECT_THAT(ActivationFrom(b.Make<ops::Exp>({square})),
              HasSubstr("attribute activation of fused.linear cannot be computed"));
  EXPECT_THAT(ActivationFrom(b.Make<ops::Elu>({square}, {.alpha = 0.25f})),
              HasSubstr("attribute activation of fused.linear cannot be computed"));
}

TEST_F(OpWords, FloatAttributesAreAllThatIsStated) {
  const Value square = Input("square", {3, 3});
  const auto floats = [&](Value out) -> std::optional<ir::Floats> {
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      auto out = src.OneOf<ops::HardSigmoid, fused::Gelu>(AnyAttrs())(x);
      auto params = src.Let("nothing else is stated", FloatAttributes(out));
      res.Tensor(out) = res.Op<fused::Linear>(
          {.activation = SnakeOpName(out), .activation_params = params})(x, x);
    });
    if (refused == "does not hold: nothing else is stated") return std::nullopt;
    EXPECT_EQ(refused, "");
    return user.DefiningOp().operand(0).DefiningOp().attr("activation_params").AsFloats();
  };
  const auto stated = [&](std::vector<ir::NamedAttribute> attrs) {
    return floats(Bare<ops::HardSigmoid>({square}, std::move(attrs)));
  };
  EXPECT_EQ(stated({}), (ir::Floats{0.2f, 0.5f}));
  EXPECT_EQ(stated({{ir::Name("beta"), context.FloatAttr(2)}}), (ir::Floats{0.2f, 2}));
  EXPECT_EQ(floats(b.Make<fused::Gelu>({square})), ir::Floats{});
  EXPECT_EQ(floats(b.Make<fused::Gelu>({square}, {.approximate = fused::GeluApproximate::kTanh})),
            std::nullopt);
}

TEST_F(OpWords, WindowsReachAnElementWherePadsAreSmaller) {
  const auto reach = [&](ops::MaxPool::Attrs<ir::BuilderSlot> attrs) {
    const Value out = b.Make<ops::MaxPool>({Input("image", {1, 1, 8, 8})}, attrs);
    return Of(out, x, [](T p, T, T) { return WindowsReach(p); });
  };
  EXPECT_EQ(reach({.kernel_shape = ir::Ints{2, 2}}), "");
  EXPECT_EQ(reach({.kernel_shape = ir::Ints{2, 3}, .pads = ir::Ints{1, 2, 1, 2}}), "");
  EXPECT_EQ(reach({.ceil_mode = 1, .kernel_shape = ir::Ints{2, 2}}),
            "does not hold: each window of p holds an element");
  EXPECT_NE(reach({.auto_pad = ops::AutoPad::kSameUpper, .kernel_shape = ir::Ints{2, 2}}), "");
  EXPECT_EQ(reach({.dilations = ir::Ints{8, 1}, .kernel_shape = ir::Ints{1, 2}}), "");
  EXPECT_NE(reach({.dilations = ir::Ints{9, 1}, .kernel_shape = ir::Ints{1, 2}}), "");
  const Value of_none =
      b.Make<ops::MaxPool>({Input("empty", {1, 1, 0, 8})},
                           {.kernel_shape = ir::Ints{2, 2}, .pads = ir::Ints{1, 0, 1, 0}});
  EXPECT_NE(Of(of_none, x, [](T p, T, T) { return WindowsReach(p); }), "");
  const auto padded = Make<ops::MaxPool>(
      {Input("image", {1, 1, 8, 8})},
      {.kernel_shape = ir::Ints{2, 2}, .pads = ir::Ints{0, 2, 0, 0}}, {1, 1, 7, 9});
  EXPECT_NE(Of(padded, x, [](T p, T, T) { return WindowsReach(p); }), "");
  EXPECT_NE(Of(x, x, [](T p, T, T) { return WindowsReach(p); }), "");
}

TEST_F(OpWords, MadeByHoldsOfListsWhoseValuesAreAllMadeSo) {
  const auto joined = [&](std::vector<Value> values) {
    const Value out = b.Make<ops::Concat>(values, {.axis = 0});
    b.Make<Relu>({out});
    return Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto xs = src.Tensors("xs");
      auto out = src.Op<ops::Concat>({.axis = 0})(xs);
      src.Require(MadeBy<Tanh>(xs));
      res.Tensor(out) = res.Op<ops::Concat>({.axis = -2})(xs);
    });
  };
  const Value tanh = b.Make<Tanh>({x}), relu = b.Make<Relu>({x});
  EXPECT_EQ(joined({tanh, tanh}), "");
  EXPECT_EQ(joined({tanh, relu}), "does not hold: each of xs is made by toy.tanh");
  EXPECT_NE(joined({tanh, x}), "");
}

TEST_F(OpWords, AxesOfReductionsAreJoinedWhetherTheyStayOrNot) {
  const auto join = [&](ir::Ints first, ir::Ints second, int64_t keepdims) -> ir::Ints {
    const Value in = Input("in", {2, 3, 4, 5});
    const Value out = b.Make<ops::ReduceSum>(
        {b.Make<ops::ReduceSum>({in}, {.axes = first, .keepdims = keepdims})},
        {.axes = second, .keepdims = keepdims});
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto keepdims = src.Attr<int64_t>("keepdims");
      auto a = src.Attr<Ints>("a"), c = src.Attr<Ints>("c");
      auto x = src.Tensor("x");
      auto inner = src.Op<ops::ReduceSum>({.axes = a, .keepdims = keepdims})(x);
      auto out = src.Op<ops::ReduceSum>({.axes = c, .keepdims = keepdims})(inner);
      auto axes = src.Let("the axes are known", JoinAxes(a, x, c, inner, keepdims));
      res.Tensor(out) = res.Op<ops::ReduceSum>({.axes = axes, .keepdims = keepdims})(x);
    });
    if (!refused.empty()) return {};
    return user.DefiningOp().operand(0).DefiningOp().attr("axes").AsInts();
  };
  EXPECT_THAT(join({0}, {0}, 0), ElementsAre(0, 1));
  EXPECT_THAT(join({1}, {-1, 0}, 0), ElementsAre(0, 1, 3));
  EXPECT_THAT(join({0}, {0}, 1), ElementsAre(0));
  EXPECT_THAT(join({1, -4}, {-1}, 1), ElementsAre(0, 1, 3));
  EXPECT_THAT(join({1}, {}, 1), ElementsAre());
}

TEST_F(OpWords, SizesOfAnExpandFollowFromTypes) {
  const auto sizes = [&](Value in, Value target) -> ir::Ints {
    const Value out = Make<ops::Expand>({in, target}, {}, {2, 3});
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), s = src.Tensor("s");
      auto out = src.Op<ops::Expand>()(x, s);
      res.Tensor(out) = res.Op<ops::Expand>()(x, res.ConstantInts(ExpandSizesIn(s, x)));
    });
    if (!refused.empty()) return {};
    return *ir::ConstantInts(user.DefiningOp().operand(0).DefiningOp().operand(1));
  };
  const Value open = Input("open", {ir::SymbolicDim("n"), 3});
  const Value shape = b.Make<ops::Shape>({open});
  const Value part = b.Make<ops::Shape>({open}, {.end = int64_t{1}});
  const Value other = b.Make<ops::Shape>({Input("m", {ir::SymbolicDim("m")})});
  const auto with = [&](Value size) {
    return b.Make<ops::Concat>({size, b.ConstantInts({3})}, {.axis = 0});
  };
  EXPECT_THAT(sizes(open, shape), ElementsAre(1, 3));
  EXPECT_THAT(sizes(open, with(part)), ElementsAre(1, 3));
  EXPECT_THAT(sizes(open, with(other)), ElementsAre());
}

TEST_F(OpWords, AListLiesAlongAnAxis) {
  const auto along = [&](Value of, int axis) -> ir::Ints {
    const Value out = b.Make<Norm>({z, of}, {.axis = 1});
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto base = src.Tensor("base"), of = src.Tensor("of");
      auto out = src.Op<Norm>(AnyAttrs())(base, of);
      auto sizes = res.ConstantInts(ListAlong(of, axis));
      res.Tensor(out) = res.Op<Norm>({.axis = 1})(base, sizes);
    });
    if (!refused.empty()) return {};
    return *ir::ConstantInts(user.DefiningOp().operand(0).DefiningOp().operand(1));
  };
  const Value image = Input("image", {ir::SymbolicDim("n"), 3, 4, 5});
  EXPECT_THAT(along(image, 1), ElementsAre(-1, 1, 1));
  EXPECT_THAT(along(image, -1), ElementsAre(-1));
  EXPECT_THAT(along(image, 4), ElementsAre());
}

TEST_F(OpWords, ABoundIsQuantisedOrTheEndOfTheRange) {
  const auto of = [&](double number, DataType dtype, double zero) {
    const Value out = b.Make<Norm>(
        {Number(DataType::kF32, number), Number(DataType::kF32, 0.5), Number(dtype, zero)},
        {.axis = 1});
    const Value user = b.Make<Relu>({out});
    EXPECT_EQ(Try(out.DefiningOp(),
                  [](SourcePattern& src, ResultPattern& res) {
                    auto x = src.Tensor("x"), s = src.Tensor("s"), z = src.Tensor("z");
                    auto out = src.Op<Norm>(AnyAttrs())(x, s, z);
                    res.Tensor(out) =
                        res.Op<Norm>({.axis = 1})(x, res.Constant(QuantizedNumber(x, s, z, 1)));
                  }),
              "");
    return ir::ConstantValue(user.DefiningOp().operand(0).DefiningOp().operand(1));
  };
  const Attribute three = of(1.25, DataType::kI8, 1);
  EXPECT_EQ(three.dense_type().dtype(), DataType::kI8);
  EXPECT_EQ(ir::DenseElement(three, 0), 3);  // 2.5 is rounded to even
  EXPECT_EQ(ir::DenseElement(of(-100, DataType::kI8, 0), 0), -128);
  EXPECT_EQ(ir::DenseElement(of(-100, DataType::kU8, 7), 0), 0);
  EXPECT_EQ(ir::DenseElement(of(NAN, DataType::kU8, 7), 0), 255);
  EXPECT_EQ(ir::DenseElement(of(INFINITY, DataType::kI8, 7), 0), 127);
}

TEST_F(OpWords, AZeroPointHasTheTypeOfTheBytesAndTheShapeOfTheScale) {
  const Value bytes = Input("bytes", {2}, DataType::kI8), scale = Input("scale", {1});
  const auto zero_point = [&](Value first, Value second) {
    return Computed(first, second, [](T p, T q) { return ZeroPoint(p, q, q); });
  };
  const Attribute zero = zero_point(bytes, scale);
  ASSERT_TRUE(zero);
  EXPECT_EQ(zero.dense_type(), context.TensorType(DataType::kI8, {1}));
  EXPECT_EQ(ir::DenseElement(zero, 0), 0);
  EXPECT_FALSE(zero_point(Input("wide", {2}, DataType::kI16), scale));
  EXPECT_FALSE(zero_point(bytes, Input("one_byte", {1}, DataType::kU8)));
  EXPECT_FALSE(zero_point(bytes, x));
}

TEST_F(OpWords, ANumberIsConvertedWhereTheTypeHasIt) {
  const auto filled = [&](const ops::ConstantOfShape::Attrs<ir::BuilderSlot>& attrs,
                          DataType to) -> std::optional<double> {
    const Value in = b.Make<ops::ConstantOfShape>({b.ConstantInts({2, 3})}, attrs);
    const Value out = b.Make<ops::Cast>({in}, {.to = to});
    const Value user = b.Make<Relu>({out});
    const std::string refused = Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto to = src.Attr<DataType>("to");
      auto s = src.Tensor("s");
      auto filled = src.Op<ops::ConstantOfShape>(AnyAttrs())(s);
      auto out = src.Op<ops::Cast>({.to = to})(filled);
      res.Tensor(out) = res.Op<ops::ConstantOfShape>({.value = Converted(filled, "value", to)})(s);
    });
    if (!refused.empty()) return std::nullopt;
    const Attribute value = user.DefiningOp().operand(0).DefiningOp().attr("value");
    EXPECT_EQ(value.dense_type().dtype(), to);
    return ir::DenseElement(value, 0);
  };
  const auto number = [&](DataType dtype, double value, const ir::Shape& shape) {
    return context.DenseAttr(context.TensorType(dtype, shape), ir::ElementBytes(dtype, value));
  };
  EXPECT_EQ(filled({}, DataType::kI64), 0);
  EXPECT_EQ(filled({.value = number(DataType::kI64, 7, {1})}, DataType::kF16), 7);
  EXPECT_EQ(filled({.value = number(DataType::kF32, 0.25, {1})}, DataType::kI32), std::nullopt);
  EXPECT_EQ(filled({.value = number(DataType::kI64, 300, {1})}, DataType::kU8), std::nullopt);
  EXPECT_EQ(filled({.value = number(DataType::kBool, 1, {1})}, DataType::kF32), std::nullopt);
}

}  // namespace
}  // namespace weft::drr
