#include "passes/rewrite_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Program;
using ir::Value;

// The operation alone, without what its regions hold.
std::string FirstLine(const std::string& text) {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

uint32_t ParentOf(Operation op) {
  const Operation parent = op.ParentOp();
  return parent ? parent.id() : ir::kNoId;
}

}  // namespace

std::string DescribeSite(Operation op) {
  const std::string_view location = op.location().str();
  std::string text(op.name());
  if (op.num_results() > 0 && !op.result(0).name().empty())
    text += fmt::format(" %{}", op.result(0).name());
  if (!location.empty()) text += fmt::format(" ({})", location);
  return text;
}

class RewriteTrace::Recorder : public ir::RewriteListener {
 public:
  Recorder(RewriteTrace* trace, ir::RewriteListener* next) : trace_(*trace), next_(next) {}

  void OnInserted(Operation op) override {
    Touch(op);
    if (trace_.program_) trace_.came_.push_back({op.id(), ParentOf(op), std::string(op.name())});
    if (next_) next_->OnInserted(op);
  }
  void OnReleased(Value value) override {
    Touch();
    if (next_) next_->OnReleased(value);
  }
  void OnModified(Operation op) override {
    if (next_) next_->OnModified(op);
  }
  void OnReplacedInPlace(Operation op, std::span<const uint32_t> erased,
                         std::span<const uint32_t> released) override {
    if (next_) next_->OnReplacedInPlace(op, erased, released);
  }
  void OnReplaced(Operation op, std::span<const Value> with) override {
    Touch();
    if (trace_.program_)
      for (const Value value : with)
        if (const Operation def = value ? value.DefiningOp() : Operation())
          trace_.stand_ins_.push_back(def);
    if (next_) next_->OnReplaced(op, with);
  }
  void OnErased(Operation op) override {
    Touch();
    if (trace_.program_) Erased(op);
    if (next_) next_->OnErased(op);
  }

 private:
  void Touch(Operation made = {}) {
    if (trace_.program_) trace_.KeepText(made);
  }
  // What the rewrite itself had made neither came nor went.
  void Erased(Operation op) {
    const auto made = std::find_if(trace_.came_.begin(), trace_.came_.end(),
                                   [&](const Op& it) { return it.id == op.id(); });
    if (made == trace_.came_.end()) {
      trace_.went_.push_back({op.id(), ParentOf(op), std::string(op.name())});
    } else {
      trace_.came_.erase(made);
    }
  }

  RewriteTrace& trace_;
  ir::RewriteListener* next_;
};

RewriteTrace::RewriteTrace(RewriteTraceOptions options) : options_(std::move(options)) {}
RewriteTrace::~RewriteTrace() = default;

ir::RewriteListener* RewriteTrace::Listener(ir::RewriteListener* next) {
  recorders_.push_back(std::make_unique<Recorder>(this, next));
  return recorders_.back().get();
}

void RewriteTrace::BeginPass(std::string_view pass, Program& program) {
  pass_ = pass;
  count_before_pass_ = count_;
  program_ = nullptr;
  recorders_.clear();
  ops_before_pass_.clear();
  names_before_pass_.clear();
  ir::Walk(program, [&](Operation op) {
    ops_before_pass_.push_back(op);
    names_before_pass_.emplace_back(op.name());
  });
  if (options_.lines) text_before_pass_ = TextOf(program, {});
  Announce("", {}, program);
}

void RewriteTrace::Announce(std::string_view rule, Operation site, Program& program) {
  rewrite_ = {.number = count_ + 1, .pass = pass_, .rule = std::string(rule)};
  if (site && (options_.on_rewrite || options_.before_rewrite)) rewrite_.site = DescribeSite(site);
  rewrite_.root = site;
  if (options_.before_rewrite) options_.before_rewrite(rewrite_, program);
  rewrite_.root = {};
}

void RewriteTrace::EndPass(bool changed, Program& program) {
  program_ = nullptr;
  if (!changed || count_ != count_before_pass_) return;
  rewrite_ = {.number = count_ + 1, .pass = pass_};
  std::unordered_set<uint32_t> stayed;
  for (size_t i = 0; i < ops_before_pass_.size(); ++i) {
    if (ops_before_pass_[i].IsAlive()) {
      stayed.insert(ops_before_pass_[i].id());
    } else {
      rewrite_.went.push_back(names_before_pass_[i]);
      rewrite_.went_ids.push_back(ops_before_pass_[i].id());
    }
  }
  came_.clear();
  ir::Walk(program, [&](Operation op) {
    if (!stayed.contains(op.id())) came_.push_back({op.id(), ParentOf(op), std::string(op.name())});
  });
  ListOutermost(came_, &rewrite_.came, &rewrite_.came_ids);
  if (options_.lines)
    rewrite_.lines = Difference(text_before_pass_, TextOf(program, text_before_pass_.values));
  Report();
}

void RewriteTrace::Begin(std::string_view rule, Operation site) {
  program_ = nullptr;
  Announce(rule, site, *site.program());
  program_ = site.program();
  went_.clear();
  came_.clear();
  stand_ins_.clear();
  has_text_ = false;
  // A rule that has matched is worth the time. Folding is tried at every operation, and the first that
  // it does to one is to make a constant, which is announced before anything reads it.
  if (rule != "fold") KeepText();
}

void RewriteTrace::KeepText(Operation made) {
  if (!options_.lines || has_text_) return;
  has_text_ = true;
  std::vector<Value> values = TextOf(*program_, {}).values;
  if (made) std::erase_if(values, [&](Value v) { return v.DefiningOp() == made; });
  text_ = TextOf(*program_, values, made);
}

bool RewriteTrace::Commit() {
  ListOutermost(went_, &rewrite_.went, &rewrite_.went_ids);
  ListOutermost(came_, &rewrite_.came, &rewrite_.came_ids);
  if (rewrite_.rule == "merge") {
    for (const Operation op : stand_ins_) rewrite_.stayed_ids.push_back(op.id());
  }
  if (has_text_) rewrite_.lines = Difference(text_, TextOf(*program_, text_.values));
  program_ = nullptr;
  Report();
  return AtLimit();
}

void RewriteTrace::Report() {
  ++count_;
  if (options_.on_rewrite) options_.on_rewrite(rewrite_);
}

void RewriteTrace::ListOutermost(const std::vector<Op>& ops, std::vector<std::string>* names,
                                 std::vector<uint32_t>* ids) {
  std::unordered_set<uint32_t> all;
  for (const Op& op : ops) all.insert(op.id);
  for (const Op& op : ops) {
    if (all.contains(op.parent)) continue;
    names->push_back(op.name);
    ids->push_back(op.id);
  }
}

RewriteTrace::Text RewriteTrace::TextOf(Program& program, const std::vector<Value>& numbered,
                                        Operation made) {
  const ir::ValueNumbering numbering(program, numbered);
  Text text;
  const auto add = [&](Value value) {
    const size_t number = numbering.Of(value);
    if (number >= text.values.size()) text.values.resize(number + 1);
    text.values[number] = value;
  };
  for (const Value argument : program.body().arguments()) add(argument);
  ir::Walk(program, [&](Operation op) {
    for (const Value result : op.results()) add(result);
    for (uint32_t i = 0; i < op.num_regions(); ++i)
      for (const ir::Block block : op.region(i).blocks())
        for (const Value argument : block.arguments()) add(argument);
    if (!(op == made)) text.lines.emplace_back(op, FirstLine(ir::PrintOperation(op, numbering)));
  });
  return text;
}

// Operations that stay keep their order, or those that were moved count as gone and come back.
std::vector<std::string> RewriteTrace::Difference(const Text& before, const Text& after) {
  std::unordered_map<uint32_t, size_t> place;  // of what stayed, in `after`
  std::unordered_set<uint32_t> alive;
  for (const auto& [op, line] : before.lines)
    if (op.IsAlive()) alive.insert(op.id());
  for (size_t i = 0; i < after.lines.size(); ++i)
    if (alive.contains(after.lines[i].first.id())) place[after.lines[i].first.id()] = i;
  std::vector<std::string> lines;
  size_t next = 0;
  const auto add_until = [&](size_t end) {
    for (; next < end; ++next) lines.push_back("+" + after.lines[next].second);
  };
  for (const auto& [op, line] : before.lines) {
    const auto it = op.IsAlive() ? place.find(op.id()) : place.end();
    if (it == place.end() || it->second < next) {
      lines.push_back("-" + line);
      continue;
    }
    add_until(it->second);
    if (after.lines[next].second != line) {
      lines.push_back("-" + line);
      lines.push_back("+" + after.lines[next].second);
    }
    ++next;
  }
  add_until(after.lines.size());
  return lines;
}

}  // namespace weft::passes
