// Words about attributes: any that are left out, those of an op made again, those that are computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>

#include "ir/dialects/fused.h"
#include "unittests/drr/cpp/words_test_util.h"

namespace weft::drr {
namespace {

using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Add;
using toy::Mul;
using toy::Norm;
using toy::Relu;
using toy::Scale;

class AttributeWords : public Words {};

TEST_F(AttributeWords, AllAttributesButSomeMayBeAnything) {
  const Value a = b.Make<Norm>({x}, {.axis = 1, .epsilon = 0.125f, .groups = 4});
  const Value c = b.Make<Norm>({x}, {.axis = 2, .epsilon = 0.125f});
  b.Return({{"a", a}, {"c", c}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Norm>(AnyAttrs(), {.axis = 1})(x);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  EXPECT_NE(Try(c.DefiningOp(), rule), "");
  EXPECT_EQ(Try(a.DefiningOp(), rule), "");
  EXPECT_THAT(Text(rule), HasSubstr("toy.norm{..., axis: 1}(%x)"));
}

void RaiseEpsilon(SourcePattern& src, ResultPattern& res) {
  auto x = src.Tensor("x");
  auto f = src.OneOf<Scale, Norm>(AnyAttrs(), {.axis = 1});
  auto out = src.Op<Relu>()(f(x));
  res.Tensor(out) = res.Like(f, {.epsilon = 0.75f})(x);
}

TEST_F(AttributeWords, OneOpOfSeveralIsMadeAgainWithOtherAttributes) {
  const Value norm = b.Make<Relu>({b.Make<Norm>({x}, {.axis = 1, .groups = 4})});
  const Value scale = b.Make<Relu>({b.Make<Scale>({x}, {.axis = 1})});
  const Value other = b.Make<Relu>({b.Make<Scale>({x}, {.axis = 2})});
  b.Return({{"norm", norm}, {"scale", scale}, {"other", other}});
  EXPECT_EQ(Try(norm.DefiningOp(), RaiseEpsilon), "");
  EXPECT_EQ(Try(scale.DefiningOp(), RaiseEpsilon), "");
  EXPECT_NE(Try(other.DefiningOp(), RaiseEpsilon), "");
  EXPECT_TRUE(Output(0).Is<Norm>());
  EXPECT_EQ(Output(0).attr("groups").AsInt(), 4);
  EXPECT_EQ(Output(0).attr("axis").AsInt(), 1);
  EXPECT_EQ(Output(0).attr("epsilon").AsFloat(), 0.75f);
  EXPECT_TRUE(Output(1).Is<Scale>());
  EXPECT_EQ(Output(1).attr("epsilon").AsFloat(), 0.75f);
}

TEST_F(AttributeWords, OverridesAreReadBack) {
  const std::string text = Text(RaiseEpsilon);
  EXPECT_THAT(text, HasSubstr("toy.scale{..., axis: 1} | toy.norm{..., axis: 1}(%x)"));
  EXPECT_THAT(text, HasSubstr("like %0{epsilon: 0.75}(%x)"));
  text::Diagnostics mistakes("r");
  std::vector<std::unique_ptr<drr::Rule>> rules;
  text::ParseRules(text, &context, nullptr, &mistakes, &rules);
  ASSERT_EQ(rules.size(), 1u) << testing::PrintToString(mistakes.errors());
  EXPECT_EQ(text::PrintRule(*rules[0]), text);
}

TEST_F(AttributeWords, AnOverrideThatOneAlternativeDoesNotHaveIsAMistake) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                auto f = src.OneOf<Norm, Scale>(AnyAttrs());
                auto out = src.Op<Relu>()(f(x));
                res.Tensor(out) = res.Like(f, {.groups = 2})(x);
              }),
              ElementsAre(HasSubstr("toy.scale has no attribute 'groups'")));
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto x = src.Tensor("x");
                auto f = src.OneOf<Norm, Scale>(AnyAttrs(), {.groups = 2});
                auto out = src.Op<Relu>()(f(x));
                res.Tensor(out) = res.Op<Relu>()(x);
              }),
              ElementsAre(HasSubstr("toy.scale has no attribute 'groups'")));
}

TEST_F(AttributeWords, ExpressionsComputeAttributesAndPrint) {
  const Value out = b.Make<Norm>({x}, {.axis = 1});
  b.Return({{"out", out}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto axis = src.Attr<int64_t>("axis");
    auto norm = src.Op<Norm>({.axis = axis})(x);
    res.Tensor(norm) = res.Op<Scale>({.axis = DimOf(x, axis)})(x);
  };
  EXPECT_THAT(Text(rule), HasSubstr("toy.scale{axis: = dim(%x, $axis)}(%x)"));
  EXPECT_EQ(Try(out.DefiningOp(), rule), "");
  EXPECT_EQ(Output(0).attr("axis").AsInt(), 3);
}

TEST_F(AttributeWords, ScalarOfIsTheNumberOfTheConstantThatIsThere) {
  const Value three = b.Make<Mul>({x, Constant({3, 3}, {2, 1})});
  const Value four = b.Make<Add>({x, Constant({4}, {})});
  const Value mixed = b.Make<Add>({x, Constant({1, 2}, {2, 1})});
  b.Return({{"three", three}, {"four", four}, {"mixed", mixed}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), c = src.Tensor("c"), d = src.Tensor("d");
    auto out = src.Either(src.Op<Mul>()(x, c), src.Op<Add>()(x, d));
    res.Tensor(out) = res.Op<Norm>({.axis = 1})(x, res.Constant(ScalarOf(c, d)));
  };
  EXPECT_NE(Try(mixed.DefiningOp(), rule), "");
  EXPECT_EQ(Try(three.DefiningOp(), rule), "");
  EXPECT_EQ(Try(four.DefiningOp(), rule), "");
  for (size_t i : {0u, 1u}) {
    const ir::Attribute scalar = ir::ConstantValue(Output(i).operand(1));
    EXPECT_EQ(scalar.dense_type(), context.TensorType(ir::DataType::kF32, {}));
    EXPECT_EQ(scalar.elements<float>()[0], i == 0 ? 3 : 4);
  }
}

TEST_F(AttributeWords, BoundsOfAreTheNumbersOfTwoConstantsOrThoseOfNoBound) {
  ir::LoadFusedDialect(context);
  const Value low = Constant({-2}, {}), high = Constant({6}, {}), input = Input("low", {});
  const Value w = Constant({1, 2, 3}, {3, 1});
  const auto clip = [&](Value from, Value to) {
    return b.Make<ir::ops::Clip>({b.Make<ir::fused::Linear>({x, w}), from, to});
  };
  const Value both = clip(low, high), above = clip({}, high), below = clip(low, {});
  const Value neither = clip(input, high);
  b.Return({{"both", both}, {"above", above}, {"below", below}, {"neither", neither}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), w = src.Tensor("w"), low = src.Tensor("low"),
         high = src.Tensor("high");
    auto linear = src.Op<ir::fused::Linear>();
    auto out = src.Op<ir::ops::Clip>()(linear(x, w), src.Optional(low), src.Optional(high));
    res.Tensor(out) = res.Like(linear, {.activation = ir::fused::Activation::kClip,
                                        .activation_params = BoundsOf(low, high)})(x, w);
  };
  EXPECT_THAT(Text(rule), HasSubstr("activation_params: = bounds(%low, %high)"));
  EXPECT_NE(Try(neither.DefiningOp(), rule), "");
  for (Value clipped : {both, above, below}) EXPECT_EQ(Try(clipped.DefiningOp(), rule), "");
  const auto bounds = [&](size_t i) { return Output(i).attr("activation_params").AsFloats(); };
  EXPECT_THAT(bounds(0), ElementsAre(-2, 6));
  EXPECT_THAT(bounds(1), ElementsAre(-std::numeric_limits<float>::infinity(), 6));
  EXPECT_THAT(bounds(2), ElementsAre(-2, std::numeric_limits<float>::infinity()));
}

}  // namespace
}  // namespace weft::drr
