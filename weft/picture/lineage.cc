#include "weft/picture/lineage.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "ir/walk.h"

namespace weft::picture {
namespace {

using ir::Operation;

void SortAndUnite(std::vector<uint32_t>* numbers) {
  std::sort(numbers->begin(), numbers->end());
  numbers->erase(std::unique(numbers->begin(), numbers->end()), numbers->end());
}

void Append(std::vector<uint32_t>* all, const std::vector<uint32_t>& more) {
  all->insert(all->end(), more.begin(), more.end());
}

}  // namespace

RewriteRecorder::RewriteRecorder(ir::Program& program) : program_(program) {
  ir::Walk(program, [&](Operation op) {
    const uint32_t life = AddLife(op);
    if (!lives_[life].is_constant) lives_[life].originals = {life};
  });
  num_originals_ = lives_.size();
}

uint32_t RewriteRecorder::AddLife(Operation op) {
  const uint32_t number = static_cast<uint32_t>(lives_.size());
  life_of_op_[op.id()] = number;
  lives_.push_back({.op = op,
                    .name = std::string(op.name()),
                    .place = std::string(op.location().str()),
                    .is_constant = op.HasTrait(ir::kConstantLike)});
  return number;
}

// Passes call what they do to single operations fold, merge and the like.
int RewriteRecorder::LabelOf(const passes::TracedRewrite& rewrite) {
  return LabelOf(rule_of_name_.contains(rewrite.rule) ? rewrite.rule : rewrite.pass);
}

int RewriteRecorder::LabelOf(const std::string& name) {
  const auto [it, is_new] = label_of_name_.try_emplace(name, static_cast<int>(labels_.size()));
  if (is_new) labels_.push_back(name);
  return it->second;
}

void RewriteRecorder::Record(const passes::TracedRewrite& rewrite) {
  const uint32_t number = static_cast<uint32_t>(steps_.size()) + 1;
  LineageStep step{.pass = rewrite.pass,
                   .site = rewrite.site,
                   .label = LabelOf(rewrite),
                   .removed = rewrite.went,
                   .added = rewrite.came};
  Moved moved;
  ++moments_;
  for (const uint32_t id : rewrite.went_ids) {
    const auto it = life_of_op_.find(id);
    if (it == life_of_op_.end()) continue;
    lives_[it->second].gone_by = number;
    lives_[it->second].ended = moments_;
    moved.gone.push_back(it->second);
    if (!lives_[it->second].is_constant) ++step.operations_removed;
    life_of_op_.erase(it);
  }
  for (const uint32_t id : rewrite.came_ids) {
    const Operation op = program_.OperationAtSlot(id);
    if (!op) continue;
    const uint32_t life = AddLife(op);
    lives_[life].made_by = number;
    lives_[life].made_label = step.label;
    moved.made.push_back(life);
    if (!lives_[life].is_constant) ++step.operations_added;
  }
  AddParents(moved.gone, moved.made, rewrite.rule.empty());
  Merge(moved.gone, rewrite.stayed_ids);
  steps_.push_back(std::move(step));
  moved_.push_back(std::move(moved));
}

void RewriteRecorder::AddParents(const std::vector<uint32_t>& gone,
                                 const std::vector<uint32_t>& made, bool by_place) {
  std::unordered_map<std::string, std::vector<uint32_t>> gone_of_name;
  for (const uint32_t g : gone)
    if (!lives_[g].is_constant)
      gone_of_name[by_place ? lives_[g].place : lives_[g].name].push_back(g);
  std::unordered_map<std::string, bool> made_names;
  for (const uint32_t m : made) made_names[lives_[m].name] = true;
  for (const uint32_t m : made) {
    Life& life = lives_[m];
    if (life.is_constant) continue;
    const auto alike = gone_of_name.find(by_place ? life.place : life.name);
    if (by_place) {
      if (alike != gone_of_name.end() && !life.place.empty()) life.parents = alike->second;
    } else {
      for (const uint32_t g : gone)
        if (!lives_[g].is_constant && (alike == gone_of_name.end() || lives_[g].name == life.name ||
                                       !made_names[lives_[g].name]))
          life.parents.push_back(g);
    }
    for (const uint32_t parent : life.parents) {
      lives_[parent].children.push_back(m);
      Append(&life.originals, lives_[parent].originals);
    }
    SortAndUnite(&life.originals);
  }
}

void RewriteRecorder::Merge(const std::vector<uint32_t>& gone,
                            const std::vector<uint32_t>& stayed_ids) {
  for (const uint32_t id : stayed_ids) {
    const auto it = life_of_op_.find(id);
    if (it == life_of_op_.end() || lives_[it->second].is_constant) continue;
    for (const uint32_t g : gone) {
      lives_[g].children.push_back(it->second);
      Append(&lives_[it->second].originals, lives_[g].originals);
    }
    SortAndUnite(&lives_[it->second].originals);
  }
}

passes::PassManager::Hook RewriteRecorder::hook() {
  return [this](const passes::Pass& pass, bool after, bool /*changed*/, ir::Program&) {
    if (after) return Sync(pass.name());
    if (!pass.patterns()) return;
    for (const auto& rule : pass.patterns()->rules())  // which do not outlive the run
      if (rule_of_name_.try_emplace(rule->name, rules_.size()).second)
        rules_.push_back(std::make_shared<drr::Rule>(*rule));
  };
}

// What passes do besides what they report: erase what nobody reads, and make something.
void RewriteRecorder::Sync(const std::string& pass) {
  std::vector<uint32_t> gone, made;
  ++moments_;
  for (uint32_t i = 0; i < lives_.size(); ++i) {
    Life& life = lives_[i];
    if (life.gone_by > 0 || life.gone_label >= 0 || life.op.IsAlive()) continue;
    life.gone_label = LabelOf(pass);
    life.ended = moments_;
    gone.push_back(i);
  }
  ir::Walk(program_, [&](Operation op) {
    const auto it = life_of_op_.find(op.id());
    if (it != life_of_op_.end() && lives_[it->second].op.IsAlive()) return;
    made.push_back(AddLife(op));
    lives_.back().made_label = LabelOf(pass);
  });
  AddParents(gone, made, true);
}

// Children live longer than their parents.
void RewriteRecorder::FindFinals() {
  std::vector<uint32_t> last_first(lives_.size());
  std::iota(last_first.begin(), last_first.end(), 0u);
  std::stable_sort(last_first.begin(), last_first.end(), [this](uint32_t a, uint32_t b) {
    return lives_[a].ended - 1 > lives_[b].ended - 1;  // 0, which lasts, becomes the greatest
  });
  for (const uint32_t i : last_first) {
    Life& life = lives_[i];
    life.finals.clear();
    if (life.is_constant) continue;
    if (life.op.IsAlive()) life.finals.push_back(i);
    for (const uint32_t child : life.children) Append(&life.finals, lives_[child].finals);
    SortAndUnite(&life.finals);
  }
}

// Of the step that removed most among those that led to the operation, the last of equals.
int RewriteRecorder::StrongestLabel(uint32_t life, std::vector<uint32_t>* steps) const {
  std::vector<uint32_t> todo = {life};
  std::unordered_set<uint32_t> seen = {life};
  int label = lives_[life].made_label;
  while (!todo.empty()) {
    const Life& it = lives_[todo.back()];
    todo.pop_back();
    if (it.made_by > 0) steps->push_back(it.made_by);
    for (const uint32_t parent : it.parents)
      if (seen.insert(parent).second) todo.push_back(parent);
  }
  SortAndUnite(steps);
  uint32_t most = 0;
  for (const uint32_t step : *steps) {
    if (steps_[step - 1].operations_removed < most) continue;
    most = steps_[step - 1].operations_removed;
    label = steps_[step - 1].label;
  }
  return label;
}

Lineage RewriteRecorder::Finish(const Graph& before, const Graph& after) {
  FindFinals();
  before_node_.clear();
  ir::Walk(*before.program, [&](Operation op) { before_node_.push_back(before.NodeOf(op)); });
  Lineage lineage;
  lineage.before.resize(before.nodes.size());
  lineage.after.resize(after.nodes.size());
  DescribeAfter(after, &lineage);
  DescribeBefore(before, &lineage);
  lineage.steps = steps_;
  DescribeSteps(after, &lineage);
  lineage.labels = labels_;
  return lineage;
}

void RewriteRecorder::DescribeAfter(const Graph& after, Lineage* lineage) const {
  for (uint32_t node = 0; node < after.nodes.size(); ++node) {
    if (after.nodes[node].kind != Node::kOperation) continue;
    const auto it = life_of_op_.find(after.nodes[node].op.id());
    if (it == life_of_op_.end()) continue;
    NodeLineage& info = lineage->after[node];
    info.label = StrongestLabel(it->second, &info.steps);
    for (const uint32_t original : lives_[it->second].originals)
      if (before_node_[original] >= 0)
        info.relatives.push_back(static_cast<uint32_t>(before_node_[original]));
  }
}

void RewriteRecorder::DescribeBefore(const Graph& before, Lineage* lineage) const {
  for (uint32_t node = 0; node < lineage->after.size(); ++node)
    for (const uint32_t relative : lineage->after[node].relatives)
      lineage->before[relative].relatives.push_back(node);
  for (uint32_t i = 0; i < num_originals_; ++i) {
    const Life& life = lives_[i];
    if (before_node_[i] < 0 || life.op.IsAlive()) continue;
    NodeLineage& info = lineage->before[static_cast<size_t>(before_node_[i])];
    info.gone_by = life.gone_by;
    info.label = life.gone_by > 0 ? steps_[life.gone_by - 1].label : life.gone_label;
    if (!info.relatives.empty() && lineage->after[info.relatives[0]].label >= 0)
      info.label = lineage->after[info.relatives[0]].label;
  }
  // What regions hold went with the operation that has them.
  for (uint32_t node = 0; node < before.nodes.size(); ++node) {
    NodeLineage& info = lineage->before[node];
    const int holder = before.nodes[node].holder;
    if (holder >= 0 && info.label < 0 && info.relatives.empty() && info.gone_by == 0 &&
        lineage->before[holder].gone_by > 0) {
      info.gone_by = lineage->before[holder].gone_by;
      info.label = lineage->before[holder].label;
    }
  }
}

void RewriteRecorder::DescribeSteps(const Graph& after, Lineage* lineage) const {
  for (size_t i = 0; i < lineage->steps.size(); ++i) {
    LineageStep& step = lineage->steps[i];
    for (const uint32_t life : moved_[i].gone)
      for (const uint32_t original : lives_[life].originals)
        if (before_node_[original] >= 0)
          step.before.push_back(static_cast<uint32_t>(before_node_[original]));
    for (const uint32_t life : moved_[i].made)
      for (const uint32_t final : lives_[life].finals)
        if (const int node = after.NodeOf(lives_[final].op); node >= 0)
          step.after.push_back(static_cast<uint32_t>(node));
    SortAndUnite(&step.before);
    SortAndUnite(&step.after);
  }
}

}  // namespace weft::picture
