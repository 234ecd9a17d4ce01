#include "passes/verify/rule_instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "drr/engine/matcher.h"
#include "ir/base/thread_time.h"
#include "ir/rewriter.h"
#include "ir/text/printer.h"
#include "ir/walk.h"
#include "passes/verify/apply_once.h"
#include "passes/verify/input_sizes.h"
#include "passes/verify/instance_builder.h"
#include "passes/verify/repair.h"

namespace weft::passes {
namespace {

using drr::PatternGraph;
using ir::Operation;
using ir::Program;

class Search {
 public:
  Search(const drr::Rule& rule, const InstanceOptions& options)
      : rule_(rule),
        structure_(rule),
        options_(options),
        draw_(rule.graph, options.seed),
        starts_(options.starts.begin(), options.starts.end()) {
    structure_.graph.constraints.clear();
  }
  std::vector<RuleInstance> Run(std::string* why);
  int refused() const { return refused_by_mistake_; }

 private:
  // How far an assignment came: ops built, then the progress of the match, then constraints that
  // hold. Completes it, and says in repairs_ what would help.
  uint64_t Attempt(Assignment* assignment);
  uint64_t CountConstraints(Operation site, Assignment* assignment, size_t* held);
  // Of a mutant: whether the original does not make the same of it.
  bool IsNew(InstanceBuilder& instance, Program& after) const;
  void Keep(InstanceBuilder& instance, const Assignment& assignment);
  // Of an assignment with which the rule matches, and what it makes is refused.
  void KeepRefused(InstanceBuilder& instance, const Assignment& assignment);
  // What the rule applies to with these types of inputs.
  void Add(const Assignment& assignment, Open open, std::vector<RuleInstance>* instances);
  // With other numbers in constants: a rule that says it is exact means NaN and infinities, too.
  void AddSpecial(const Assignment& assignment, std::vector<RuleInstance>* instances);
  std::vector<RuleInstance>& NewFound(const std::string& features);
  // What tells instances apart that are worth having.
  std::string Features(const Assignment& assignment) const;
  Assignment Start();
  void AskWhenStuck(int attempt);
  std::optional<int64_t> PreferredSize();
  // Remembers why the furthest attempt failed.
  uint64_t Note(uint64_t fitness, const std::string& reason);

  const drr::Rule& rule_;
  drr::Rule structure_;  // without constraints
  const InstanceOptions& options_;
  Draw draw_;
  std::optional<Assignment> repaired_;                                    // of the last attempt
  std::vector<std::pair<std::string, std::vector<RuleInstance>>> found_;  // with features
  std::set<std::string> texts_;
  std::vector<Assignment> starts_;
  bool was_stuck_ = false;
  int refused_ = 0, refused_tried_ = 0, refused_by_mistake_ = 0;  // see KeepRefused
  uint64_t furthest_ = 0;
  std::string why_;
};

// Results of the program: without any there is nothing to compare.
bool MayHaveElements(const RuleInstance& instance) {
  const Operation end = instance.program->body().Terminator();
  const std::vector<ir::Value> results = end ? end.operands().vec() : std::vector<ir::Value>();
  return results.empty() || std::any_of(results.begin(), results.end(), [](ir::Value result) {
           return !result.type().IsStatic() || result.type().NumElements() > 0;
         });
}

// More are found than wanted, so that there is a choice.
constexpr size_t kSpare = 4;
constexpr size_t kDigits = 3;  // of how many were found before that are alike

std::vector<RuleInstance> Search::Run(std::string* why) {
  constexpr int kPatience = 60;  // attempts without progress before starting anew
  const size_t enough = kSpare * static_cast<size_t>(options_.wanted);
  uint64_t best = 0;
  int idle = 0;
  Assignment best_assignment(rule_.graph), next = Start();
  for (int i = 0; i < options_.attempts && found_.size() < enough; ++i) {
    if (ir::ThreadSeconds() >= options_.until || (options_.stop && options_.stop())) break;
    AskWhenStuck(i);
    Assignment assignment = std::move(next);
    const size_t found = found_.size();
    const uint64_t fitness = Attempt(&assignment);
    if (found_.size() > found || idle > kPatience) {
      best = idle = 0;
      next = Start();
      draw_.PreferSize(PreferredSize());
      if (found_.size() > found && !draw_.OneIn(3)) {  // one that differs somewhat
        next = assignment;
        next.Forget(draw_.random(), 1 + static_cast<int>(draw_.Below(4)));
      }
      best_assignment = next;
      continue;
    }
    idle = fitness > best ? 0 : idle + 1;
    if (fitness >= best) {
      best = fitness;
      best_assignment = assignment;
    }
    if (repaired_ && !draw_.OneIn(5)) {
      next = *repaired_;
    } else {
      next = best_assignment;
      next.Forget(draw_.random(), 1 + static_cast<int>(draw_.Below(3)));
    }
  }
  if (why) *why = why_;
  // Of each kind the first, then the second, in the order in which they were found; but what says something first.
  const auto key = [](const auto& found) {
    const bool says = std::any_of(found.second.begin(), found.second.end(), MayHaveElements);
    return std::pair(found.first.substr(0, kDigits), !says);
  };
  std::stable_sort(found_.begin(), found_.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  if (found_.size() > static_cast<size_t>(options_.wanted))
    found_.resize(static_cast<size_t>(options_.wanted));
  std::vector<RuleInstance> instances;
  for (auto& [features, alike] : found_)
    for (RuleInstance& instance : alike) instances.push_back(std::move(instance));
  return instances;
}

uint64_t Search::Attempt(Assignment* assignment) {
  const PatternGraph& graph = rule_.graph;
  repaired_.reset();
  InstanceBuilder instance(graph, draw_, *assignment);
  if (!instance.Build()) {
    if (instance.reconsidered()) repaired_ = *assignment;
    return Note(instance.ops_built(), instance.error());
  }
  const uint64_t built = graph.ops.size() + 1;
  const Operation site = instance.site();
  if (!site) return built;
  drr::MatchContext match(&rule_);
  drr::MatchFailure failure;
  if (drr::Matcher(rule_).Match(site, &match, &failure)) {
    std::string reason;
    const auto after = ApplyOnce(rule_, instance.program(), site, &reason);
    if (after == nullptr) {
      KeepRefused(instance, *assignment);
      return Note(UINT64_MAX, reason);
    }
    if (IsNew(instance, *after)) Keep(instance, *assignment);
    return UINT64_MAX;
  }
  size_t held = 0;
  const uint64_t steps = CountConstraints(site, assignment, &held);
  return Note(built + failure.progress * steps + held, failure.reason);
}

// One of those that do not hold is repaired.
uint64_t Search::CountConstraints(Operation site, Assignment* assignment, size_t* held) {
  const PatternGraph& graph = rule_.graph;
  drr::MatchContext match(&structure_);
  if (drr::Matcher(structure_).Match(site, &match)) {
    std::vector<const drr::Constraint*> broken;
    for (const drr::Constraint& constraint : graph.constraints) {
      // Native code may rely on what stands before it; words of the vocabulary rely on nothing.
      const bool is_native = constraint.formula.name.empty();
      if ((is_native && !broken.empty()) || !constraint.holds(match)) broken.push_back(&constraint);
    }
    *held = graph.constraints.size() - std::min(broken.size(), graph.constraints.size());
    if (!broken.empty()) {
      Assignment repaired = *assignment;
      bool changed = false;
      for (const drr::Constraint* constraint : broken)
        if (!draw_.OneIn(4)) changed |= Repair(constraint->formula, match, draw_, &repaired);
      if (changed) repaired_ = std::move(repaired);
    }
  }
  return graph.constraints.size() + 1;
}

bool Search::IsNew(InstanceBuilder& instance, Program& after) const {
  return options_.original == nullptr ||
         !MakesTheSame(*options_.original, instance.program(), instance.site(), after);
}

void Search::Keep(InstanceBuilder& instance, const Assignment& assignment) {
  if (!texts_.insert(ir::PrintProgram(instance.program(), {.full_weights = true})).second) return;
  std::vector<RuleInstance>& instances = NewFound(Features(assignment));
  const Operation site = instance.site();
  const std::vector<ir::Type> types = instance.input_types();
  instances.push_back({instance.TakeProgram(), site, false, types});
  if (rule_.numerics == drr::NumericClass::kExact) AddSpecial(assignment, &instances);
  if (!options_.symbolic) return;
  for (const Open open : {Open::kEqualSizes, Open::kAllSizes, Open::kRanks})
    Add(assignment, open, &instances);
}

void Search::AddSpecial(const Assignment& assignment, std::vector<RuleInstance>* instances) {
  Assignment special = assignment;
  bool has_some = false;
  for (auto& leaf : special.leaves) {
    const ir::Attribute drawn =
        leaf && leaf->constant ? draw_.DrawSpecial(leaf->constant) : ir::Attribute();
    if (drawn) leaf->constant = drawn;
    has_some |= static_cast<bool>(drawn);
  }
  if (has_some) Add(special, Open::kNothing, instances);
}

void Search::KeepRefused(InstanceBuilder& instance, const Assignment& assignment) {
  drr::MatchContext match(options_.original != nullptr ? options_.original : &rule_);
  refused_by_mistake_ +=
      options_.original == nullptr ||
      !drr::Matcher(*options_.original).Match(instance.site(), &match) ||
      ApplyOnce(*options_.original, instance.program(), instance.site(), nullptr) != nullptr;
  // Not all, of a rule that is refused again and again.
  constexpr int kMostTried = 400;
  if (refused_tried_++ > kMostTried || refused_ > options_.wanted || !options_.symbolic) return;
  std::vector<RuleInstance> instances;
  for (const Open open : {Open::kAllSizes, Open::kRanks}) Add(assignment, open, &instances);
  if (instances.empty()) return;
  if (!texts_.insert(ir::PrintProgram(*instances[0].program, {.full_weights = true})).second)
    return;
  ++refused_;
  NewFound("refused " + Features(assignment)) = std::move(instances);
}

void Search::Add(const Assignment& assignment, Open open, std::vector<RuleInstance>* instances) {
  const bool is_open = open != Open::kNothing;
  Assignment same = assignment;
  InstanceBuilder instance(rule_.graph, draw_, same, open);
  if (!instance.Build() || !instance.site()) return;
  if (is_open && !HasOpenSizes(instance.program())) return;
  const Operation site = instance.site();
  const auto after = ApplyOnce(rule_, instance.program(), site, nullptr);
  if (after == nullptr || !IsNew(instance, *after)) return;
  const std::vector<ir::Type> types = instance.input_types();
  instances->push_back({instance.TakeProgram(), site, is_open, types});
}

// Of equal features the later ones come later.
std::vector<RuleInstance>& Search::NewFound(const std::string& features) {
  const auto alike = std::count_if(found_.begin(), found_.end(), [&](const auto& f) {
    return f.first.substr(f.first.find(' ')) == " " + features;
  });
  return found_.emplace_back(fmt::format("{:03} {}", alike, features), 0).second;
}

std::string Search::Features(const Assignment& assignment) const {
  std::string features;
  const auto add = [&](size_t kind, size_t number) {
    features += fmt::format("{}:{},", kind, number);
  };
  for (const auto& alternative : assignment.alternatives) add(0, alternative.value_or(0));
  for (const auto& choice : assignment.choices) add(1, choice.value_or(0));
  for (const ir::Attribute variable : assignment.variables)
    add(6, variable ? variable.storage()->id : 0);
  for (const auto& [key, field] : assignment.fields)
    if (field && *field && field->Is(ir::AttrKind::kDataType)) add(7, field->storage()->id);
  for (const auto& swapped : assignment.swapped) add(2, swapped.value_or(false));
  std::set<int64_t> sizes;
  for (const auto& leaf : assignment.leaves) {
    if (!leaf) continue;
    if (!leaf->constant && leaf->type.rank() >= 2)
      sizes.insert(leaf->type.dims().begin(), leaf->type.dims().end());
    add(3, static_cast<size_t>(leaf->type.dtype()));
    add(4, leaf->type.rank());
    add(5, static_cast<bool>(leaf->constant));
  }
  add(8, sizes.size() == 1 && *sizes.begin() >= 2);
  return features;
}

void Search::AskWhenStuck(int attempt) {
  if (!options_.when_stuck || was_stuck_ || !found_.empty()) return;
  if (attempt < options_.attempts / 2 && ir::ThreadSeconds() < options_.stuck_at) return;
  was_stuck_ = true;
  for (Assignment& start : options_.when_stuck()) starts_.push_back(std::move(start));
}

Assignment Search::Start() {
  if (starts_.empty() || draw_.OneIn(4)) return Assignment(rule_.graph);
  Assignment start = draw_.OneOf(starts_);
  start.Forget(draw_.random(), static_cast<int>(draw_.Below(3)));
  for (int i = static_cast<int>(draw_.Below(4)); i > 0 && !start.leaves.empty(); --i) {
    std::optional<Leaf>& leaf = start.leaves[drr::ValueId(draw_.Below(start.leaves.size()))];
    if (leaf) draw_.Regroup(&*leaf);
  }
  return start;
}

std::optional<int64_t> Search::PreferredSize() {
  constexpr int64_t kSizes[] = {0, 2, 2, 3, 3};
  if (!draw_.OneIn(4)) return std::nullopt;
  return draw_.OneOf(kSizes);
}

uint64_t Search::Note(uint64_t fitness, const std::string& reason) {
  if (fitness >= furthest_) {
    furthest_ = fitness;
    if (!reason.empty()) why_ = reason;
  }
  return fitness;
}

}  // namespace

std::vector<RuleInstance> MakeInstances(const drr::Rule& rule, const InstanceOptions& options,
                                        std::string* why, int* refused) {
  Search search(rule, options);
  std::vector<RuleInstance> instances = search.Run(why);
  if (refused) *refused = search.refused();
  return instances;
}

bool HasLargeValue(Program& program) {
  bool found = false;
  ir::Walk(program, [&](Operation op) {
    for (const ir::Value result : op.results())
      found |= result.type().IsStatic() && result.type().NumElements() > kMostElementsOfValue;
  });
  return found;
}

std::unique_ptr<Program> WithKeptOutputs(const drr::Rule& rule, const RuleInstance& instance,
                                         Operation* site) {
  if (instance.symbolic) return nullptr;
  *site = instance.site;
  std::unique_ptr<Program> copy = CloneWith(*instance.program, site);
  drr::MatchContext match(&rule);
  if (!drr::Matcher(rule).Match(*site, &match)) return nullptr;
  const Operation terminator = copy->body().Terminator();
  if (!terminator) return nullptr;  // of a program that is given
  std::vector<ir::Value> outputs = terminator.operands().vec();
  const size_t before = outputs.size();
  for (const drr::ValueId id : rule.graph.values.ids()) {
    const ir::Value value = match.value(id);
    if (rule.graph.values[id].escape != drr::Escape::kForbid && value && value.DefiningOp() &&
        value.ParentBlock() == copy->body())
      outputs.push_back(value);
  }
  if (outputs.size() == before) return nullptr;
  ir::Rewriter rewriter(copy.get());
  rewriter.SetOperands(terminator, outputs);
  ir::Strings names;
  for (size_t i = 0; i < outputs.size(); ++i) names.push_back(fmt::format("y{}", i));
  rewriter.SetAttr(copy->module(), "output_names", copy->context()->StringsAttr(names));
  return copy;
}

}  // namespace weft::passes
