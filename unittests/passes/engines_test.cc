// The rule engine has a fast path for the most common rules and a general one for all: whatever rule
// and program, both matchers find the same and both appliers make the same of it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "drr/rule_file.h"
#include "drr/text/rule_text.h"
#include "ir/analysis/verifier.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "passes/greedy_driver.h"
#include "passes/rule_registry.h"
#include "unittests/drr/engine/toy_ops.h"
#include "unittests/drr/engine/use_lists.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using drr::FastPath;
using drr::FrozenRewritePatternSet;

const std::string kGolden = fixtures::TestData("/passes");
const std::string kLanguageGolden = fixtures::TestData("/drr/golden");

// What one run made of a program, in text; nothing where no operation may match.
struct Outcome {
  std::string program, uses, statistics;
  bool tried = false, applied = false;
};

class BigEngines : public testing::Test {
 protected:
  BigEngines() {
    fixtures::LoadGoldenDialects(context_);
    drr::toy::Load(context_);  // other tests of this program register rules on it
    for (const std::string& folder : {kGolden, kLanguageGolden})
      for (const std::string& file : fixtures::GoldenFiles(folder))
        ReadProgram(folder + "/" + file);
  }

  void ReadProgram(const std::string& path) {
    auto file = fixtures::ReadGoldenFile(path);
    ASSERT_TRUE(file.ok()) << path;
    if (!file->rules_file.empty()) rule_files_[file->rules_file] = true;
    auto program = fixtures::ParseGoldenProgram(*file, context_);
    ASSERT_TRUE(program.ok()) << path;
    programs_.emplace_back(path, std::move(*program));
  }

  // A set of this rule alone.
  static FrozenRewritePatternSet SetOf(ir::IrContext& context, drr::BuildResult built) {
    drr::RewritePatternSet set(&context);
    set.Add(std::move(built));
    EXPECT_TRUE(set.errors().empty());
    return FrozenRewritePatternSet(std::move(set));
  }

  static Outcome Run(ir::Program& original, const FrozenRewritePatternSet& set,
                     const GreedyRewriteConfig& config) {
    const std::unique_ptr<ir::Program> program = original.Clone();
    Outcome outcome;
    const auto result = ApplyPatternsGreedily(*program, set, config);
    if (!result.ok()) {
      outcome.statistics = std::string(ir::Message(result.status()));
      outcome.tried = outcome.applied = true;
    } else {
      for (const RuleStatistics& rule : result->rules) {
        outcome.tried |= rule.tried > 0;
        outcome.applied |= rule.applied > 0;
        if (rule.tried > 0)
          outcome.statistics += rule.rule + ": matched " + std::to_string(rule.matched) +
                                ", declined " + std::to_string(rule.declined) + " (" +
                                rule.last_decline + "), applied " + std::to_string(rule.applied) +
                                ", created " + std::to_string(rule.ops_created) + ", erased " +
                                std::to_string(rule.ops_erased) + "\n";
      }
    }
    if (!outcome.tried) return outcome;
    EXPECT_TRUE(ir::Verify(*program).ok());
    outcome.program = ir::PrintProgram(*program, {.locations = true});
    outcome.uses = drr::UseLists(*program);
    return outcome;
  }

  // On every program; one that no operation of may match is not run again.
  void Compare(const FrozenRewritePatternSet& set, const std::string& what,
               uint64_t max_rewrites = 0) {
    for (const auto& [path, program] : programs_) {
      const Outcome fast = Run(*program, set, {.max_rewrites = max_rewrites});
      if (!fast.tried) continue;
      ++tried_;
      applied_ += fast.applied;
      for (const FastPath less : {FastPath::kMatcher, FastPath::kNone}) {
        const Outcome general =
            Run(*program, set, {.max_rewrites = max_rewrites, .fast_path = less});
        const std::string where =
            what + " on " + path +
            (less == FastPath::kNone ? ", both general" : ", general applier");
        ASSERT_EQ(general.program, fast.program) << where;
        ASSERT_EQ(general.uses, fast.uses) << where;
        ASSERT_EQ(general.statistics, fast.statistics) << where;
      }
    }
  }

  ir::IrContext context_;
  std::vector<std::pair<std::string, std::unique_ptr<ir::Program>>> programs_;
  std::map<std::string, bool> rule_files_;
  size_t tried_ = 0, applied_ = 0;
};

TEST_F(BigEngines, DoTheSameWithEveryRegisteredRule) {
  for (const RegisteredRule& rule : RegisteredRules()) {
    Compare(SetOf(context_, rule.build(&context_)), std::string(rule.name));
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(tried_, 1000u);
  EXPECT_GT(applied_, 300u);
}

TEST_F(BigEngines, DoTheSameWithEveryRuleThatIsReadBackFromItsText) {
  for (const RegisteredRule& registered : RegisteredRules()) {
    drr::BuildResult built = registered.build(&context_), again;
    const std::string text = drr::text::PrintRule(*built.rule);
    if (text.find("native") != std::string::npos) continue;
    drr::text::RuleFile file = drr::text::ReadRules(text, "printed", &context_);
    ASSERT_EQ(file.rules.size(), 1u) << text << testing::PrintToString(file.errors);
    again.rule = ir::Owned<drr::Rule>(file.rules[0].release());
    const FrozenRewritePatternSet rule = SetOf(context_, std::move(built));
    const FrozenRewritePatternSet read_back = SetOf(context_, std::move(again));
    for (const auto& [path, program] : programs_) {
      const Outcome expected = Run(*program, rule, {}), actual = Run(*program, read_back, {});
      ASSERT_EQ(actual.program, expected.program) << registered.name << " on " << path;
      ASSERT_EQ(actual.statistics, expected.statistics) << registered.name << " on " << path;
      tried_ += expected.tried;
      applied_ += expected.applied;
    }
  }
  EXPECT_GT(tried_, 500u);
  EXPECT_GT(applied_, 150u);
}

TEST_F(BigEngines, DoTheSameWithAllRegisteredRulesTogether) {
  drr::RewritePatternSet rules(&context_);
  for (const RegisteredRule& rule : RegisteredRules())
    if (!rule.opt_in) rules.Add(rule.build(&context_));
  ASSERT_TRUE(rules.errors().empty());
  Compare(FrozenRewritePatternSet(std::move(rules)), "all rules");
  EXPECT_GT(applied_, 300u);
}

TEST_F(BigEngines, DoTheSameWithEveryRuleOfAFile) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(kLanguageGolden))
    if (file.path().extension() == ".weft" && file.path().parent_path().filename() != "mistakes")
      rule_files_[file.path().string()] = true;
  for (const auto& [path, unused] : rule_files_) {
    auto rules = fixtures::ReadRulesFile(path, context_);
    ASSERT_TRUE(rules.ok()) << ir::Message(rules.status());
    for (std::unique_ptr<drr::Rule>& rule : *rules) {
      const std::string name = rule->name;
      drr::BuildResult built;
      built.rule = ir::Owned<drr::Rule>(rule.release());
      Compare(SetOf(context_, std::move(built)), name + " of " + path);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(tried_, 500u);
  EXPECT_GT(applied_, 150u);
}

}  // namespace
}  // namespace weft::passes
