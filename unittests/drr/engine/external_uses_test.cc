// What is around a match: other readers of its values and further roots; and what runs after the
// replacement.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;
using testing::ElementsAre;
using testing::HasSubstr;
using toy::Norm;
using toy::Pair;
using toy::Relu;
using toy::Scale;
using toy::Sub;
using toy::Tanh;

// --- other readers ---------------------------------------------------------------------------

class Escapes : public Language {};

TEST_F(Escapes, ARecomputedValueAndAllBelowMayBeReadByOthers) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(src.Op<Scale>()(x));
    auto out = src.Op<Relu>()(src.Recompute(t));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  auto keep = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto t = src.Op<Tanh>()(src.Op<Scale>()(x));
    auto out = src.Op<Relu>()(src.Keep(t));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value s = b.Make<Scale>({x}), t = b.Make<Tanh>({s}), r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"t", t}, {"s", s}});
  EXPECT_EQ(Try(r.DefiningOp(), keep),
            "an intermediate value, result 0 of toy.scale, is also used by builtin.return");
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(0).Is<Norm>());
  EXPECT_TRUE(Output(1).Is<Tanh>());
  EXPECT_TRUE(Output(2).Is<Scale>());
}

TEST_F(Escapes, ARecomputedValueThatNobodyElseReadsGoes) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<Relu>()(src.Recompute(src.Op<Tanh>()(src.Op<Scale>()(x))));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value s = b.Make<Scale>({x}), t = b.Make<Tanh>({s}), r = b.Make<Relu>({t});
  b.Return({{"r", r}, {"s", s}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_FALSE(t.IsAlive());
  EXPECT_TRUE(s.IsAlive());
}

TEST_F(Escapes, KeepOfAChoiceIsOfWhatWasChosen) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto either = src.Either(src.Op<Tanh>()(x), src.Op<Scale>()(x));
    auto out = src.Op<Relu>()(src.Keep(either));
    res.Tensor(out) = res.Op<Norm>({.axis = 0})(x);
  };
  const Value s = b.Make<Scale>({x}), r = b.Make<Relu>({s});
  b.Return({{"r", r}, {"s", s}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(1).Is<Scale>());
}

// --- further roots -----------------------------------------------------------------------------

class Joins : public Language {};

TEST_F(Joins, GoUpFromASharedValueThroughSeveralOps) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // relu(x), tanh(scale(norm(x))) => pair
    auto x = src.Tensor("x");
    auto first = src.Op<Relu>()(x);
    auto second = src.Op<Tanh>()(src.Op<Scale>()(src.Op<Norm>({.axis = 1})(x)));
    auto [p, q] = res.Op<Pair>()(x, x, x);
    res.Tensor(first) = p;
    res.Tensor(second) = q;
  };
  const Value decoy = b.Make<Relu>({b.Make<Norm>({x}, {.axis = 1})});
  const Value r = b.Make<Relu>({x});
  const Value t = b.Make<Tanh>({b.Make<Scale>({b.Make<Norm>({x}, {.axis = 1})})});
  const Value alone = b.Make<Relu>({y});
  b.Return({{"r", r}, {"t", t}, {"decoy", decoy}, {"alone", alone}});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(0).Is<Pair>());
  EXPECT_EQ(Output(0), Output(1));
  EXPECT_TRUE(Output(2).Is<Relu>());
  EXPECT_EQ(Try(alone.DefiningOp(), rule), "no toy.norm beside it reads 'x'");
}

TEST_F(Joins, OfThreeRootsAreFoundInTurn) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // x - y, y - z, z - x
    auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z");
    auto a = src.Op<Sub>()(x, y);
    auto c = src.Op<Sub>()(z, x);
    auto d = src.Op<Sub>()(y, z);
    auto [p, q] = res.Op<Pair>()(x, y, z);
    res.Tensor(a) = p;
    res.Tensor(d) = q;
    res.Tensor(c) = x;
  };
  const Value a = b.Make<Sub>({x, y}), wrong = b.Make<Sub>({y, y});
  const Value d = b.Make<Sub>({y, z}), c = b.Make<Sub>({z, x});
  b.Return({{"a", a}, {"d", d}, {"c", c}, {"wrong", wrong}});
  EXPECT_EQ(Try(a.DefiningOp(), rule), "");
  EXPECT_TRUE(Output(0).Is<Pair>());
  EXPECT_TRUE(Output(1).Is<Pair>());
  EXPECT_EQ(program.body().Terminator().operand(2), x);
}

TEST_F(Joins, TryABoundedNumberOfReaders) {
  auto rule = [](SourcePattern& src, ResultPattern& res) {  // relu(x), norm(x, 7)
    auto x = src.Tensor("x");
    auto first = src.Op<Relu>()(x), second = src.Op<Norm>({.axis = 7})(x);
    res.Tensor(first) = x;
    res.Tensor(second) = x;
  };
  const Value r = b.Make<Relu>({x});
  std::vector<std::pair<std::string, Value>> outputs{{"r", r}};
  for (uint32_t i = 0; i <= Matcher::kMaxJoinCandidates; ++i)
    outputs.emplace_back("n" + std::to_string(i), b.Make<Norm>({x}, {.axis = 1}));
  b.Return(outputs);
  EXPECT_THAT(Try(r.DefiningOp(), rule), HasSubstr("attribute axis of toy.norm"));
  b.SetInsertionPoint(program.body().Terminator());
  b.Make<Norm>({x}, {.axis = 7});
  EXPECT_EQ(Try(r.DefiningOp(), rule), "");  // the newest reader is tried first
}

TEST_F(Joins, RootsThatShareNothingAreAMistake) {
  EXPECT_THAT(
      Errors([](SourcePattern& src, ResultPattern& res) {
        auto x = src.Tensor("x"), y = src.Tensor("y");
        auto first = src.Op<Relu>()(x), second = src.Op<Tanh>()(y);
        res.Tensor(first) = y;
        res.Tensor(second) = x;
      }),
      testing::Contains(HasSubstr("toy.tanh shares no value with the rest of the pattern")));
}

// --- afterwards --------------------------------------------------------------------------------

class Hooks : public Language {};

TEST_F(Hooks, RunOnceTheMatchIsReplaced) {
  std::vector<std::string> seen;
  auto rule = [&seen](SourcePattern& src, ResultPattern& res) {
    auto axis = src.Attr<int64_t>("axis");
    auto x = src.Tensor("x");
    auto inner = src.Op<Tanh>()(x);
    auto out = src.Op<Norm>({.axis = axis})(inner);
    src.RequireNativeCall("axis is even", [=](const MatchContext& m) { return m[axis] % 2 == 0; });
    auto scale = res.Op<Scale>();
    auto y = scale(x);
    res.Tensor(out) = res.Op<Relu>()(y);
    res.PostProcess([=, &seen](PostContext& p) {
      for (Operation op : p.created()) seen.emplace_back(op.name());
      seen.emplace_back(p[inner].value() ? "tanh is there" : "tanh is gone");
      EXPECT_EQ(p[x].value(), p[scale].operand(0));
      EXPECT_EQ(p[y], p[scale].result());
      p.rewriter().SetAttr(p[scale], "axis", p.context()->IntAttr(p[axis]));
    });
    res.PostProcess([=](PostContext& p) { p.rewriter().program()->SetName(p[y], "scaled"); });
  };
  const Value odd = b.Make<Norm>({b.Make<Tanh>({x})}, {.axis = 1});
  const Value even = b.Make<Norm>({b.Make<Tanh>({x})}, {.axis = 4});
  b.Return({{"odd", odd}, {"even", even}});
  EXPECT_EQ(Try(odd.DefiningOp(), rule), "does not hold: axis is even");
  EXPECT_THAT(seen, ElementsAre());
  EXPECT_EQ(Try(even.DefiningOp(), rule), "");
  EXPECT_THAT(seen, ElementsAre("toy.scale", "toy.relu", "tanh is gone"));
  EXPECT_EQ(Output(1).operand(0).DefiningOp().attrs_of<Scale>().axis, 4);
  EXPECT_EQ(Output(1).operand(0).name(), "scaled");
}

}  // namespace
}  // namespace weft::drr
