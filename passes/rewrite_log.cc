#include "passes/rewrite_log.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/verifier.h"
#include "ir/text/printer.h"
#include "passes/greedy_driver.h"
#include "passes/rewrite_trace.h"

namespace weft::passes::internal {

void RewriteLog::RecordSite(ir::Operation root) { site_ = DescribeSite(root); }

size_t RewriteLog::Period() const {
  const size_t kept = std::min<size_t>(count_, kKept);
  const auto at = [&](size_t back) { return last_[(count_ - 1 - back) % kKept]; };
  for (size_t period = 1; period <= kept / 2; ++period) {
    bool repeats = true;
    for (size_t i = 0; repeats && i + period < kept; ++i) repeats = at(i) == at(i + period);
    if (repeats) return period;
  }
  return 0;
}

std::string RewriteLog::Explain(const std::vector<RuleStatistics>& rules, uint64_t ops_now) const {
  std::vector<const RuleStatistics*> busiest;
  for (const RuleStatistics& s : rules)
    if (s.applied) busiest.push_back(&s);
  std::stable_sort(busiest.begin(), busiest.end(),
                   [](auto* a, auto* b) { return a->applied > b->applied; });
  std::string names;
  for (size_t i = 0; i < busiest.size() && i < 3; ++i)
    names += fmt::format("{}{} ({} times)", i ? ", " : "", busiest[i]->rule, busiest[i]->applied);
  const size_t period = Period();
  if (ops_now > ops_at_start_)
    return fmt::format("{}: the program grew from {} to {} operations, the last time at {}", names,
                       ops_at_start_, ops_now, site_);
  if (period == 1) return fmt::format("{}: it applies to what it makes, at {}", names, site_);
  if (period > 1) return fmt::format("{}: they undo each other at {}", names, site_);
  return fmt::format("{}, the last time at {}", names, site_);
}

void CountDecline(RuleStatistics& stats, const std::string& reason) {
  constexpr size_t kMaxReasons = 16;  // kept per rule
  auto it = std::find_if(stats.declines.begin(), stats.declines.end(),
                         [&](const auto& d) { return d.first == reason; });
  if (it == stats.declines.end()) {
    const bool full = stats.declines.size() >= kMaxReasons;
    if (!full) stats.declines.emplace_back(reason, 0);
    if (stats.declines.size() == kMaxReasons && !full)
      stats.declines.back().first = "other reasons";
    it = stats.declines.end() - 1;
  }
  ++it->second;
}

absl::Status CheckRewrite(ir::Program& program, const std::string& rule, bool applied,
                          const std::optional<std::string>& before) {
  if (before) {
    const bool same = *before == ir::PrintProgram(program);
    if (applied && same)
      return ir::Internal(fmt::format("rule {} was applied but changed nothing", rule));
    if (!applied && !same)
      return ir::Internal(fmt::format("rule {} declined but changed the program", rule));
  }
  if (absl::Status s = ir::Verify(program); !s.ok())
    return ir::Internal(fmt::format("rule {} broke the program: {}", rule, ir::Message(s)));
  return absl::OkStatus();
}

}  // namespace weft::passes::internal
