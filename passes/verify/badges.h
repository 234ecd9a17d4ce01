// What the registered rules were judged to be when they were committed: badges.tsv, compiled in, so
// that lists need not judge anything. A test judges every rule and compares; WEFT_BLESS=1 writes it:
//
//   WEFT_BLESS=1 ctest --preset release -R BigEveryRule
#pragma once

#include <string_view>
#include <vector>

namespace weft::passes {

struct CommittedBadge {
  std::string_view rule;
  std::string_view badge;   // see RuleJudgement::BadgeKind
  std::string_view reason;  // of an unjudged one: why it is none; else ""
};
// Sorted by rule.
const std::vector<CommittedBadge>& CommittedBadges();

// "" of a rule that the table lacks.
std::string_view BadgeOf(std::string_view rule);

// Of a text of lines "rule<TAB>badge[<TAB>reason]"; views of it. Lines without a badge are left out.
std::vector<CommittedBadge> ParseBadges(std::string_view text);

}  // namespace weft::passes
