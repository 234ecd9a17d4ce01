// Big, which takes a minute: every registered rule, judged on programs made from it and on those of
// its golden tests. passes/verify/badges.tsv is what comes out; WEFT_BLESS=1 writes it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/badges.h"
#include "passes/verify/proof/solver.h"
#include "passes/verify/rule_judge.h"
#include "unittests/fixtures/golden.h"
#include "unittests/passes/pd/evaluate.h"
#include "unittests/test_paths.h"

namespace weft::passes {

// The name of a parameter, which would be 128 bytes in hexadecimal.
static void PrintTo(const RegisteredRule& rule, std::ostream* out) { *out << rule.name; }

namespace {

const std::string kTable = fixtures::TestData("/../passes/verify/badges.tsv");

std::vector<std::unique_ptr<ir::Program>> GoldenPrograms(const drr::Rule& rule) {
  std::vector<std::unique_ptr<ir::Program>> programs;
  const std::string folder = fixtures::GoldenFolder(fixtures::TestData("/passes"), rule.name);
  for (const std::string& name : fixtures::FiringGoldenFiles(folder)) {
    const auto file = fixtures::ReadGoldenFile(folder + "/" + name);
    if (!file.ok()) continue;
    const bool is_pd = file->numeric.find("pd has no kernels") != std::string::npos;
    if (!file->numeric.empty() && !is_pd) continue;
    auto program = fixtures::ParseGoldenProgram(*file, *rule.graph.context());
    if (program.ok()) programs.push_back(*std::move(program));
  }
  return programs;
}

// Writes the line of a rule, of whose tests several may run; the reason of an unjudged one stays.
void WriteBadge(const std::string& rule, const std::string& badge) {
  const int lock = open(kTable.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  std::stringstream text;
  text << std::ifstream(kTable).rdbuf();
  const std::string old = text.str();
  std::map<std::string, std::string> lines;
  for (const CommittedBadge& it : ParseBadges(old))
    lines[std::string(it.rule)] =
        std::string(it.badge) + (it.reason.empty() ? "" : "\t" + std::string(it.reason));
  if (badge != "unjudged" || lines[rule].rfind(badge, 0) != 0) lines[rule] = badge;
  std::ofstream file(kTable);
  for (const auto& [name, rest] : lines) file << name << "\t" << rest << "\n";
  file.close();
  close(lock);
}

class BigEveryRule : public testing::TestWithParam<RegisteredRule> {};

TEST_P(BigEveryRule, IsWhatTheTableSaysAndNotRefuted) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const drr::BuildResult built = GetParam().build(&context);
  ASSERT_TRUE(built.ok()) << built.errors[0];
  kernels::SessionRunner session;
  PdRunner pd;
  ir::ProgramRunner* runner = &session;
  if (GetParam().group == "paddle") runner = &pd;  // no kernel runs Paddle's operators
  const RuleJudgement judgement = JudgeRule(
      *built.rule,
      {.runner = runner, .instances = 12, .inputs = 1, .prove = true, .seeds = &GoldenPrograms});
  ASSERT_NE(judgement.verdict, Verdict::kRefuted) << judgement.why << "\n"
                                                  << judgement.counterexample;
  // As the command judges it: programs near golden ones leave less room for others.
  const RuleJudgement from_nothing = JudgeRule(*built.rule, {.runner = runner, .seconds = 12});
  EXPECT_NE(from_nothing.verdict, Verdict::kRefuted) << from_nothing.why << "\n"
                                                     << from_nothing.counterexample;
  if (std::getenv("WEFT_BLESS")) return WriteBadge(judgement.rule, judgement.BadgeKind());
  if (!HasSolver() && BadgeOf(GetParam().name) == "proved") return;
  EXPECT_EQ(BadgeOf(GetParam().name), judgement.BadgeKind())
      << judgement.why << "\nWEFT_BLESS=1 writes " << kTable;
}

// Not those that other tests register.
std::vector<RegisteredRule> LibraryRules() {
  std::vector<RegisteredRule> rules = RegisteredRules();
  std::erase_if(rules, [](const RegisteredRule& rule) {
    return std::string_view(rule.loc.file).find("unittests/") != std::string_view::npos;
  });
  return rules;
}

INSTANTIATE_TEST_SUITE_P(Big, BigEveryRule, testing::ValuesIn(LibraryRules()),
                         [](const auto& info) {
                           return fixtures::GoldenTestName(std::string(info.param.name));
                         });

// Only a NaN tells that the rule is not exact: QuantizeLinear makes an integer of it, which is clipped.
TEST(BigRegisteredRules, ThatOnlyReassociateAreRefutedAsExact) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  drr::BuildResult built = FindRule("sink-clip-through-quantize")->build(&context);
  ASSERT_TRUE(built.ok()) << built.errors[0];
  built.rule->numerics = drr::NumericClass::kExact;
  kernels::SessionRunner runner;
  const RuleJudgement judgement = JudgeRule(
      *built.rule, {.runner = &runner, .instances = 4, .inputs = 1, .seeds = &GoldenPrograms});
  EXPECT_EQ(judgement.verdict, Verdict::kRefuted);
}

// Files of rules of the library, as a user loads them.
class BigEveryFile : public testing::TestWithParam<const char*> {};

TEST_P(BigEveryFile, HoldsNoRuleThatIsRefuted) {
  ir::IrContext context;
  fixtures::LoadGoldenDialects(context);
  const auto rules = fixtures::ReadRulesFile(
      fixtures::TestData("/../passes/targets/neural_engine/") + GetParam(), context);
  ASSERT_TRUE(rules.ok()) << rules.status();
  kernels::SessionRunner runner;
  for (const auto& rule : *rules) {
    const RuleJudgement judgement =
        JudgeRule(*rule, {.runner = &runner, .seconds = 4, .seeds = &GoldenPrograms});
    EXPECT_NE(judgement.verdict, Verdict::kRefuted) << rule->name << ": " << judgement.why << "\n"
                                                    << judgement.counterexample;
  }
}

INSTANTIATE_TEST_SUITE_P(Big, BigEveryFile,
                         testing::Values("attention.json", "gelu.json", "group_norm.json",
                                         "layer_norm.json", "matmul.json", "qkv_merge.weft",
                                         "rms_norm.json", "transpose_matmul.json"),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

TEST(CommittedBadges, AreThereForEveryRuleAndNoOther) {
  std::set<std::string_view> rules, judged;
  for (const RegisteredRule& rule : LibraryRules()) rules.insert(rule.name);
  for (const CommittedBadge& it : CommittedBadges()) EXPECT_TRUE(judged.insert(it.rule).second);
  for (const std::string_view rule : rules)
    EXPECT_TRUE(judged.count(rule)) << rule << " is not judged: see " << kTable;
  for (const std::string_view rule : judged)
    EXPECT_TRUE(rules.count(rule)) << "there is no rule " << rule << ": see " << kTable;
}

TEST(CommittedBadges, SayOfEveryUnjudgedRuleWhyAndOfNoOther) {
  size_t unjudged = 0;
  for (const CommittedBadge& it : CommittedBadges()) {
    EXPECT_NE(it.badge, "refuted") << it.rule;
    EXPECT_EQ(it.badge == "unjudged", !it.reason.empty()) << it.rule;
    unjudged += it.badge == "unjudged";
  }
  EXPECT_LE(unjudged, CommittedBadges().size() / 10);
}

TEST(CommittedBadges, AreReadLineByLine) {
  const auto badges =
      ParseBadges("b\ttested\na\tunjudged\tno kernel\nwithout\n\nc\tnative: tested");
  ASSERT_EQ(badges.size(), 3u);
  EXPECT_EQ(badges[0].rule, "a");
  EXPECT_EQ(badges[0].badge, "unjudged");
  EXPECT_EQ(badges[0].reason, "no kernel");
  EXPECT_EQ(badges[1].rule, "b");
  EXPECT_EQ(badges[1].reason, "");
  EXPECT_EQ(badges[2].badge, "native: tested");
  EXPECT_EQ(BadgeOf("no-such-rule"), "");
}

}  // namespace
}  // namespace weft::passes
