// rule-mutants: makes mistakes in the registered rules and counts those that --verify-rules finds, of those
// that are not proved to be none.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "ir/base/thread_time.h"
#include "ir/text/parser.h"
#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/match_assignment.h"
#include "passes/verify/mutation/mutants.h"
#include "passes/verify/near_misses.h"
#include "passes/verify/proof/rule_proof.h"
#include "passes/verify/rule_instances.h"
#include "passes/verify/rule_judge.h"
#include "passes/verify/search/model_programs.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/table.h"
#include "weft/base/parallel.h"
#include "weft/io/dialects.h"
#ifdef WEFT_HAS_PD_LOOPS
#include "unittests/passes/pd/evaluate.h"
#endif

namespace weft::tools {
namespace {

using passes::Mutant;
using passes::RuleJudgement;
using passes::Verdict;

struct Flags {
  std::vector<std::string> rules;
  std::vector<size_t> mutants;  // numbers, of each rule; empty: all
  std::string golden;
  int instances = 8;
  bool verbose = false;
};

using Programs = std::vector<std::unique_ptr<ir::Program>>;

// What comes before EXPECT in the golden files of a rule, which lie in a folder of its name, and in
// those that it must refuse, in the folder `no` there: a mutant may take them.
Programs GoldenPrograms(const std::string& root, std::string_view rule, ir::IrContext& context) {
  namespace fs = std::filesystem;
  Programs programs;
  if (root.empty()) return programs;
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    fs::path folder = entry.path().parent_path();
    if (folder.filename() == "no") folder = folder.parent_path();
    if (entry.path().extension() == ".ir" && folder.filename() == rule)
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    auto program =
        ir::ParseProgram(context, text.str().substr(0, text.str().find("// EXPECT")), {});
    if (program.ok()) programs.push_back(*std::move(program));
  }
  return programs;
}

enum class Fate : uint8_t { kRefuted, kHarmless, kNeverApplies, kSurvived };
constexpr std::string_view kFates[] = {"refuted", "harmless", "never applies", "survived"};

struct Outcome {
  Mutant::Kind kind;
  std::string name, what;
  Fate fate;
  std::string why;  // it is harmless, or what the judge found
};

// Whether the engine refuses what the mutant makes wherever that is not what the rule makes. Nothing is
// said where too few such programs were found.
constexpr int kEnough = 20;
bool IsRefusedEverywhere(const RuleJudgement& judgement) {
  return judgement.verdict != Verdict::kRefuted && judgement.differing == 0 &&
         judgement.not_run == 0 && judgement.refused >= kEnough;
}
bool IsIdle(const RuleJudgement& judgement) {
  return judgement.verdict != Verdict::kRefuted && judgement.differing == 0 &&
         judgement.idle + judgement.empty >= kEnough;
}

// What it is proved for; one that is approximate may well be more than that. Or that what it does not ask
// for holds all the same, so that it matches nothing that its rule does not.
std::string ProofOf(const Mutant& mutant, std::string* why_not) {
  constexpr double kSeconds = 40, kSecondsOfOne = 3;
  constexpr unsigned kMilliseconds = 400;  // most answers take a few
  drr::Rule rule = mutant.rule;
  if (!mutant.lost.name.empty()) {
    const passes::RuleProof follows = passes::ProveFollows(
        rule, mutant.lost,
        {.milliseconds = kMilliseconds, .seconds = kSecondsOfOne, .vacuously = true});
    if (follows.verdict == passes::ProofVerdict::kProved)
      return "it follows from the rest: " + follows.what;
    *why_not = "does not follow: " + follows.why + "; ";
  }
  if (rule.numerics == drr::NumericClass::kApproximate)
    rule.numerics = drr::NumericClass::kReassociates;
  const passes::RuleProof proof = passes::ProveRule(rule, {.seconds = kSeconds, .vacuously = true});
  *why_not += "no proof: " + proof.why;
  return proof.what;
}

// No kernel runs Paddle's operators; the loops of its tests do, where they are built.
std::unique_ptr<ir::ProgramRunner> RunnerOf(std::string_view group) {
#ifdef WEFT_HAS_PD_LOOPS
  if (group == "paddle") return std::make_unique<passes::PdRunner>();
#endif
  (void)group;
  return std::make_unique<kernels::SessionRunner>();
}

// Most are refuted by the first few programs; the others get more than registered rules do.
RuleJudgement Judge(const Mutant& mutant, const drr::Rule& rule,
                    const std::vector<std::string>& near_misses, const Flags& flags) {
  constexpr int kMore = 6;
  constexpr size_t kVariants = 1200;  // of all programs
  Programs golden = GoldenPrograms(flags.golden, rule.name, *rule.graph.context());
  const size_t given = std::max<size_t>(near_misses.size() + golden.size(), 1);
  const std::unique_ptr<ir::ProgramRunner> runner = RunnerOf(passes::FindRule(rule.name)->group);
  passes::JudgeOptions options{
      .runner = runner.get(),
      .instances = flags.instances,
      .inputs = 1,
      .seconds = 4,
      // Of what makes the same everywhere no program would be left.
      .original = mutant.kind == Mutant::kLooserEscape ? nullptr : &rule,
      .stop_at_refutation = true,
      .variants = static_cast<int>(std::min<size_t>(kVariants / given, 300)),
      .seeds = [&](const drr::Rule&) {
        Programs programs;
        for (const std::string& text : near_misses)
          if (auto p = ir::ParseProgram(*rule.graph.context(), text, {}); p.ok())
            programs.push_back(*std::move(p));
        for (const auto& p : golden) programs.push_back(p->Clone());
        return programs;
      }};
  RuleJudgement judgement = passes::JudgeRule(mutant.rule, options);
  if (judgement.verdict == Verdict::kRefuted || !mutant.harmless.empty()) return judgement;
  if (IsRefusedEverywhere(judgement) || IsIdle(judgement)) return judgement;
  judgement.proved = ProofOf(mutant, &judgement.unproved);
  if (!judgement.proved.empty()) return judgement;
  options.instances = kMore * flags.instances;
  options.attempts *= 2;
  options.inputs = 2;
  options.seed = 2;
  const std::string unproved = std::move(judgement.unproved);
  judgement = passes::JudgeRule(mutant.rule, options);
  judgement.unproved = unproved;
  return judgement;
}

Outcome OutcomeOf(const Mutant& mutant, const drr::Rule& rule,
                  const std::vector<std::string>& near_misses, const Flags& flags) {
  Outcome outcome{mutant.kind, mutant.rule.name, mutant.what, Fate::kSurvived, mutant.harmless};
  const RuleJudgement judgement = Judge(mutant, rule, near_misses, flags);
  if (judgement.verdict == Verdict::kRefuted) {
    outcome.fate = Fate::kRefuted;
    outcome.why = judgement.why;
  } else if (!mutant.harmless.empty() || !judgement.proved.empty()) {
    outcome.fate = Fate::kHarmless;
    if (outcome.why.empty()) outcome.why = "proved (" + judgement.proved + ")";
  } else {
    outcome.why = judgement.verdict == Verdict::kTested ? judgement.Badge() : judgement.why;
    if (!judgement.unproved.empty()) outcome.why += "; " + judgement.unproved;
    if (IsIdle(judgement)) {
      outcome.fate = Fate::kHarmless;
      outcome.why = fmt::format(
          "on {} programs attributes differ that say nothing, on {} no result has an element",
          judgement.idle, judgement.empty);
    } else if (IsRefusedEverywhere(judgement)) {
      outcome.fate = Fate::kNeverApplies;
      outcome.why = fmt::format("refused on {} programs", judgement.refused);
    }
  }
  return outcome;
}

// The mutants of a rule, in a context of their own: one keeps every constant that it ever held.
struct Bred {
  ir::IrContext context;
  drr::BuildResult built;
  std::vector<Mutant> mutants;

  Bred(const passes::RegisteredRule& rule, const Flags& flags) {
    LoadAllDialects(context);
    built = rule.build(&context);
    if (!built.ok()) return;
    std::vector<Mutant> all = passes::MutantsOf(*built.rule);
    for (size_t i = 0; i < all.size(); ++i)
      if (flags.mutants.empty() ||
          std::find(flags.mutants.begin(), flags.mutants.end(), i + 1) != flags.mutants.end())
        mutants.push_back(std::move(all[i]));
  }
};

// Programs from models of the rule, and of what only one of its mutants takes.
void AddModelPrograms(const drr::Rule& rule, const std::vector<Mutant>& mutants, const Flags& flags,
                      Programs* programs) {
  constexpr size_t kOfRule = 24, kOfMutant = 4;
  constexpr double kSecondsOfRule = 2, kSecondsOfMutant = 0.8;
  std::vector<passes::Assignment> starts;
  for (const auto& program : *programs)
    for (passes::Assignment& start : passes::AssignmentsOf(rule, *program))
      starts.push_back(std::move(start));
  const auto add = [&](const drr::Rule& of, const passes::ModelProgramOptions& options) {
    const double start = ir::ThreadSeconds();
    Programs made = passes::ModelPrograms(of, starts, options);
    if (flags.verbose)
      fmt::print(stderr, "{}: {} programs from models, {:.1f} s\n", of.name, made.size(),
                 ir::ThreadSeconds() - start);
    for (auto& program : made) programs->push_back(std::move(program));
  };
  add(rule, {.wanted = kOfRule, .seconds = kSecondsOfRule});
  for (const Mutant& mutant : mutants) {
    const bool takes_others = mutant.kind == Mutant::kDroppedConstraint ||
                              mutant.kind == Mutant::kChangedConstraint ||
                              mutant.kind == Mutant::kLooserAttribute;
    if (takes_others)
      add(mutant.rule, {.broken = mutant.lost.name.empty() ? nullptr : &mutant.lost,
                        .refused_by = &rule,
                        .wanted = kOfMutant,
                        .seconds = kSecondsOfMutant});
  }
}

// Programs that tell the mutants from the rule, by mutant. One of which others read intermediate values
// matches what the rule makes the same of.
std::vector<std::vector<std::string>> NearMissesOf(const passes::RegisteredRule& rule,
                                                   const Flags& flags) {
  constexpr double kSecondsEach = 0.5, kLeastSeconds = 4, kMostSeconds = 25;
  const Bred bred(rule, flags);
  std::vector<const drr::Rule*> mutants;
  for (const Mutant& mutant : bred.mutants) mutants.push_back(&mutant.rule);
  if (mutants.empty()) return {};
  const drr::Rule& original = *bred.built.rule;
  const std::unique_ptr<ir::ProgramRunner> runner = RunnerOf(rule.group);
  const double seconds =
      std::clamp(kSecondsEach * static_cast<double>(mutants.size()), kLeastSeconds, kMostSeconds);
  Programs from = GoldenPrograms(flags.golden, rule.name, *original.graph.context());
  std::string why;
  for (passes::RuleInstance& made :
       passes::MakeInstances(original, {.until = ir::ThreadSeconds() + 1}, &why))
    from.push_back(std::move(made.program));
  AddModelPrograms(original, bred.mutants, flags, &from);
  return passes::NearMisses(original, mutants, from, {.runner = runner.get(), .seconds = seconds});
}

// Once more, with the search for programs to itself.
Outcome JudgedAlone(const passes::RegisteredRule& rule, const Outcome& survived,
                    const Flags& flags) {
  Flags alone = flags;
  alone.mutants = {std::stoul(survived.name.substr(survived.name.find('#') + 1))};
  const std::vector<std::vector<std::string>> near_misses = NearMissesOf(rule, alone);
  const Bred bred(rule, alone);
  return OutcomeOf(bred.mutants[0], *bred.built.rule, near_misses[0], alone);
}

std::vector<Outcome> OutcomesOf(const passes::RegisteredRule& rule, const Flags& flags) {
  const double start = ir::ThreadSeconds();
  const std::vector<std::vector<std::string>> near_misses = NearMissesOf(rule, flags);
  std::vector<Outcome> outcomes;
  size_t refuted = 0;
  for (size_t i = 0; i < near_misses.size(); ++i) {
    Bred bred(rule, flags);
    outcomes.push_back(OutcomeOf(bred.mutants[i], *bred.built.rule, near_misses[i], flags));
    if (outcomes.back().fate == Fate::kSurvived && near_misses.size() > 1)
      outcomes.back() = JudgedAlone(rule, outcomes.back(), flags);
    refuted += outcomes.back().fate == Fate::kRefuted;
    if (flags.verbose)
      fmt::print(stderr, "{} ({}): {}: {}, {:.1f} s\n", outcomes.back().name, outcomes.back().what,
                 kFates[static_cast<size_t>(outcomes.back().fate)], outcomes.back().why,
                 ir::ThreadSeconds() - start);
  }
  // The whole takes a while.
  fmt::print(stderr, "{}: {} of {} mutants refuted, {:.1f} s of CPU\n", rule.name, refuted,
             outcomes.size(), ir::ThreadSeconds() - start);
  return outcomes;
}

struct Score {
  size_t mutants = 0;
  std::map<Fate, size_t> with{};

  // Of those that may be wrong.
  std::string Percent() {
    const size_t wrong = with[Fate::kRefuted] + with[Fate::kSurvived];
    return wrong == 0 ? "-"
                      : fmt::format("{:.1f}", 100.0 * static_cast<double>(with[Fate::kRefuted]) /
                                                  static_cast<double>(wrong));
  }
};

std::string Report(const std::vector<Outcome>& outcomes) {
  std::map<int, Score> scores;
  constexpr int kAll = 1000;  // last
  Table others({"mutant", "kind", "mistake", "", "why"});
  for (const Outcome& outcome : outcomes) {
    for (Score* score : {&scores[outcome.kind], &scores[kAll]}) {
      ++score->mutants;
      ++score->with[outcome.fate];
    }
    if (outcome.fate != Fate::kRefuted)
      others.AddRow({outcome.name, std::string(passes::MutantName(outcome.kind)), outcome.what,
                     std::string(kFates[static_cast<size_t>(outcome.fate)]), outcome.why});
  }
  Table table(
      {"mistake", "mutants", "refuted", "harmless", "never applies", "survived", "% refuted"});
  for (auto& [kind, score] : scores)
    table.AddRow(
        {kind == kAll ? "all" : std::string(passes::MutantName(static_cast<Mutant::Kind>(kind))),
         std::to_string(score.mutants), std::to_string(score.with[Fate::kRefuted]),
         std::to_string(score.with[Fate::kHarmless]),
         std::to_string(score.with[Fate::kNeverApplies]),
         std::to_string(score.with[Fate::kSurvived]), score.Percent()});
  return others.ToString(stdout) + "\n" + table.ToString(stdout);
}

absl::Status Run(const Flags& flags) {
  std::vector<passes::RegisteredRule> rules;
  for (const passes::RegisteredRule& rule : passes::RegisteredRules())
    if (flags.rules.empty() || passes::ContainsRule(flags.rules, rule.name)) rules.push_back(rule);
  std::vector<std::vector<Outcome>> by_rule(rules.size());
  ForEachInParallel(rules.size(), [&](size_t i) { by_rule[i] = OutcomesOf(rules[i], flags); });
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
  app.add_option("--mutants", flags.mutants, "of these numbers, as in fuse-gemm#3 (all)")
      ->type_name("N,...")
      ->delimiter(',');
  app.add_option("--instances", flags.instances, "programs made for each mutant at first (8)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--verbose", flags.verbose, "each mutant on stderr, as it is judged");
  app.add_option("--golden", flags.golden, "also on golden programs in folders of the rule's name")
      ->type_name("DIR")
      ->check(CLI::ExistingDirectory);
  return RunMain(app, argc, argv, [&] { return Run(flags); });
}
