// The analysis of rule sets: bad sets are found, each with a program on which it happens.
#include "passes/analysis/analyse_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "drr/engine/matcher.h"
#include "ir/builder.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/greedy_driver.h"
#include "passes/rule_registry.h"
#include "unittests/passes/toy_rules.h"

namespace weft::passes {
namespace {

namespace toy = drr::toy;
using drr::AnyAttrs;
using drr::MatchContext;
using drr::ResultPattern;
using drr::SourcePattern;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// sub(x, y) => sub(y, x)
struct SwapSub : ToyRule<SwapSub> {
  static constexpr std::string_view kName = "swap-sub";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x"), y = src.Tensor("y");
    res.Tensor(src.Op<toy::Sub>()(x, y)) = res.Op<toy::Sub>()(y, x);
  }
};
// scale(x, a) => scale(x, a + 1)
struct CountUp : ToyRule<CountUp> {
  static constexpr std::string_view kName = "count-up";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto a = src.Attr<int64_t>("a");
    auto x = src.Tensor("x");
    res.Tensor(src.Op<toy::Scale>({.axis = a})(x)) =
        res.Op<toy::Scale>({.axis = [=](const MatchContext& m) { return m[a] + 1; }})(x);
  }
};
// tanh(x) => relu(x), whatever x is
struct TanhToRelu : ToyRule<TanhToRelu> {
  static constexpr std::string_view kName = "tanh-to-relu";
  static constexpr int kBenefit = 10;
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    res.Tensor(src.Op<toy::Tanh>()(x)) = res.Op<toy::Relu>()(x);
  }
};
// tanh(tanh(x)) => tanh(x)
struct TanhOnce : ToyRule<TanhOnce> {
  static constexpr std::string_view kName = "tanh-once";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto inner = src.Keep(src.Op<toy::Tanh>()(src.Tensor("x")));
    res.Tensor(src.Op<toy::Tanh>()(inner)) = inner;
  }
};
// relu(x) => tanh(x) for an x of rank 7, which nobody has
struct NeedsRank7 : ToyRule<NeedsRank7> {
  static constexpr std::string_view kName = "needs-rank-7";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    src.RequireNativeCall("x has rank 7", [=](const MatchContext& m) { return m[x].rank() == 7; });
    res.Tensor(src.Op<toy::Relu>()(x)) = res.Op<toy::Tanh>()(x);
  }
};

// relu(tanh or scale, one or more times) => relu
struct DropChain : ToyRule<DropChain> {
  static constexpr std::string_view kName = "drop-chain";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    auto chain = src.Repeat<toy::Tanh, toy::Scale>(AnyAttrs(), {.min = 1})(x);
    res.Tensor(src.Op<toy::Relu>()(chain)) = res.Op<toy::Relu>()(x);
  }
};
// join(relu(x), relu(y), ...) => relu(join(x, y, ...))
struct JoinFirst : ToyRule<JoinFirst> {
  static constexpr std::string_view kName = "join-first";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto xs = src.Tensors("xs");
    auto join = src.Op<toy::Join>(AnyAttrs());
    res.Tensor(join(src.Op<toy::Relu>().Each(xs))) =
        res.Op<toy::Relu>()(res.Op<toy::Join>(drr::AttrsOf(join))(xs));
  }
};
// any commutative op of x and x => x
struct DropAny : ToyRule<DropAny> {
  static constexpr std::string_view kName = "drop-any";
  static void Body(SourcePattern& src, ResultPattern& res) {
    auto x = src.Tensor("x");
    res.Tensor(src.AnyOp(ir::kCommutative)(x, x)) = x;
  }
};

class AnalyseRules : public testing::Test {
 protected:
  AnalyseRules() { toy::Load(context); }
  template <class... Rules>
  RuleAnalysis Analyse(const AnalysisOptions& options = {}) {
    return passes::AnalyseRules(context, FreezeRules<Rules...>(context), options);
  }
  // The witness, read back and rewritten by the driver.
  template <class... Rules>
  absl::StatusOr<GreedyRewriteResult> RunWitness(const RuleFinding& finding) {
    auto program = ir::ParseProgram(context, finding.witness, {});
    EXPECT_TRUE(program.ok()) << finding.witness;
    if (!program.ok()) return program.status();
    return ApplyPatternsGreedily(**program, FreezeRules<Rules...>(context), {});
  }
  ir::IrContext context;
};

TEST_F(AnalyseRules, NamesTwoRulesThatUndoEachOther) {
  const RuleAnalysis analysis = Analyse<AddToMul, TanhOnce, MulToAdd>();
  ASSERT_EQ(analysis.findings.size(), 1u);
  const RuleFinding& finding = analysis.findings[0];
  EXPECT_EQ(finding.kind, RuleFinding::kUndo);
  EXPECT_THAT(finding.rules, UnorderedElementsAre("add-to-mul", "mul-to-add"));
  EXPECT_EQ(analysis.analysed, 3u);
  EXPECT_FALSE((RunWitness<AddToMul, MulToAdd>(finding)).ok());
  EXPECT_TRUE((RunWitness<AddToMul>(finding)).ok());
  EXPECT_TRUE((RunWitness<MulToAdd>(finding)).ok());
}

TEST_F(AnalyseRules, NamesARuleThatUndoesItself) {
  const RuleAnalysis analysis = Analyse<SwapSub>();
  ASSERT_EQ(analysis.findings.size(), 1u);
  EXPECT_EQ(analysis.findings[0].kind, RuleFinding::kUndo);
  EXPECT_THAT(analysis.findings[0].rules, ElementsAre("swap-sub"));
  EXPECT_FALSE(RunWitness<SwapSub>(analysis.findings[0]).ok());
}

TEST_F(AnalyseRules, NamesARuleThatGrowsWithoutEnd) {
  const RuleAnalysis analysis = Analyse<GrowRelu, AddToMul>();
  ASSERT_EQ(analysis.findings.size(), 1u);
  EXPECT_EQ(analysis.findings[0].kind, RuleFinding::kGrowth);
  EXPECT_THAT(analysis.findings[0].rules, ElementsAre("grow-relu"));
  EXPECT_FALSE(RunWitness<GrowRelu>(analysis.findings[0]).ok());
}

TEST_F(AnalyseRules, TellsGrowthFromCountingOn) {
  const RuleAnalysis analysis = Analyse<CountUp>();
  ASSERT_EQ(analysis.findings.size(), 1u);
  EXPECT_EQ(analysis.findings[0].kind, RuleFinding::kEndless);
  EXPECT_FALSE(RunWitness<CountUp>(analysis.findings[0]).ok());
}

TEST_F(AnalyseRules, NamesTheRuleThatShadowsAnother) {
  const RuleAnalysis analysis = Analyse<TanhOnce, TanhToRelu>();
  ASSERT_EQ(analysis.findings.size(), 1u);
  const RuleFinding& finding = analysis.findings[0];
  EXPECT_EQ(finding.kind, RuleFinding::kShadowed);
  EXPECT_THAT(finding.rules, ElementsAre("tanh-once", "tanh-to-relu"));
  const auto run = RunWitness<TanhOnce, TanhToRelu>(finding);
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->rules[0].applied, 0u);
  EXPECT_EQ(run->rules[1].applied, 2u);
  const auto alone = RunWitness<TanhOnce>(finding);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->rules[0].applied, 1u);
}

TEST_F(AnalyseRules, FindsNothingInASetThatIsGood) {
  const RuleAnalysis analysis = Analyse<TanhOnce, AddToMul>();
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_THAT(analysis.not_analysed, IsEmpty());
}

TEST_F(AnalyseRules, ListsARuleForWhichThereIsNoProgram) {
  const RuleAnalysis analysis = Analyse<NeedsRank7, TanhOnce>({.instances = {.attempts = 200}});
  ASSERT_EQ(analysis.not_analysed.size(), 1u);
  EXPECT_EQ(analysis.not_analysed[0].rule, "needs-rank-7");
  EXPECT_EQ(analysis.not_analysed[0].why, "does not hold: x has rank 7");
  EXPECT_EQ(analysis.analysed, 1u);
}

TEST_F(AnalyseRules, ProgramsOfTheCallerStandInForThoseThatCannotBeMade) {
  AnalysisOptions options{.instances = {.attempts = 50}};
  options.seeds = [&](const drr::Rule& rule) {
    std::vector<std::unique_ptr<ir::Program>> programs;
    if (rule.name != "needs-rank-7") return programs;
    programs.push_back(std::make_unique<ir::Program>(&context));
    ir::Builder b(programs[0].get());
    const ir::Type type = context.TensorType(ir::DataType::kF32, {1, 1, 1, 1, 1, 1, 2});
    b.Return({{"y", b.Make<toy::Relu>({b.AddInput("x", type)})}});
    return programs;
  };
  const RuleAnalysis analysis = Analyse<NeedsRank7, TanhToRelu>(options);
  EXPECT_EQ(analysis.analysed, 2u);
  ASSERT_EQ(analysis.findings.size(), 1u);  // which only the program of rank 7 shows
  EXPECT_EQ(analysis.findings[0].kind, RuleFinding::kUndo);
  EXPECT_THAT(analysis.findings[0].witness, HasSubstr("tensor<1x1x1x1x1x1x2xf32>"));
}

TEST_F(AnalyseRules, MakesChainsListsAndOpsOfAnyName) {
  const RuleAnalysis analysis = Analyse<DropChain, JoinFirst, DropAny>();
  EXPECT_EQ(analysis.analysed, 3u);
  for (const SkippedRule& rule : analysis.not_analysed) ADD_FAILURE() << rule.rule << rule.why;
  EXPECT_THAT(analysis.findings, IsEmpty());
}

TEST_F(AnalyseRules, InstancesMatchTheirRuleAndAreTheSameEveryTime) {
  const drr::BuildResult built = TanhOnce().Build(&context);
  std::vector<std::string> texts[2];
  for (auto& list : texts)
    for (const RuleInstance& instance : MakeInstances(*built.rule, {.wanted = 3}, nullptr)) {
      list.push_back(ir::PrintProgram(*instance.program));
      MatchContext match(built.rule.get());
      EXPECT_TRUE(drr::Matcher(*built.rule).Match(instance.site, &match));
    }
  EXPECT_EQ(texts[0].size(), 3u);
  EXPECT_EQ(texts[0], texts[1]);
}

}  // namespace
}  // namespace weft::passes
