#include "passes/verify/badges.h"

#include <fmt/format.h>

#include <algorithm>

#include "passes/verify/rule_judge.h"

namespace weft::passes {

std::string_view BadgesText();  // badges.tsv, in a file that the build makes

namespace {

// The text up to the separator, or all of it, which is removed from `text`.
std::string_view TakeUpTo(char separator, std::string_view* text) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view taken = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return taken;
}

}  // namespace

std::vector<CommittedBadge> ParseBadges(std::string_view text) {
  std::vector<CommittedBadge> badges;
  while (!text.empty()) {
    std::string_view line = TakeUpTo('\n', &text);
    CommittedBadge it;
    it.rule = TakeUpTo('\t', &line);
    it.badge = TakeUpTo('\t', &line);
    it.reason = line;
    if (!it.badge.empty()) badges.push_back(it);
  }
  std::sort(badges.begin(), badges.end(),
            [](const auto& a, const auto& b) { return a.rule < b.rule; });
  return badges;
}

const std::vector<CommittedBadge>& CommittedBadges() {
  static const auto* const badges = new std::vector<CommittedBadge>(ParseBadges(BadgesText()));
  return *badges;
}

std::string_view BadgeOf(std::string_view rule) {
  const std::vector<CommittedBadge>& badges = CommittedBadges();
  const auto it = std::lower_bound(badges.begin(), badges.end(), rule,
                                   [](const auto& badge, auto name) { return badge.rule < name; });
  return it != badges.end() && it->rule == rule ? it->badge : std::string_view();
}

std::string RuleJudgement::BadgeKind() const {
  if (verdict != Verdict::kRefuted && !proved.empty()) return "proved";
  switch (verdict) {
    case Verdict::kRefuted:
      return "refuted";
    case Verdict::kUnjudged:
      return "unjudged";
    case Verdict::kTested:
      break;
  }
  if (numerics == drr::NumericClass::kChangesMeaning) return "runs";
  if (numerics == drr::NumericClass::kApproximate) return "approximate";
  return native ? "native: tested" : "tested";
}

std::string RuleJudgement::Badge() const {
  std::string kind = BadgeKind();
  if (kind == "proved") return fmt::format("{} ({})", kind, proved);
  if (verdict != Verdict::kTested) return kind;
  if (numerics == drr::NumericClass::kApproximate)
    return fmt::format("{}: {:.3g} ulp", kind, max_ulps);
  return fmt::format("{} {}", kind, instances);
}

}  // namespace weft::passes
