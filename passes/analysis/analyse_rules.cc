#include "passes/analysis/analyse_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "drr/engine/matcher.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/greedy_driver.h"

namespace weft::passes {
namespace {

using drr::FrozenRewritePatternSet;
using drr::PatternGraph;
using drr::Rule;
using ir::Operation;
using ir::Program;

std::string TextOf(Program& program) {
  return ir::PrintProgram(program, {.full_weights = true, .names = false});
}

FrozenRewritePatternSet SetOf(ir::IrContext& context, const std::vector<const Rule*>& rules) {
  drr::RewritePatternSet set(&context);
  for (const Rule* rule : rules) {
    drr::BuildResult copy;
    copy.rule = ir::Owned<Rule>(new Rule(*rule));
    set.Add(std::move(copy));
  }
  return FrozenRewritePatternSet(std::move(set));
}

// What happens to a program, one step of the greedy driver at a time.
struct Course {
  enum Outcome { kEnds, kRepeats, kGrows, kGoesOn };
  Outcome outcome = kEnds;
  std::vector<std::string> rules;  // that were applied; of a circle only those in it
  size_t steps = 0;                // in each of which every rule is applied at most once
  size_t rewrites = 0;
  uint32_t ops_before = 0, ops_after = 0;
};

// The rules that one more step applied, one to a line; "" when none applies any more.
std::string Step(Program& program, const FrozenRewritePatternSet& set) {
  const auto result = ApplyPatternsGreedily(program, set, {.max_rewrites_per_rule = 1});
  if (!result.ok()) return "";
  std::string applied;
  for (const RuleStatistics& rule : result->rules)
    if (rule.applied > 0) applied += (applied.empty() ? "" : "\n") + rule.rule;
  return applied;
}

void AddNames(const std::string& lines, std::vector<std::string>* names) {
  for (size_t begin = 0; begin < lines.size();) {
    const size_t end = std::min(lines.find('\n', begin), lines.size());
    const std::string name = lines.substr(begin, end - begin);
    if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
    begin = end + 1;
  }
}

Course RunOn(const Program& witness, const FrozenRewritePatternSet& set, int max_steps) {
  const std::unique_ptr<Program> program = witness.Clone();
  Course run;
  run.ops_before = program->num_operations();
  std::map<std::string, size_t> seen{{TextOf(*program), 0}};
  std::vector<std::string> applied;
  uint32_t ops_halfway = run.ops_before;
  while (run.steps < static_cast<size_t>(max_steps)) {
    const std::string rules = Step(*program, set);
    run.ops_after = program->num_operations();
    if (rules.empty()) return run;
    applied.push_back(rules);
    run.rewrites += 1 + static_cast<size_t>(std::count(rules.begin(), rules.end(), '\n'));
    if (++run.steps == static_cast<size_t>(max_steps) / 2) ops_halfway = run.ops_after;
    const auto [at, fresh] = seen.emplace(TextOf(*program), run.steps);
    if (fresh) continue;
    run.outcome = Course::kRepeats;
    for (size_t i = at->second; i < applied.size(); ++i) AddNames(applied[i], &run.rules);
    return run;
  }
  run.outcome = run.ops_after > ops_halfway && ops_halfway > run.ops_before ? Course::kGrows
                                                                            : Course::kGoesOn;
  for (const std::string& rules : applied) AddNames(rules, &run.rules);
  return run;
}

// Names of operations that a rule looks for, or makes.
std::set<std::string_view> Reads(const PatternGraph& graph) {
  std::set<std::string_view> names;
  for (const drr::SourceOp& op : graph.ops) {
    if (op.alternatives.empty()) names.insert(op.opcode);  // "": any op
    for (const drr::Alternative& alternative : op.alternatives)
      names.insert(alternative.def->name());
  }
  return names;
}
std::set<std::string_view> Makes(const PatternGraph& graph) {
  std::set<std::string_view> names;
  for (const drr::ResultOp& op : graph.result_ops) {
    if (op.def) {
      names.insert(op.def->name());
    } else if (op.like) {
      if (graph.ops[op.like].alternatives.empty()) names.insert(graph.ops[op.like].opcode);
      for (const drr::Alternative& alternative : graph.ops[op.like].alternatives)
        names.insert(alternative.def->name());
    }
  }
  return names;
}
bool Meet(const std::set<std::string_view>& makes, const std::set<std::string_view>& reads) {
  if (reads.count("") > 0 || makes.count("") > 0) return true;  // any operation at all
  return std::any_of(makes.begin(), makes.end(),
                     [&](std::string_view name) { return reads.count(name) > 0; });
}

class Analyst {
 public:
  Analyst(ir::IrContext& context, const FrozenRewritePatternSet& patterns,
          const AnalysisOptions& options)
      : context_(context), patterns_(patterns), options_(options) {}
  RuleAnalysis Run();

 private:
  void CollectPrograms();
  void RunAlone(size_t i);
  // In the order that they have in the set.
  void RunTogether(size_t i, size_t k);
  // Adds a finding when the rules do not end on the program.
  bool Judge(Program& program, const FrozenRewritePatternSet& set);
  // The rule that is tried before rule i, and matches, at every place where rule i matches in all
  // of its programs; -1 if there is none.
  int Shadow(size_t i, size_t* places);
  std::set<uint32_t> MatchesBefore(Operation op, uint32_t i);
  void FindShadow(size_t i);

  ir::IrContext& context_;
  const FrozenRewritePatternSet& patterns_;
  const AnalysisOptions& options_;
  std::vector<const Rule*> rules_;
  std::vector<std::vector<std::unique_ptr<Program>>> programs_;  // by rule
  std::vector<std::set<std::string_view>> reads_, makes_;        // by rule
  std::set<size_t> endless_;                                     // rules that do not end alone
  std::set<std::vector<std::string>> reported_;
  RuleAnalysis result_;
};

RuleAnalysis Analyst::Run() {
  CollectPrograms();
  for (size_t i = 0; i < rules_.size(); ++i) RunAlone(i);
  for (size_t i = 0; i < rules_.size(); ++i)
    for (size_t k = 0; k < rules_.size(); ++k)
      if (i != k && Meet(makes_[i], reads_[k])) RunTogether(i, k);
  for (size_t i = 0; i < rules_.size(); ++i) FindShadow(i);
  return std::move(result_);
}

void Analyst::CollectPrograms() {
  for (const auto& rule : patterns_.rules()) {
    rules_.push_back(rule.get());
    reads_.push_back(Reads(rule->graph));
    makes_.push_back(Makes(rule->graph));
    std::string why;
    programs_.emplace_back();
    for (RuleInstance& instance : MakeInstances(*rule, options_.instances, &why))
      programs_.back().push_back(std::move(instance.program));
    if (options_.seeds)
      for (auto& program : options_.seeds(*rule)) programs_.back().push_back(std::move(program));
    if (programs_.back().empty()) {
      result_.not_analysed.push_back({rule->name, std::move(why)});
    } else {
      ++result_.analysed;
    }
  }
}

void Analyst::RunAlone(size_t i) {
  const FrozenRewritePatternSet set = SetOf(context_, {rules_[i]});
  for (const auto& program : programs_[i])
    if (Judge(*program, set)) {
      endless_.insert(i);
      return;
    }
}

void Analyst::RunTogether(size_t i, size_t k) {
  if (endless_.count(i) || endless_.count(k)) return;  // which is known
  if (programs_[i].empty()) return;
  ++result_.pairs;
  const FrozenRewritePatternSet set =
      SetOf(context_, {rules_[std::min(i, k)], rules_[std::max(i, k)]});
  for (const auto& program : programs_[i])
    if (Judge(*program, set)) return;
}

bool Analyst::Judge(Program& program, const FrozenRewritePatternSet& set) {
  const Course run = RunOn(program, set, options_.max_steps);
  if (run.outcome == Course::kEnds) return false;
  // The driver itself, without pauses, has to agree.
  const std::unique_ptr<Program> copy = program.Clone();
  if (ApplyPatternsGreedily(*copy, set, {}).ok()) return false;
  std::vector<std::string> key = run.rules;
  std::sort(key.begin(), key.end());
  if (!reported_.insert(key).second) return true;
  RuleFinding finding;
  finding.rules = run.rules;
  finding.witness = ir::PrintProgram(program, {.full_weights = true});
  switch (run.outcome) {
    case Course::kRepeats:
      finding.kind = RuleFinding::kUndo;
      finding.what = fmt::format("after {} rewrite{} the program is one it was before",
                                 run.rewrites, run.rewrites == 1 ? "" : "s");
      break;
    case Course::kGrows:
      finding.kind = RuleFinding::kGrowth;
      finding.what = fmt::format("{} rewrites take the program from {} operations to {}",
                                 run.rewrites, run.ops_before - 1, run.ops_after - 1);
      break;
    default:
      finding.kind = RuleFinding::kEndless;
      finding.what = fmt::format("still another program after {} rewrites", run.rewrites);
  }
  result_.findings.push_back(std::move(finding));
  return true;
}

int Analyst::Shadow(size_t i, size_t* places) {
  std::set<uint32_t> candidates;
  *places = 0;
  for (const auto& program : programs_[i]) {
    std::vector<Operation> ops;
    ir::Walk(*program, [&](Operation op) { ops.push_back(op); });
    for (Operation op : ops) {
      drr::MatchContext match(rules_[i]);
      if (!drr::Matcher(*rules_[i]).Match(op, &match)) continue;
      std::set<uint32_t> before = MatchesBefore(op, static_cast<uint32_t>(i));
      if ((*places)++ == 0) {
        candidates = std::move(before);
      } else {
        std::set<uint32_t> both;
        std::set_intersection(candidates.begin(), candidates.end(), before.begin(), before.end(),
                              std::inserter(both, both.end()));
        candidates = std::move(both);
      }
      if (candidates.empty()) return -1;
    }
  }
  return *places == 0 ? -1 : static_cast<int>(*candidates.begin());
}

std::set<uint32_t> Analyst::MatchesBefore(Operation op, uint32_t i) {
  std::set<uint32_t> result;
  for (uint32_t other : patterns_.StartingAt(op.opcode())) {
    if (other == i) break;
    drr::MatchContext match(rules_[other]);
    if (drr::Matcher(*rules_[other]).Match(op, &match)) result.insert(other);
  }
  return result;
}

void Analyst::FindShadow(size_t i) {
  size_t places = 0;
  if (Shadow(i, &places) < 0) return;
  // Few programs may be alike by chance.
  constexpr int kMore = 64;
  InstanceOptions more = options_.instances;
  more.wanted = std::max(more.wanted, kMore);
  more.symbolic = true;
  for (RuleInstance& instance : MakeInstances(*rules_[i], more, nullptr))
    programs_[i].push_back(std::move(instance.program));
  const int by = Shadow(i, &places);
  if (by < 0) return;
  // With both rules and the driver at work, rule i must not be applied anywhere.
  const auto k = static_cast<size_t>(by);
  const FrozenRewritePatternSet set =
      SetOf(context_, {rules_[std::min(i, k)], rules_[std::max(i, k)]});
  for (const auto& program : programs_[i]) {
    const std::unique_ptr<Program> copy = program->Clone();
    const auto run = ApplyPatternsGreedily(*copy, set, {});
    if (!run.ok()) return;
    for (const RuleStatistics& rule : run->rules)
      if (rule.rule == rules_[i]->name ? rule.applied > 0 : rule.applied == 0) return;
  }
  RuleFinding finding;
  finding.kind = RuleFinding::kShadowed;
  finding.rules = {rules_[i]->name, rules_[k]->name};
  finding.what =
      fmt::format("at all {} places in {} programs where {} matches, {} is tried first and matches",
                  places, programs_[i].size(), rules_[i]->name, rules_[k]->name);
  finding.witness = ir::PrintProgram(*programs_[i][0], {.full_weights = true});
  result_.findings.push_back(std::move(finding));
}

}  // namespace

std::string_view FindingName(RuleFinding::Kind kind) {
  switch (kind) {
    case RuleFinding::kUndo:
      return "undo each other";
    case RuleFinding::kGrowth:
      return "grow without end";
    case RuleFinding::kEndless:
      return "do not end";
    case RuleFinding::kShadowed:
      return "is shadowed by";
  }
  return "";
}

RuleAnalysis AnalyseRules(ir::IrContext& context, const FrozenRewritePatternSet& patterns,
                          const AnalysisOptions& options) {
  return Analyst(context, patterns, options).Run();
}

}  // namespace weft::passes
