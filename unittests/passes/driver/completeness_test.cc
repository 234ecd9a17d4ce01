// The greedy driver on random programs: it ends with a program on which the general matcher finds
// nothing more, in whatever order it works, and the paranoid mode agrees with every step.
#include <gmock/gmock.h>

#include <random>

#include "drr/engine/matcher.h"
#include "ir/analysis/verifier.h"
#include "ir/builder.h"
#include "ir/clone.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/greedy_driver.h"
#include "unittests/passes/toy_rules.h"

namespace weft::passes {
namespace {

namespace toy = drr::toy;
using drr::ResultPattern;
using drr::SourcePattern;
using ir::Operation;
using ir::Value;

// Every rule leaves fewer operations, so any order ends.

// tanh(relu(x)) => relu(x), only where nobody else reads the relu
struct TanhOfRelu : ToyRule<TanhOfRelu> {
  static constexpr std::string_view kName = "tanh-of-relu";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto out = src.Op<toy::Tanh>()(src.Op<toy::Relu>()(x));
    res.Tensor(out) = res.Op<toy::Relu>()(x);
  }
};

// add(mul(x, tanh(y)), z) => mul(x, z)
struct Deep : ToyRule<Deep> {
  static constexpr std::string_view kName = "deep";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z");
    auto out = src.Op<toy::Add>()(src.Op<toy::Mul>()(x, src.Op<toy::Tanh>()(y)), z);
    res.Tensor(out) = res.Op<toy::Mul>()(x, z);
  }
};

// mul(t, t) with t = add(x, x) => relu(x), t may have other readers
struct Square : ToyRule<Square> {
  static constexpr std::string_view kName = "square";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto t = src.Keep(src.Op<toy::Add>()(x, x));
    auto out = src.Op<toy::Mul>()(t, t);
    res.Tensor(out) = res.Op<toy::Relu>()(x);
  }
};

// add(x, relu(... relu(tanh(y)))) => relu(x), with any number of relus
struct ThroughRelus : ToyRule<ThroughRelus> {
  static constexpr std::string_view kName = "through-relus";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    auto out = src.Op<toy::Add>()(x, src.Skip<toy::Relu>(src.Op<toy::Tanh>()(y)));
    res.Tensor(out) = res.Op<toy::Relu>()(x);
  }
};

// tanh(tanh(x)) => tanh(x), where x is no product of a sum
struct TanhTwice : ToyRule<TanhTwice> {
  static constexpr std::string_view kName = "tanh-twice";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y"), z = src.Tensor("z"), any = src.Tensor("any");
    auto product = src.Op<toy::Mul>()(src.Op<toy::Add>()(y, z), any);
    auto out = src.Op<toy::Tanh>()(src.Op<toy::Tanh>()(src.Not(x, product)));
    res.Tensor(out) = res.Op<toy::Tanh>()(x);
  }
};

class DriverCompleteness : public testing::Test {
 protected:
  DriverCompleteness() { toy::Load(context); }

  std::unique_ptr<ir::Program> RandomProgram(uint32_t seed, int size) {
    auto program = std::make_unique<ir::Program>(&context);
    ir::Builder b(program.get());
    std::mt19937 random(seed);
    std::vector<Value> values{b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3})),
                              b.AddInput("y", context.TensorType(ir::DataType::kF32, {2, 3}))};
    for (int i = 0; i < size; ++i) {
      const auto pick = [&] {
        return values[random() % 3
                          ? values.size() - 1 - random() % std::min<size_t>(values.size(), 3)
                          : random() % values.size()];
      };
      const Value v = pick(), w = pick();
      switch (random() % 6) {
        case 0:
          values.push_back(b.Make<toy::Tanh>({v}));
          break;
        case 1:
          values.push_back(b.Make<toy::Relu>({v}));
          break;
        case 2:
          values.push_back(b.Make<toy::Add>({v, v}));
          break;
        case 3:
          values.push_back(b.Make<toy::Add>({v, w}));
          break;
        case 4:
          values.push_back(b.Make<toy::Mul>({v, v}));
          break;
        default:
          values.push_back(b.Make<toy::Mul>({v, w}));
      }
    }
    b.Return({{"a", values.back()}, {"b", values[values.size() / 2]}});
    return program;
  }

  drr::FrozenRewritePatternSet Rules() {
    return FreezeRules<TanhOfRelu, Deep, Square, ReluOnce>(context);
  }
  // Parts of matches lie below ops that states do not model.
  drr::FrozenRewritePatternSet InexactRules() {
    return FreezeRules<TanhTwice, ThroughRelus, Deep, ReluOnce>(context);
  }
  void ExpectNothingIsLeft(const drr::FrozenRewritePatternSet& rules);

  ir::IrContext context;
};

void DriverCompleteness::ExpectNothingIsLeft(const drr::FrozenRewritePatternSet& rules) {
  std::vector<uint64_t> applied(rules.rules().size());
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const auto program = RandomProgram(seed, 60);
    GreedyRewriteConfig config;
    config.use_top_down_traversal = seed % 3 == 1;
    config.seed = seed % 3 == 2 ? seed : 0;
    const auto result = ApplyPatternsGreedily(*program, rules, config);
    ASSERT_TRUE(result.ok()) << result.status().message();
    ASSERT_EQ(ir::Verify(*program).message(), "");
    for (size_t r = 0; r < applied.size(); ++r) applied[r] += result->rules[r].applied;
    ir::Walk(*program, [&](Operation op) {
      EXPECT_FALSE(op.num_results() > 0 && op.IsUnused()) << "dead, seed " << seed;
      for (uint32_t r : rules.StartingAt(op.opcode())) {
        drr::MatchContext match(rules.rules()[r].get());
        EXPECT_FALSE(drr::Matcher(*rules.rules()[r]).Match(op, &match))
            << rules.rules()[r]->name << " still matches, seed " << seed << "\n"
            << ir::PrintProgram(*program);
      }
    });
  }
  EXPECT_THAT(applied, testing::Each(testing::Gt(10u)));
}

TEST_F(DriverCompleteness, NothingIsLeftThatTheGeneralMatcherFinds) {
  ExpectNothingIsLeft(Rules());
}

TEST_F(DriverCompleteness, NothingIsLeftOfRulesThatStatesDoNotModel) {
  ExpectNothingIsLeft(InexactRules());
}

// What is changed far below is seen by the op that reads it, not by all that lie above that.
TEST_F(DriverCompleteness, UsersOfARootAreNotTriedAgain) {
  ir::Program program(&context);
  ir::Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  Value sum = b.Make<toy::Relu>({b.Make<toy::Relu>({x})});
  constexpr int kSums = 10;
  for (int i = 0; i < kSums; ++i) sum = b.Make<toy::Add>({sum, b.Make<toy::Mul>({x, x})});
  b.Return({{"a", sum}});
  const drr::FrozenRewritePatternSet rules = FreezeRules<ThroughRelus, ReluOnce>(context);
  const auto result = ApplyPatternsGreedily(program, rules, {.collect_statistics = true});
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->rules[1].applied, 1u);
  EXPECT_EQ(result->rules[0].tried, 1u + kSums);
}

TEST_F(DriverCompleteness, ParanoidModeFindsNothingWrong) {
  const drr::FrozenRewritePatternSet rules = Rules();
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto program = RandomProgram(seed, 40);
    const auto result = ApplyPatternsGreedily(
        *program, rules, {.collect_statistics = true, .paranoid = true, .seed = seed});
    EXPECT_TRUE(result.ok()) << result.status().message();
  }
}

TEST_F(DriverCompleteness, StatisticsCountWhyMatchesAreRefused) {
  ir::Program program(&context);
  ir::Builder b(&program);
  const Value x = b.AddInput("x", context.TensorType(ir::DataType::kF32, {2, 3}));
  const Value relu = b.Make<toy::Relu>({x});
  b.Return({{"a", b.Make<toy::Tanh>({relu})}, {"b", relu}});
  const drr::FrozenRewritePatternSet rules = Rules();
  const auto result = ApplyPatternsGreedily(program, rules, {.collect_statistics = true});
  ASSERT_TRUE(result.ok());
  const RuleStatistics& tanh = result->rules[0];
  EXPECT_EQ(tanh.tried, 1u);
  EXPECT_EQ(tanh.matched, 0u);
  ASSERT_EQ(tanh.declines.size(), 1u);
  EXPECT_THAT(tanh.declines[0].first, testing::HasSubstr("also used by builtin.return"));
  EXPECT_EQ(tanh.declines[0].second, 1u);
}

}  // namespace
}  // namespace weft::passes
