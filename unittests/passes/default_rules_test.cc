// The library holds no rule that others make superfluous: each rule that a pipeline runs by default
// changes what the pipeline makes of some program, of the golden tests or of
// benchmarks/peers/simplify. A rule that changes none is one to delete.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_manager.h"
#include "passes/pass_registry.h"
#include "passes/rule_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

std::string ProgramTextOf(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string text, line;
  while (std::getline(in, line) && line != "// EXPECT")
    if (!line.starts_with("//")) text += line + "\n";
  return text;
}

std::vector<std::string> Programs() {
  std::set<std::filesystem::path> paths;  // in an order that is the same everywhere
  for (const std::string& name : fixtures::FiringGoldenFiles(fixtures::TestData("/passes")))
    paths.insert(fixtures::TestData("/passes/" + name));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           fixtures::TestData("/../benchmarks/peers/simplify")))
    if (entry.path().extension() == ".ir") paths.insert(entry.path());
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : paths) texts.push_back(ProgramTextOf(path));
  return texts;
}

class BigDefaultRules : public testing::TestWithParam<std::string> {
 protected:
  struct Outcome {
    std::string text;
    std::set<std::string> applied;  // rules
  };

  // Nothing where the program is of another dialect, or the pipeline refuses it.
  static std::optional<Outcome> RunPipeline(const std::string& text, std::string_view disabled) {
    ir::IrContext context;
    fixtures::LoadGoldenDialects(context);
    auto program = ir::ParseProgram(context, text, {});
    if (!program.ok()) return std::nullopt;
    const auto evaluator = kernels::KernelEvaluator::Create("reference");
    PassManager manager(&context);
    manager.pass_context().evaluator = evaluator->get();
    if (!disabled.empty()) manager.pass_context().disabled_rules = {std::string(disabled)};
    for (const std::string& pass : FindPipeline(GetParam())->passes)
      manager.AddPass(MakePass(pass));
    if (!manager.Run(**program).ok()) return std::nullopt;
    Outcome outcome{ir::PrintProgram(**program, {.names = false}), {}};
    for (const PassReport& report : manager.reports())
      for (const RuleStatistics& rule : report.rules)
        if (rule.applied > 0) outcome.applied.insert(rule.rule);
    return outcome;
  }
};

TEST_P(BigDefaultRules, EachChangesWhatThePipelineMakesOfSomeProgram) {
  const std::vector<std::string> programs = Programs();
  std::vector<std::optional<Outcome>> outcomes;
  std::map<std::string, std::vector<size_t>> applied;  // rule -> programs
  for (const std::string& text : programs) {
    outcomes.push_back(RunPipeline(text, ""));
    if (!outcomes.back()) continue;
    for (const std::string& rule : outcomes.back()->applied)
      applied[rule].push_back(outcomes.size() - 1);
  }
  std::set<std::string> groups(FindPipeline(GetParam())->passes.begin(),
                               FindPipeline(GetParam())->passes.end());
  // What fuse does with layouts may make a rule of simplify superfluous there.
  if (GetParam() == "fuse")
    for (const std::string& pass : FindPipeline("simplify")->passes) groups.erase(pass);
  size_t rules = 0;
  for (const RegisteredRule& rule : RegisteredRules()) {
    if (rule.opt_in || rule.numerics > PassContext().numerics ||
        !groups.contains(std::string(rule.group)))
      continue;
    ++rules;
    const std::vector<size_t>& candidates = applied[std::string(rule.name)];
    const auto needs_it = [&](size_t i) {
      const auto without = RunPipeline(programs[i], rule.name);
      return !without || without->text != outcomes[i]->text;
    };
    EXPECT_TRUE(std::any_of(candidates.begin(), candidates.end(), needs_it))
        << rule.name << " was applied to " << candidates.size()
        << " programs, all of which become the same without it";
  }
  EXPECT_GT(rules, 50u);
}

INSTANTIATE_TEST_SUITE_P(Big, BigDefaultRules, testing::Values("simplify", "fuse"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::passes
