#include "tools/cli/rule_bound.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "passes/rule_registry.h"
#include "passes/transformation.h"
#include "tools/cli/exit_code.h"

namespace weft::tools {
namespace {

struct Comparison {
  std::string_view text, expected;  // "expected <expected> N applications"
  bool (*holds)(uint64_t a, uint64_t b);
};
// Those of two characters first.
constexpr Comparison kComparisons[] = {
    {"<=", "more than", [](uint64_t a, uint64_t b) { return a <= b; }},
    {">=", "fewer than", [](uint64_t a, uint64_t b) { return a >= b; }},
    {"<", "at least", [](uint64_t a, uint64_t b) { return a < b; }},
    {">", "at most", [](uint64_t a, uint64_t b) { return a > b; }},
    {"=", "other than", [](uint64_t a, uint64_t b) { return a == b; }},
};

absl::StatusOr<RuleBound> Split(const std::string& text) {
  const size_t at = text.find_first_of("<>=");
  for (const Comparison& comparison : kComparisons) {
    if (at == std::string::npos || at == 0) break;
    if (text.compare(at, comparison.text.size(), comparison.text) != 0) continue;
    RuleBound bound{text.substr(0, at), std::string(comparison.text)};
    const char* begin = text.data() + at + comparison.text.size();
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, bound.count);
    if (error != std::errc() || stop != end)
      return ir::InvalidArgument(
          fmt::format("--fail-if {}: '{}' is not a count", text, std::string(begin, end)));
    return bound;
  }
  return ir::InvalidArgument(fmt::format("--fail-if {}: expected RULE<COUNT", text));
}

// " (why it was not run)", or "" for a rule that was.
std::string NotRun(const std::string& rule, const std::vector<passes::PassReport>& reports) {
  std::string why = " (no pass of this run has it)";
  for (const passes::PassReport& report : reports) {
    for (const passes::RuleStatistics& r : report.rules)
      if (r.rule == rule) return "";
    for (const passes::SkippedRule& r : report.skipped)
      if (r.rule == rule) why = fmt::format(" ({})", r.why);
  }
  return why;
}

}  // namespace

absl::StatusOr<RuleBound> ParseRuleBound(const std::string& text,
                                         std::span<const std::string> rules) {
  WEFT_ASSIGN_OR_RETURN(RuleBound bound, Split(text));
  bound.rule = passes::CanonicalRuleName(bound.rule);
  if (!rules.empty()) WEFT_RETURN_IF_ERROR(passes::CheckRuleName(bound.rule, rules));
  return bound;
}

absl::Status CheckRuleBounds(const std::vector<std::string>& bounds,
                             std::span<const std::string> rules,
                             const std::vector<passes::PassReport>& reports) {
  std::vector<std::string> failures;
  for (const std::string& text : bounds) {
    WEFT_ASSIGN_OR_RETURN(const RuleBound bound, ParseRuleBound(text, rules));
    uint64_t applied = 0;
    for (const passes::PassReport& report : reports)
      for (const passes::RuleStatistics& rule : report.rules)
        if (rule.rule == bound.rule) applied += rule.applied;
    for (const Comparison& comparison : kComparisons)
      if (comparison.text == bound.comparison && comparison.holds(applied, bound.count))
        failures.push_back(fmt::format(
            "rule {}: expected {} {} application{}, got {}{}", bound.rule, comparison.expected,
            bound.count, bound.count == 1 ? "" : "s", applied, NotRun(bound.rule, reports)));
  }
  if (failures.empty()) return absl::OkStatus();
  return CheckFailed(fmt::format("{}", fmt::join(failures, "; ")));
}

}  // namespace weft::tools
