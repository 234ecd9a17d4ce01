// The automaton and the matcher of plain rules against the general matcher, on random programs: the
// automaton lets every match through, and both matchers find the same one.
#include "drr/engine/automaton.h"

#include <gmock/gmock.h>

#include <random>

#include "drr/engine/rule_engine.h"
#include "drr/engine/rule_set.h"
#include "ir/walk.h"
#include "unittests/drr/cpp/language_test_util.h"

namespace weft::drr {
namespace {

using ir::Operation;
using ir::Value;

// A rule of every kind that is matched by steps, and some that are not.
using RuleBody = std::function<void(SourcePattern&, ResultPattern&)>;
std::vector<RuleBody> Bodies() {
  return {
      [](SourcePattern& src, ResultPattern& res) {  // both orders of two commutative ops
        auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z");
        auto out = src.Op<toy::Add>()(src.Op<toy::Mul>()(x, src.Op<toy::Relu>()(y)), z);
        res.Tensor(out) = res.Op<toy::Sub>()(x, res.Op<toy::Add>()(y, z));
      },
      [](SourcePattern& src, ResultPattern& res) {  // one value twice
        auto x = src.Tensor("x");
        auto t = src.Op<toy::Tanh>()(x);
        auto out = src.Op<toy::Mul>()(t, t);
        res.Tensor(out) = res.Op<toy::Relu>()(x);
      },
      [](SourcePattern& src, ResultPattern& res) {  // kept intermediate, equal leaves
        auto x = src.Tensor("x"), y = src.Tensor("y");
        auto out = src.Op<toy::Sub>()(src.Keep(src.Op<toy::Add>()(x, y)), y);
        res.Tensor(out) = x;
      },
      [](SourcePattern& src, ResultPattern& res) {  // alternatives and a constraint
        auto x = src.Tensor("x"), y = src.Tensor("y");
        auto out = src.Op<toy::Add>()(src.OneOf<toy::Relu, toy::Tanh>()(x), y);
        src.RequireNativeCall("y is an argument", [=](const MatchContext& m) {
          return m[y].value().IsBlockArgument();
        });
        res.Tensor(out) = res.Op<toy::Sub>()(x, y);
      },
      [](SourcePattern& src, ResultPattern& res) {  // literal, variable and absent operand
        auto a = src.Attr<int64_t>("a");
        auto x = src.Tensor("x");
        auto out = src.Op<toy::Norm>({.axis = a})(
            src.Op<toy::Norm>({.axis = a, .epsilon = Any()})(x, src.None(), src.None()));
        res.Tensor(out) = res.Op<toy::Norm>({.axis = a})(x);
      },
      [](SourcePattern& src, ResultPattern& res) {  // either
        auto x = src.Tensor("x"), y = src.Tensor("y");
        auto out =
            src.Op<toy::Relu>()(src.Either(src.Op<toy::Sub>()(x, y), src.Op<toy::Mul>()(x, y)));
        res.Tensor(out) = res.Op<toy::Sub>()(x, y);
      },
      [](SourcePattern& src, ResultPattern& res) {  // an op of any name with traits
        auto x = src.Tensor("x"), y = src.Tensor("y");
        auto f = src.AnyOp(ir::kCommutative);
        auto out = f(src.Op<toy::Tanh>()(x), src.Keep(src.Op<toy::Relu>()(y)));
        res.Tensor(out) = res.Like(f)(x, y);
      },
  };
}

class Automaton : public Language {
 protected:
  Value RandomOp(std::mt19937& random, const std::vector<Value>& values) {
    const auto pick = [&] {  // the newest, a late one or an argument, so that patterns come about
      const size_t kinds = random() % 4;
      if (kinds < 2) return values.back();
      return kinds == 2 ? values[random() % 3] : values[values.size() - 1 - random() % 3];
    };
    const Value v = pick(), w = pick();
    switch (random() % 7) {
      case 0:
        return b.Make<toy::Relu>({v});
      case 1:
        return b.Make<toy::Tanh>({v});
      case 2:
        return b.Make<toy::Add>({v, w});
      case 3:
        return b.Make<toy::Mul>({v, w});
      case 4:
        return b.Make<toy::Sub>({v, w});
      case 5:
        return b.Make<toy::Mul>({v, v});
      default:
        return b.Make<toy::Norm>({v}, {.axis = static_cast<int64_t>(random() % 2)});
    }
  }
};

TEST_F(Automaton, LosesNoMatchAndPlainMatchersFindTheSameOne) {
  RewritePatternSet set(&context);
  for (const RuleBody& body : Bodies()) set.Add(Rule(body).Build(&context));
  ASSERT_THAT(set.errors(), testing::IsEmpty());
  const FrozenRewritePatternSet frozen(std::move(set));
  std::mt19937 random(7);
  std::vector<Value> values{x, y, z};
  for (int i = 0; i < 20000; ++i) values.push_back(RandomOp(random, values));

  std::vector<TreeAutomaton::State> states(program.op_slots());
  const ir::GraphView view(&program);
  std::vector<uint64_t> found(frozen.rules().size());
  ir::Walk(program, [&](Operation op) {
    states[op.id()] = frozen.automaton().Label(view, op.id(), states.data());
    const auto accepted = frozen.automaton().Accepted(states[op.id()]);
    for (uint32_t r : frozen.StartingAt(op.opcode())) {
      const drr::Rule& rule = *frozen.rules()[r];
      MatchContext expected(&rule), match(&rule);
      const bool matches = Matcher(rule).Match(op, &expected);
      found[r] += matches;
      if (matches) {
        EXPECT_THAT(accepted, testing::Contains(r)) << "rule " << r << " at " << op.id();
      }
      if (!PlainMatcher::Supports(rule)) continue;
      PlainMatch shared;
      PlainMatcher plain(rule, &shared);
      ASSERT_EQ(plain.Match(view, op.id(), &match), matches) << "rule " << r << " at " << op.id();
      if (!matches) continue;
      plain.Fill(&match);
      for (ValueId v : rule.graph.values.ids()) EXPECT_EQ(match.value(v), expected.value(v));
      for (OpId o : rule.graph.ops.ids()) EXPECT_EQ(match.op(o), expected.op(o));
    }
  });
  EXPECT_THAT(found, testing::Each(testing::Gt(3u)));
  // Few states for many operations: that is the point of it.
  EXPECT_LT(frozen.automaton().num_states(), 200u);
}

TEST_F(Automaton, KnowsWhereAnOpOfAnyNameWithTraitsMayMatch) {
  RewritePatternSet set(&context);
  set.Add(Rule([](SourcePattern& src, ResultPattern& res) {
            auto x = src.Tensor("x"), y = src.Tensor("y");
            auto f = src.AnyOp(ir::kCommutative);
            auto out = f(src.Op<toy::Relu>()(x), y);
            res.Tensor(out) = res.Like(f)(x, y);
          }).Build(&context));
  ASSERT_THAT(set.errors(), testing::IsEmpty());
  const FrozenRewritePatternSet frozen(std::move(set));
  const Value relu = b.Make<toy::Relu>({x});
  b.Make<toy::Add>({y, relu});
  b.Make<toy::Mul>({relu, z});
  b.Make<toy::Sub>({relu, z});
  b.Make<toy::Add>({x, y});
  const ir::GraphView view(&program);
  std::vector<TreeAutomaton::State> states(program.op_slots());
  std::vector<bool> accepts;
  ir::Walk(program, [&](Operation op) {
    states[op.id()] = frozen.automaton().Label(view, op.id(), states.data());
    accepts.push_back(frozen.automaton().Flags(states[op.id()]) & TreeAutomaton::kAccepts);
  });
  EXPECT_THAT(accepts, testing::ElementsAre(false, true, true, false, false));
  EXPECT_FALSE(frozen.automaton().IsInexact(view.opcode(relu.DefiningOp().id())));
}

TEST_F(Automaton, KnowsWhichOpsAreBoundBesideSkippedOnesAndExclusions) {
  RewritePatternSet set(&context);
  set.Add(Rule([](SourcePattern& src, ResultPattern& res) {  // not(t) is any op, of what is open
            auto x = src.Tensor("x"), y = src.Tensor("y");
            auto out = src.Op<toy::Tanh>()(src.Op<toy::Relu>()(src.Not(x, src.AnyOp()(y))));
            res.Tensor(out) = x;
          })
              .Build(&context));
  set.Add(Rule([](SourcePattern& src, ResultPattern& res) {
            auto x = src.Tensor("x");
            auto out = src.Op<toy::Sub>()(x, x);
            res.Tensor(out) = x;
          }).Build(&context));
  ASSERT_THAT(set.errors(), testing::IsEmpty());
  const FrozenRewritePatternSet frozen(std::move(set));
  const auto is_inexact = [&](Value value) {
    const ir::GraphView view(&program);
    return frozen.automaton().IsInexact(view.opcode(value.DefiningOp().id()));
  };
  const Value relu = b.Make<toy::Relu>({x});
  EXPECT_TRUE(is_inexact(relu));
  EXPECT_FALSE(is_inexact(b.Make<toy::Tanh>({relu})));  // nothing above it is in a match
  EXPECT_FALSE(is_inexact(b.Make<toy::Sub>({x, x})));
  EXPECT_FALSE(is_inexact(b.Make<toy::Add>({x, y})));
}

TEST_F(Automaton, TakesEveryOpForBoundWhereOneOfAnyNameIs) {
  RewritePatternSet set(&context);
  set.Add(Rule([](SourcePattern& src, ResultPattern& res) {
            auto x = src.Tensor("x");
            auto out = src.Op<toy::Relu>()(src.AnyOp()(x));
            res.Tensor(out) = x;
          }).Build(&context));
  ASSERT_THAT(set.errors(), testing::IsEmpty());
  const FrozenRewritePatternSet frozen(std::move(set));
  const ir::GraphView view(&program);
  const Value sum = b.Make<toy::Add>({x, y});
  EXPECT_TRUE(frozen.automaton().IsInexact(view.opcode(sum.DefiningOp().id())));
}

}  // namespace
}  // namespace weft::drr
