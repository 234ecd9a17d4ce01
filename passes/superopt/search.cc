#include "passes/superopt/search.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <unordered_set>
#include <utility>

#include "drr/engine/rule_engine.h"
#include "ir/graph_view.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/superopt/program_hash.h"

namespace weft::passes {
namespace {

using Clock = std::chrono::steady_clock;

// Of all programs in the queue, beyond which the most expensive ones are forgotten.
constexpr size_t kMaxQueued = 4096;
constexpr size_t kMaxQueuedBytes = size_t{512} << 20;

class Search {
 public:
  Search(const drr::FrozenRewritePatternSet& rules, const SearchOptions& options, bool folds);
  absl::StatusOr<SearchResult> Run(const ir::Program& program);

 private:
  struct State {
    std::unique_ptr<ir::Program> program;
    int path = -1;                      // in paths_; -1: the program given
    std::vector<SearchStep> left = {};  // to be tried
    bool listed = false;                // whether `left` was filled
  };
  struct Path {
    int before;
    SearchStep step;
  };
  CostModel& model() { return options_.cost ? *options_.cost : analytic_; }
  double SecondsLeft() const {
    return options_.seconds - std::chrono::duration<double>(Clock::now() - begin_).count();
  }
  bool IsOver();
  void Push(double cost, State state);
  // Takes the cheapest program and tries what is left to be tried on it.
  void Expand();
  // All rules at all operations, in the order in which they are taken from the back.
  void List(State* state);
  void Try(const State& from, SearchStep step);
  void Report();
  std::vector<SearchStep> StepsTo(int path) const;

  const drr::FrozenRewritePatternSet& rules_;
  const SearchOptions& options_;
  const bool folds_;
  const Clock::time_point begin_;
  AnalyticCostModel analytic_;
  std::mt19937_64 random_;
  // By cost; of equal cost the one found first.
  std::map<std::pair<double, uint64_t>, State> queue_;
  std::unordered_set<uint64_t> seen_;
  std::vector<Path> paths_;
  std::unique_ptr<ir::Program> best_;
  int best_path_ = -1;
  uint64_t sequence_ = 0;
  size_t bytes_ = 0;
  uint32_t max_ops_ = 0;
  bool over_ = false;
  SearchProgress progress_;
};

Search::Search(const drr::FrozenRewritePatternSet& rules, const SearchOptions& options, bool folds)
    : rules_(rules), options_(options), folds_(folds), begin_(Clock::now()) {
  if (options.seed) random_.seed(*options.seed);
}

absl::StatusOr<SearchResult> Search::Run(const ir::Program& program) {
  State start{.program = program.Clone()};
  WEFT_ASSIGN_OR_RETURN(const double cost, ProgramCost(*start.program, model(), folds_));
  progress_.first_cost = progress_.best_cost = cost;
  max_ops_ = 2 * start.program->num_operations();
  best_ = start.program->Clone();
  seen_.insert(ProgramHash(*start.program));
  Push(cost, std::move(start));
  while (!queue_.empty() && !IsOver() &&
         progress_.expanded < static_cast<uint64_t>(options_.budget))
    Expand();
  return SearchResult{StepsTo(best_path_), std::move(best_), progress_};
}

bool Search::IsOver() {
  over_ = over_ || SecondsLeft() <= 0 || (options_.stop && options_.stop());
  return over_;
}

void Search::Push(double cost, State state) {
  bytes_ += state.program->graph_bytes();
  queue_.emplace(std::pair(cost, sequence_++), std::move(state));
  while (queue_.size() > kMaxQueued || (bytes_ > kMaxQueuedBytes && queue_.size() > 1)) {
    const auto last = std::prev(queue_.end());
    bytes_ -= last->second.program->graph_bytes();
    queue_.erase(last);
  }
  progress_.queued = queue_.size();
}

void Search::Expand() {
  auto node = queue_.extract(queue_.begin());
  State state = std::move(node.mapped());
  const double cost = node.key().first;
  bytes_ -= state.program->graph_bytes();
  ++progress_.expanded;
  if (cost >= options_.alpha * progress_.best_cost && cost > progress_.best_cost) return;
  if (!state.listed) List(&state);
  size_t tries =
      options_.seed ? std::min(SearchOptions::kDraws, state.left.size()) : state.left.size();
  for (; tries > 0 && !IsOver(); --tries) {
    const SearchStep step = state.left.back();
    state.left.pop_back();
    Try(state, step);
    Report();
  }
  if (!state.left.empty() && !IsOver()) Push(cost, std::move(state));
}

void Search::List(State* state) {
  state->listed = true;
  const ir::GraphView view(state->program.get());
  uint32_t site = 0;
  ir::Walk(*state->program, [&](ir::Operation op) {
    for (const uint32_t rule : rules_.StartingAt(op.opcode()))
      if (rules_.engines()[rule].Match(view, op.id())) state->left.push_back({rule, site});
    ++site;
  });
  std::reverse(state->left.begin(), state->left.end());
  if (!options_.seed) return;
  for (size_t i = state->left.size(); i > 1; --i)
    std::swap(state->left[i - 1], state->left[random_() % i]);
}

void Search::Try(const State& from, SearchStep step) {
  std::unique_ptr<ir::Program> program = from.program->Clone();
  if (!ApplyStep(rules_, step, *program)) return;
  ++progress_.candidates;
  if (program->num_operations() >= max_ops_) return;
  if (!seen_.insert(ProgramHash(*program)).second) return;
  const absl::StatusOr<double> cost = ProgramCost(*program, model(), folds_);
  if (!cost.ok() || *cost >= options_.alpha * progress_.best_cost) return;
  paths_.push_back({from.path, step});
  const int path = static_cast<int>(paths_.size()) - 1;
  if (*cost < progress_.best_cost) {
    progress_.best_cost = *cost;
    best_ = program->Clone();
    best_path_ = path;
  }
  Push(*cost, {.program = std::move(program), .path = path});
}

void Search::Report() {
  if (!options_.progress) return;
  progress_.seconds_left = SecondsLeft();
  options_.progress(progress_);
}

std::vector<SearchStep> Search::StepsTo(int path) const {
  std::vector<SearchStep> steps;
  for (; path >= 0; path = paths_[path].before) steps.push_back(paths_[path].step);
  std::reverse(steps.begin(), steps.end());
  return steps;
}

ir::Operation OperationAt(ir::Program& program, uint32_t site) {
  ir::Operation found;
  uint32_t i = 0;
  ir::Walk(program, [&](ir::Operation op) {
    if (i++ == site) found = op;
  });
  return found;
}

}  // namespace

bool ApplyStep(const drr::FrozenRewritePatternSet& rules, SearchStep step, ir::Program& program) {
  const ir::Operation op = OperationAt(program, step.site);
  if (!op) return false;
  const ir::GraphView view(&program);
  ir::Rewriter rewriter(&program);
  drr::RuleEngine& engine = rules.engines()[step.rule];
  if (!engine.Match(view, op.id()) || !engine.Apply(view, rewriter, nullptr)) return false;
  return MakePass("common-subexpression-elimination")->Run(program).ok();
}

absl::StatusOr<SearchResult> SearchPrograms(const ir::Program& program,
                                            const drr::FrozenRewritePatternSet& rules,
                                            const SearchOptions& options, bool folds) {
  WEFT_RETURN_IF_ERROR(rules.status());
  return Search(rules, options, folds).Run(program);
}

}  // namespace weft::passes
