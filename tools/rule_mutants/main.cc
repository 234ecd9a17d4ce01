// rule-mutants: makes mistakes in the registered rules and counts those that --verify-rules finds, of those
// that are not proved to be none.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/mutants.h"
#include "passes/verify/rule_judge.h"
#include "tools/cli/dialects.h"
#include "tools/cli/parallel.h"
#include "tools/cli/program_main.h"
#include "tools/cli/table.h"

namespace weft::tools {
namespace {

using passes::Mutant;
using passes::RuleJudgement;
using passes::Verdict;

constexpr double kSeconds = 8;  // a mutant, proofs not counted

struct Outcome {
  Mutant::Kind kind;
  std::string name, what;
  RuleJudgement judgement;
};

struct Flags {
  std::vector<std::string> rules;
  int instances = 12;
};

std::vector<Outcome> OutcomesOf(const passes::RegisteredRule& rule, int instances) {
  ir::IrContext context;
  LoadAllDialects(context);
  const drr::BuildResult built = rule.build(&context);
  std::vector<Outcome> outcomes;
  if (!built.ok()) return outcomes;
  kernels::SessionRunner runner;
  for (const Mutant& mutant : passes::MutantsOf(*built.rule))
    outcomes.push_back({mutant.kind, mutant.rule.name, mutant.what,
                        passes::JudgeRule(mutant.rule, {.runner = &runner,
                                                        .instances = instances,
                                                        .inputs = 1,
                                                        .seconds = kSeconds,
                                                        .prove = true,
                                                        .stop_at_refutation = true,
                                                        .seeds = nullptr})});
  return outcomes;
}

struct Score {
  size_t mutants = 0, refuted = 0, proved = 0, tested = 0, unjudged = 0;

  // Of those that may be wrong: the proved ones are right, whatever was done to them.
  std::string Percent() const {
    return mutants == proved ? "-"
                             : fmt::format("{:.1f}", 100.0 * static_cast<double>(refuted) /
                                                         static_cast<double>(mutants - proved));
  }
};

std::string Report(const std::vector<Outcome>& outcomes) {
  std::map<std::string_view, Score> scores;
  Table survivors({"mutant", "mistake", "judgement", ""});
  for (const Outcome& outcome : outcomes) {
    for (Score* score : {&scores[passes::MutantName(outcome.kind)], &scores["all"]}) {
      ++score->mutants;
      score->refuted += outcome.judgement.verdict == Verdict::kRefuted;
      const bool proved = !outcome.judgement.proved.empty();
      score->proved += proved;
      score->tested += !proved && outcome.judgement.verdict == Verdict::kTested;
      score->unjudged += !proved && outcome.judgement.verdict == Verdict::kUnjudged;
    }
    if (outcome.judgement.verdict != Verdict::kRefuted)
      survivors.AddRow(
          {outcome.name, outcome.what, outcome.judgement.Badge(), outcome.judgement.why});
  }
  Table table({"mistake", "mutants", "refuted", "proved", "tested", "unjudged", "% refuted"});
  for (const auto& [name, score] : scores)
    table.AddRow({std::string(name), std::to_string(score.mutants), std::to_string(score.refuted),
                  std::to_string(score.proved), std::to_string(score.tested),
                  std::to_string(score.unjudged), score.Percent()});
  return survivors.ToString() + "\n" + table.ToString();
}

absl::Status Run(const Flags& flags) {
  std::vector<passes::RegisteredRule> rules;
  for (const passes::RegisteredRule& rule : passes::RegisteredRules())
    if (flags.rules.empty() || passes::ContainsRule(flags.rules, rule.name)) rules.push_back(rule);
  std::vector<std::vector<Outcome>> by_rule(rules.size());
  ForEachInParallel(rules.size(),
                    [&](size_t i) { by_rule[i] = OutcomesOf(rules[i], flags.instances); });
  std::vector<Outcome> outcomes;
  for (auto& list : by_rule)
    for (Outcome& outcome : list) outcomes.push_back(std::move(outcome));
  std::fputs(Report(outcomes).c_str(), stdout);
  return absl::OkStatus();
}

}  // namespace
}  // namespace weft::tools

int main(int argc, char** argv) {
  using namespace weft::tools;  // NOLINT
  CLI::App app("", "rule-mutants");
  SetUpApp(app, "usage: rule-mutants [options]     judges rules with one mistake each",
           "exit: 0 done, 2 bad usage");
  Flags flags;
  app.add_option("--rules", flags.rules, "of these rules (all)")
      ->type_name("R,...")
      ->delimiter(',');
  app.add_option("--instances", flags.instances, "programs made for each mutant (12)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  return RunMain(app, argc, argv, [&] { return Run(flags); });
}
