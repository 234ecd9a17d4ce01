#include "drr/engine/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/engine/applier.h"
#include "ir/base/escape.h"
#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft::drr {

using ir::Operation;
using ir::Program;
using ir::Value;

namespace {

std::vector<Operation> OpsOf(Program& program) {
  std::vector<Operation> ops;
  ir::Walk(program, [&](Operation op) { ops.push_back(op); });
  return ops;
}

// A copy of the program, made when the first match has to be tried. A match that declines leaves it
// as it is; after one that applies it is of no more use.
class Rehearsal {
 public:
  explicit Rehearsal(const Rule& rule) : rule_(rule) {}

  // Whether the match of the rule at `op` can be put in place; *reason says why not.
  bool Applies(Operation op, std::string* reason) {
    // Taken on trust: further sites, see Explanation::kApplies, and what is of one program only.
    if (spent_ || !rule_.graph.outside.empty()) return true;
    if (!copy_) {
      copy_ = op.program()->Clone();
      copies_.resize(op.program()->op_slots());
      const std::vector<Operation> from = OpsOf(*op.program()), to = OpsOf(*copy_);
      for (size_t i = 0; i < from.size(); ++i) copies_[from[i].id()] = to[i];
    }
    MatchContext match(&rule_);
    if (!Matcher(rule_).Match(copies_[op.id()], &match)) {
      *reason = "a constraint of the rule gives another answer on a copy of the program";
      return false;
    }
    ir::Rewriter rewriter(copy_.get());
    spent_ = Apply(match, rewriter, reason);
    return spent_;
  }

 private:
  const Rule& rule_;
  std::unique_ptr<Program> copy_;
  std::vector<Operation> copies_;  // by the id of the original
  bool spent_ = false;
};

size_t NumBound(const Rule& rule, const MatchContext& match) {
  size_t bound = 0;
  for (OpId op : rule.graph.ops.ids()) bound += bool{match.op(op)};
  return bound;
}

// The best of all `ops`, in their order.
Explanation ExplainAmong(const Rule& rule, const std::vector<Operation>& ops) {
  Explanation result;
  result.rule = &rule;
  Matcher matcher(rule);
  Rehearsal rehearsal(rule);
  MatchFailure& failure = result.failure;  // keeps the furthest over all sites
  for (Operation op : ops) {
    MatchContext match(&rule);
    const bool none_yet = failure.reason.empty();
    const size_t progress = failure.progress;
    std::string reason;
    if (!matcher.Match(op, &match, &failure)) {
      if (none_yet || failure.progress > progress) result.site = op;
    } else if (rehearsal.Applies(op, &reason)) {
      result.sites.push_back(op);
    } else if (failure.progress < SIZE_MAX) {
      failure = {};
      failure.progress = SIZE_MAX;  // nothing comes closer
      failure.reason = "it matches, but the result cannot be put in place: " + reason;
      failure.ops_bound = NumBound(rule, match);
      result.site = op;
    }
  }
  if (!result.sites.empty()) {
    result.outcome = Explanation::kApplies;
    result.site = result.sites[0];
    failure = {};
  } else if (failure.progress > 0) {
    result.outcome = Explanation::kRefused;
  } else {
    result.site = ops.size() == 1 ? ops[0] : Operation();
  }
  return result;
}

// What the op is where matching starts.
std::vector<std::string_view> RootNames(const Rule& rule) {
  std::vector<std::string_view> names;
  const auto add = [&](std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (OpId producer : rule.graph.RootProducers()) {
    const SourceOp& op = rule.graph.ops[producer];
    if (op.alternatives.empty()) add(op.Name());
    for (const Alternative& alternative : op.alternatives) add(alternative.def->name());
  }
  return names;
}

std::string LineOf(Operation op, const ir::ValueNumbering& numbering) {
  return ir::PrintOperation(op, numbering, {.max_inline_elements = 8, .locations = true});
}

std::string TextOf(Value value, const ir::ValueNumbering& numbering) {
  if (!value) return "not given";
  std::string text = numbering.NameOf(value);
  if (!value.name().empty()) text += fmt::format(" \"{}\"", value.name());
  return text + " : " + value.type().ToString();
}

void AddRefusal(const Explanation& e, const ir::ValueNumbering& numbering,
                ExplanationParts* parts) {
  const MatchFailure& f = e.failure;
  parts->ops_found = f.ops_bound;
  parts->because = f.reason;
  parts->expected = f.expected;
  parts->found = f.found;
  if (f.op && !(f.op == e.site)) parts->in = LineOf(f.op, numbering);
  if (f.value) parts->value = TextOf(f.value, numbering);
  if (f.user) parts->read_by = LineOf(f.user, numbering);
  for (const auto& [name, value] : f.bound)
    parts->where.emplace_back(name, TextOf(value, numbering));
  if (f.loc.line > 0) {
    const std::string_view file = f.loc.file;
    parts->rule_line = fmt::format("{}:{}", file.substr(file.rfind('/') + 1), f.loc.line);
  }
}

std::string RefusalText(const ExplanationParts& parts) {
  std::string text;
  const auto add = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<10}{}\n", what, ir::EscapeControl(value));
  };
  add("because", parts.because);
  add("expected", parts.expected);
  add("found", parts.found);
  add("in", parts.in);
  add("value", parts.value);
  add("read by", parts.read_by);
  for (const auto& [name, value] : parts.where) add("where", fmt::format("{} is {}", name, value));
  add("rule line", parts.rule_line);
  return text;
}

}  // namespace

Explanation ExplainAt(const Rule& rule, Operation op) { return ExplainAmong(rule, {op}); }

Explanation ExplainNearest(const Rule& rule, Program& program) {
  return ExplainAmong(rule, OpsOf(program));
}

Explanation ExplainValue(const Rule& rule, Value value) {
  Explanation best;
  best.rule = &rule;
  std::vector<Operation> level;
  if (const Operation op = value.DefiningOp()) {
    level.push_back(op);
    best = ExplainAt(rule, op);
    if (best.outcome != Explanation::kNoSite) return best;
  } else {
    level = value.users();
  }
  // No op of the rule is further from its root than the rule has ops.
  std::vector<bool> seen(value.program()->op_slots(), false);  // by op id
  for (Operation op : level) seen[op.id()] = true;
  for (size_t i = 0; i < rule.graph.ops.size() && !level.empty(); ++i) {
    Explanation here = ExplainAmong(rule, level);
    if (here.outcome == Explanation::kApplies) return here;
    if (here.outcome == Explanation::kRefused &&
        (best.outcome == Explanation::kNoSite || here.failure.progress > best.failure.progress))
      best = std::move(here);
    std::vector<Operation> next;
    for (Operation op : level)
      for (Value result : op.results())
        for (Operation user : result.users())
          if (!seen[user.id()]) {
            seen[user.id()] = true;
            next.push_back(user);
          }
    level = std::move(next);
  }
  return best;
}

ExplanationParts PartsOf(const Explanation& e) {
  ExplanationParts parts;
  parts.ops_of_rule = e.rule->graph.ops.size();
  if (!e.site) return parts;
  const ir::ValueNumbering numbering(*e.site.program());
  if (e.outcome == Explanation::kApplies) {
    for (const Operation site : e.sites) parts.sites.push_back(LineOf(site, numbering));
    return parts;
  }
  parts.sites.push_back(LineOf(e.site, numbering));
  if (e.outcome == Explanation::kRefused) AddRefusal(e, numbering, &parts);
  return parts;
}

std::string ToString(const Explanation& e) {
  const std::string& rule = e.rule->name;
  if (!e.site)
    return fmt::format("{} does not fit: there is no {}\n", rule,
                       fmt::join(RootNames(*e.rule), " or "));
  const ExplanationParts parts = PartsOf(e);
  if (e.outcome == Explanation::kNoSite)
    return fmt::format("{} does not fit; it ends in {}, which is not\n  {}\n", rule,
                       fmt::join(RootNames(*e.rule), " or "), parts.sites[0]);
  if (e.outcome == Explanation::kRefused)
    return fmt::format("{} does not fit; with {} of {} operations found it fails at\n  {}\n{}",
                       rule, parts.ops_found, parts.ops_of_rule, parts.sites[0],
                       RefusalText(parts));
  constexpr size_t kFewSites = 5;
  std::string text = fmt::format("{} fits at {} place{}\n", rule, parts.sites.size(),
                                 parts.sites.size() == 1 ? "" : "s");
  for (size_t i = 0; i < parts.sites.size() && i < kFewSites; ++i)
    text += "  " + parts.sites[i] + "\n";
  if (parts.sites.size() > kFewSites)
    text += fmt::format("  and {} more\n", parts.sites.size() - kFewSites);
  return text;
}

}  // namespace weft::drr
