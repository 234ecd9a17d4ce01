// Words of the vocabulary in C++ rules: what they refuse, how they read, what they compute.
#include "drr/cpp/constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "drr/text/rule_text.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "unittests/drr/cpp/language_test_util.h"

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
using toy::Tanh;

class Constraints : public Language {
 protected:
  Value Constant(std::vector<float> values, const ir::Shape& shape) {
    return b
        .Create<ir::ConstantOp>(
            {}, {.value = context.DenseAttrOf(context.TensorType(ir::DataType::kF32, shape),
                                              std::span<const float>(values))})
        .result(0);
  }
  std::string Text(const Body& body) {
    const BuildResult built = Rule(body).Build(&context);
    for (const std::string& e : built.errors) ADD_FAILURE() << e;
    return built.rule ? text::PrintRule(*built.rule) : "";
  }
};

TEST_F(Constraints, SayWhatDoesNotHold) {
  const Value out = b.Make<Add>({x, y});
  b.Return({{"out", out}});
  const auto require = [&](auto condition) {
    return Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), y = src.Tensor("y");
      auto sum = src.Op<Add>()(x, y);
      src.Require(condition(x, y, sum));
      res.Tensor(sum) = res.Op<Mul>()(x, y);
    });
  };
  using T = Tensor;
  EXPECT_EQ(require([](T x, T, T) { return IsConstant(x); }), "does not hold: x is a constant");
  EXPECT_EQ(require([](T x, T, T) { return Rank(x, 3); }), "does not hold: x has rank 3");
  EXPECT_EQ(require([](T x, T, T) { return MinRank(x, 3); }),
            "does not hold: x has rank 3 or more");
  EXPECT_EQ(require([](T x, T, T) { return Dim(x, -1, 4); }),
            "does not hold: axis -1 of x has size 4");
  EXPECT_EQ(require([](T x, T y, T) { return SameDim(x, 0, y, 1); }),
            "does not hold: axis 0 of x and axis 1 of y have one size");
  EXPECT_EQ(require([](T, T, T sum) { return DType(sum, ir::DataType::kI8); }),
            "does not hold: the result is i8");
  EXPECT_EQ(require([](T x, T y, T) { return PerChannel(x, y, 1); }),
            "does not hold: x has one element for each index of axis 1 of y");
}

TEST_F(Constraints, HoldWhereTheyAreProved) {
  const Value c = Constant({3}, {});
  const Value out = b.Make<Add>({b.Make<Add>({x, y}), c});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(),
                [](SourcePattern& src, ResultPattern& res) {
                  auto x = src.Tensor("x"), y = src.Tensor("y"), c = src.Tensor("c");
                  auto sum = src.Op<Add>()(src.Op<Add>()(x, y), c);
                  src.Require(IsConstant(c), IsConstantLike(c), IsSplat(c, 3), IsUniform(c),
                              Positive(c), NonZero(c), OneElement(c), IsFloat(c), Rank(c, 0));
                  src.Require(DType(x, ir::DataType::kF32), SameDType(x, y), SameType(x, y),
                              SameShape(x, y), StaticShape(x), StaticDim(x, 1), NonEmpty(x),
                              HasRank(x), MinRank(x, 2), MaxRank(x, 2), SameRank(x, y),
                              NoHigherRank(c, x), Dim(x, 0, 2), MinDim(x, 1, 3), MaxDim(x, 1, 3),
                              SameDim(x, -1, y, 1), Broadcasts(c, x), SameAxis(x, 1, -1));
                  res.Tensor(sum) = res.Op<Mul>()(x, y);
                }),
            "");
}

TEST_F(Constraints, HoldOnEqualSymbols) {
  const int64_t n = ir::SymbolicDim("n");
  const Value u = Input("u", {n, 3}), v = Input("v", {n, 3});
  const Value out = Make<Add>({u, v}, {}, {n, 3});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(),
                [](SourcePattern& src, ResultPattern& res) {
                  auto x = src.Tensor("x"), y = src.Tensor("y");
                  auto sum = src.Op<Add>()(x, y);
                  src.Require(SameType(x, y), SameShape(y, sum), Broadcasts(x, y),
                              SameDim(x, 0, y, 0));
                  res.Tensor(sum) = res.Op<Mul>()(x, y);
                }),
            "");
}

TEST_F(Constraints, DoNotHoldOnUnknownSizes) {
  const Value u = Input("u", {ir::kUnknownDim, 3}), v = Input("v", {ir::kUnknownDim, 3});
  const Value out = Make<Add>({u, v}, {}, {ir::kUnknownDim, 3});
  b.Return({{"out", out}});
  const auto require = [&](auto condition) {
    return Try(out.DefiningOp(), [&](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), y = src.Tensor("y");
      auto sum = src.Op<Add>()(x, y);
      src.Require(condition(x, y));
      res.Tensor(sum) = res.Op<Mul>()(x, y);
    });
  };
  using T = Tensor;
  EXPECT_NE(require([](T x, T y) { return SameType(x, y); }), "");
  EXPECT_NE(require([](T x, T y) { return SameShape(x, y); }), "");
  EXPECT_NE(require([](T x, T y) { return Broadcasts(x, y); }), "");
  EXPECT_NE(require([](T x, T y) { return SameDim(x, 0, y, 0); }), "");
  EXPECT_NE(require([](T x, T) { return StaticDim(x, 0); }), "");
  EXPECT_NE(require([](T x, T) { return MaxDim(x, 0, 9); }), "");
  EXPECT_NE(require([](T x, T) { return NonEmpty(x); }), "");
}

TEST_F(Constraints, OfAnAbsentValueHoldWhereTheyAreAskedIfGiven) {
  const Value with = b.Make<Norm>({x, y}, {.axis = 1}), without = b.Make<Norm>({x}, {.axis = 1});
  b.Return({{"with", with}, {"without", without}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), scale = src.Tensor("scale");
    auto out = src.Op<Norm>(AnyAttrs())(x, src.Optional(scale));
    src.Require(IsConstant(IfGiven(scale)));
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  EXPECT_EQ(Try(without.DefiningOp(), rule), "");
  EXPECT_EQ(Try(with.DefiningOp(), rule), "does not hold: scale, if given, is a constant");
  EXPECT_THAT(Text(rule), HasSubstr("constant(%scale?)"));
}

TEST_F(Constraints, ReadTheirNumbersFromAttributeVariables) {
  const Value out = b.Make<Norm>({x}, {.axis = 1});
  b.Return({{"out", out}});
  const auto axis_has_size = [&](int64_t size) {
    return Try(out.DefiningOp(), [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      auto axis = src.Attr<int64_t>("axis");
      auto norm = src.Op<Norm>({.axis = axis})(x);
      src.Require(Dim(x, axis, size));
      res.Tensor(norm) = res.Op<Scale>({.axis = axis})(x);
    });
  };
  EXPECT_EQ(axis_has_size(2), "does not hold: axis axis of x has size 2");
  EXPECT_EQ(axis_has_size(3), "");
}

TEST_F(Constraints, TakeTheReasonThatIsGiven) {
  const Value out = b.Make<Relu>({x});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(),
                [](SourcePattern& src, ResultPattern& res) {
                  auto x = src.Tensor("x");
                  auto relu = src.Op<Relu>()(x);
                  src.Require("x is a vector of 3", Rank(x, 1), Dim(x, 0, 3));
                  res.Tensor(relu) = res.Op<Tanh>()(x);
                }),
            "does not hold: x is a vector of 3");
}

TEST_F(Constraints, ProfitableIsSaidToBeAboutGain) {
  const Value out = b.Make<Relu>({x});
  b.Return({{"out", out}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto relu = src.Op<Relu>()(x);
    src.Profitable(MinDim(x, 0, 100));
    res.Tensor(relu) = res.Op<Tanh>()(x);
  };
  EXPECT_EQ(Try(out.DefiningOp(), rule), "not profitable: axis 0 of x has size 100 or more");
  EXPECT_THAT(Text(rule), HasSubstr("  profitable \"axis 0 of x has size 100 or more\" "
                                    "dim_at_least(%x, 0, 100)\n"));
}

TEST_F(Constraints, EachKnowsItsLine) {
  int line = 0;
  const Body body = [&line](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto relu = src.Op<Relu>()(x);
    line = __LINE__;
    src.Require(HasRank(x),  // the line after
                StaticShape(x));
    res.Tensor(relu) = x;
  };
  const BuildResult built = Rule(body).Build(&context);
  ASSERT_TRUE(built.ok());
  EXPECT_EQ(built.rule->graph.constraints[0].loc.line, line + 1);
  EXPECT_EQ(built.rule->graph.constraints[1].loc.line, line + 2);
}

TEST_F(Constraints, AreRefusedWhereAnArgumentIsAList) {
  EXPECT_THAT(Errors([](SourcePattern& src, ResultPattern& res) {
                auto xs = src.Tensors("xs");
                auto out = src.Op<toy::Join>(AnyAttrs())(xs);
                src.Require(IsConstant(Tensor(xs.graph(), xs.id())));
                res.Tensor(out) = res.Op<toy::Join>()(xs);
              }),
              ElementsAre(HasSubstr("argument 1 of 'constant' must be a value")));
}

// --- constants in a pattern --------------------------------------------------------------

TEST_F(Constraints, ASplatMatchesAConstantOfThatNumberOnly) {
  const Value three = b.Make<Mul>({x, Constant({3, 3}, {2, 1})});
  const Value mixed = b.Make<Mul>({x, Constant({3, 4}, {2, 1})});
  const Value input = b.Make<Mul>({x, y});
  b.Return({{"three", three}, {"mixed", mixed}, {"input", input}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Mul>()(x, src.Splat(3));
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  EXPECT_EQ(Try(mixed.DefiningOp(), rule), "does not hold: the constant is 3 everywhere");
  EXPECT_NE(Try(input.DefiningOp(), rule), "");
  EXPECT_EQ(Try(three.DefiningOp(), rule), "");
  EXPECT_THAT(Text(rule), HasSubstr("require \"the constant is 3 everywhere\" splat_is("));
}

TEST_F(Constraints, ASplatIsExactWhereF32HasTheNumberAndElseNearly) {
  const Value half = b.Make<Mul>({x, Constant({0.5000001f}, {})});
  const Value third = b.Make<Mul>({x, Constant({0.33333334f}, {})});
  const Value other_third = b.Make<Mul>({third, Constant({0.33333334f}, {})});
  b.Return({{"half", half}, {"third", third}, {"other third", other_third}});
  const auto times = [](double number) {
    return [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x");
      auto out = src.Op<Mul>()(x, src.Splat(number));
      res.Tensor(out) = res.Op<Relu>()(x);
    };
  };
  const auto times_one_that_is = [](double number) {
    return [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), c = src.Tensor("c");
      auto out = src.Op<Mul>()(x, c);
      src.Require(IsSplat(c, number));
      res.Tensor(out) = res.Op<Relu>()(x);
    };
  };
  EXPECT_NE(Try(half.DefiningOp(), times(0.5)), "");
  EXPECT_EQ(Try(third.DefiningOp(), times(1.0 / 3)), "");
  EXPECT_NE(Try(half.DefiningOp(), times_one_that_is(0.5)), "");
  EXPECT_EQ(Try(other_third.DefiningOp(), times_one_that_is(1.0 / 3)), "");
}

TEST_F(Constraints, ASplatOfAnAlternativeThatIsNotTakenHolds) {
  const Value plain = b.Make<Relu>({b.Make<Tanh>({x})});
  b.Return({{"plain", plain}});
  const Body rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto inner = src.Either(src.Op<Mul>()(x, src.Splat(2)), src.Op<Tanh>()(x));
    auto out = src.Op<Relu>()(inner);
    res.Tensor(out) = res.Op<Relu>()(x);
  };
  EXPECT_EQ(Try(plain.DefiningOp(), rule), "");
  EXPECT_THAT(Text(rule), testing::ContainsRegex("\"the constant is 2 everywhere\" "
                                                 "splat_is\\(%[0-9]+\\?, "));
}

TEST_F(Constraints, ASignedZeroIsTheZeroOfOneSign) {
  const Value plus = b.Make<Mul>({x, Constant({0, 0, 0}, {3})});
  const Value minus = b.Make<Mul>({x, Constant({-0.0f}, {})});
  const Value mixed = b.Make<Mul>({x, Constant({0, -0.0f, 0}, {3})});
  const Value one = b.Make<Mul>({x, Constant({1}, {})});
  b.Return({{"plus", plus}, {"minus", minus}, {"mixed", mixed}, {"one", one}});
  const auto times = [](int sign) {
    return [=](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), c = src.Tensor("c");
      auto out = src.Op<Mul>()(x, c);
      src.Require(SignedZero(c, sign));
      res.Tensor(out) = res.Op<Relu>()(x);
    };
  };
  for (const Value& other : {mixed, one})
    for (int sign : {1, -1}) EXPECT_NE(Try(other.DefiningOp(), times(sign)), "");
  EXPECT_EQ(Try(plus.DefiningOp(), times(-1)), "does not hold: c is a zero of sign -1");
  EXPECT_NE(Try(minus.DefiningOp(), times(1)), "");
  EXPECT_EQ(Try(plus.DefiningOp(), times(1)), "");
  EXPECT_EQ(Try(minus.DefiningOp(), times(-1)), "");
}

TEST_F(Constraints, AZeroOfIntegersHasEitherSign) {
  const auto zero = [&] {
    const ir::Type i32 = context.TensorType(ir::DataType::kI32, {2, 3});
    const int32_t zeros[6] = {};
    return b
        .Create<ir::ConstantOp>(
            {}, {.value = context.DenseAttrOf(i32, std::span<const int32_t>(zeros))})
        .result(0);
  };
  const Value p = b.Make<Relu>({zero()}), q = b.Make<Relu>({zero()});
  b.Return({{"p", p}, {"q", q}});
  for (const auto& [value, sign] : {std::pair{p, 1}, std::pair{q, -1}})
    EXPECT_EQ(Try(value.DefiningOp(),
                  [sign = sign](SourcePattern& src, ResultPattern& res) {
                    auto x = src.Tensor("x");
                    auto out = src.Op<Relu>()(x);
                    src.Require(SignedZero(x, sign));
                    res.Tensor(out) = res.Op<Tanh>()(x);
                  }),
              "");
}

TEST_F(Constraints, ReshapesComposeWhereTheTargetCopiesOnlySizesOfBoth) {
  const Value other = Input("other", {2, 4}), computed = Input("computed", {2}, ir::DataType::kI64);
  const auto try_target = [&](Value target) {
    const Value pair = Make<Add>({x, other}, {}, {2, 3});
    const Value out = Make<Mul>({pair, target}, {}, {2, 3});
    b.Make<Relu>({out});
    return Try(out.DefiningOp(), [](SourcePattern& src, ResultPattern& res) {
      auto x = src.Tensor("x"), y = src.Tensor("y"), t = src.Tensor("t");
      auto out = src.Op<Mul>()(src.Op<Add>()(x, y), t);
      src.Require(ReshapesCompose(x, y, t));
      res.Tensor(out) = res.Op<Tanh>()(x);
    });
  };
  EXPECT_EQ(try_target(b.ConstantInts({0, -1})), "");
  EXPECT_EQ(try_target(b.ConstantInts({-1, 1})), "");
  for (const Value& target : {b.ConstantInts({-1, 0}), b.ConstantInts({0, 3, 0}), computed})
    EXPECT_EQ(try_target(target), "does not hold: reshaping x straight to t gives the same");
}

// --- values computed once -----------------------------------------------------------------

TEST_F(Constraints, LetIsComputedOnceAndUsedByLaterConstraintsAndTheResult) {
  const Value out = b.Make<Norm>({x}, {.axis = 1});
  b.Return({{"out", out}});
  int computed = 0;
  EXPECT_EQ(Try(out.DefiningOp(),
                [&computed](SourcePattern& src, ResultPattern& res) {
                  auto x = src.Tensor("x");
                  auto norm = src.Op<Norm>(AnyAttrs());
                  auto y = norm(x);
                  auto twice = src.Let("the axis is known", [=, &computed](const MatchContext& m) {
                    ++computed;
                    return std::optional<int64_t>(2 * m[norm].axis);
                  });
                  src.Require("it is 2", [=](const MatchContext& m) { return m[twice] == 2; });
                  res.Tensor(y) = res.Op<Scale>({.axis = twice})(x);
                }),
            "");
  EXPECT_EQ(computed, 1);
  EXPECT_EQ(Output(0).attr("axis").AsInt(), 2);
}

TEST_F(Constraints, LetRefusesWithItsReasonWhereThereIsNoValue) {
  const Value out = b.Make<Relu>({x});
  b.Return({{"out", out}});
  EXPECT_EQ(Try(out.DefiningOp(),
                [](SourcePattern& src, ResultPattern& res) {
                  auto x = src.Tensor("x");
                  auto relu = src.Op<Relu>()(x);
                  auto axis = src.Let("there is an axis",
                                      [](const MatchContext&) { return std::optional<int64_t>(); });
                  res.Tensor(relu) = res.Op<Scale>({.axis = axis})(x);
                }),
            "does not hold: there is an axis");
}

// --- attributes -----------------------------------------------------------------------------

TEST_F(Constraints, AllAttributesButSomeMayBeAnything) {
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

TEST_F(Constraints, OneOpOfSeveralIsMadeAgainWithOtherAttributes) {
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

TEST_F(Constraints, OverridesAreReadBack) {
  const std::string text = Text(RaiseEpsilon);
  EXPECT_THAT(text, HasSubstr("toy.scale{..., axis: 1} | toy.norm{..., axis: 1}(%x)"));
  EXPECT_THAT(text, HasSubstr("like %0{epsilon: 0.75}(%x)"));
  text::Diagnostics mistakes("r");
  std::vector<std::unique_ptr<drr::Rule>> rules;
  text::ParseRules(text, &context, nullptr, &mistakes, &rules);
  ASSERT_EQ(rules.size(), 1u) << testing::PrintToString(mistakes.errors());
  EXPECT_EQ(text::PrintRule(*rules[0]), text);
}

TEST_F(Constraints, AnOverrideThatOneAlternativeDoesNotHaveIsAMistake) {
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

TEST_F(Constraints, ExpressionsComputeAttributesAndPrint) {
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

TEST_F(Constraints, ScalarOfIsTheNumberOfTheConstantThatIsThere) {
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

TEST_F(Constraints, BoundsOfAreTheNumbersOfTwoConstantsOrThoseOfNoBound) {
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
