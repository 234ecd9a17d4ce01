// Words of the vocabulary in C++ rules: what they refuse, how they read, what they compute once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
using toy::Tanh;

class Constraints : public Words {};

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

TEST(BoundSize, IsComparedOnlyWhereItIsKnown) {
  const BoundSize three(3), four(4), n(ir::SymbolicDim("n")), m(ir::SymbolicDim("m")),
      unknown(ir::kUnknownDim);
  EXPECT_TRUE(three == 3 && three == three && three != four && three < four && four >= 4);
  EXPECT_TRUE(three + 4 == 7 && 7 - three == four && four % 2 == 0 && four / three == 1);
  EXPECT_TRUE(n == n);
  EXPECT_FALSE(n == m || n == 3 || unknown == unknown || unknown == 3);
  for (const BoundSize size : {n, m, unknown}) {
    EXPECT_FALSE(size < 5 || size > -9 || size <= 5 || size >= -9 || size < three || three < size);
    EXPECT_FALSE(size % 2 == 0 || size * 0 == 0 || size - size == 0 || 2 * size == 2 * size);
  }
  EXPECT_EQ(int64_t{three}, 3);
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

}  // namespace
}  // namespace weft::drr
