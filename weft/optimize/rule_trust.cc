#include "weft/optimize/rule_trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "weft/base/check_failed.h"
#include "weft/optimize/judge_rules.h"

namespace weft {
namespace {

using passes::Verdict;

constexpr double kSecondsARule = 2, kSecondsAFile = 30;
constexpr size_t kMostNamed = 8;

// "a, b, c and 17 more"
std::string Names(const std::vector<std::string>& names) {
  const size_t named = std::min(names.size(), kMostNamed);
  const std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "));
  return named == names.size() ? text : fmt::format("{} and {} more", text, names.size() - named);
}

std::string Count(size_t n) { return fmt::format("{} rule{}", n, n == 1 ? "" : "s"); }

// What came out, over all files.
class Outcome {
 public:
  // `seconds` are those there were for all.
  Outcome(const Notices& notices, double seconds) : notices_(notices), seconds_(seconds) {}

  void Add(const std::string& file, const std::vector<JudgedRule>& judged) {
    std::vector<std::string> late;
    for (const JudgedRule& it : judged) {
      const std::string& rule = it.judgement.rule;
      remembered_ += it.remembered;
      if (it.judgement.verdict == Verdict::kRefuted) {
        refuted_.push_back(rule);
        notices_.Fail(fmt::format("{}: {} is refuted: {}", file, rule, it.judgement.why));
        notices_.Show(it.judgement.counterexample + "\n");
      } else if (it.judgement.verdict == Verdict::kTested) {
        ++tested_;
      } else if (it.late) {
        late.push_back(rule);
      } else {
        unjudged_.push_back(rule);
        notices_.Warn(fmt::format("{}: {} is unjudged: {}", file, rule, it.judgement.why));
      }
    }
    if (late.empty()) return;
    notices_.Warn(fmt::format("{}: {} unjudged, as {:g} s did not suffice for all: {}", file,
                              Count(late.size()), seconds_, Names(late)));
    unjudged_.insert(unjudged_.end(), late.begin(), late.end());
  }

  absl::StatusOr<RuleCounts> Result(bool require_judged) const {
    if (!refuted_.empty())
      return CheckFailed(
          fmt::format("rules of files: {} refuted: {} (a run that trusts rules applies what is "
                      "refuted, too)",
                      Count(refuted_.size()), Names(refuted_)));
    if (require_judged && !unjudged_.empty())
      return CheckFailed(
          fmt::format("rules of files: {} unjudged: {} (ir-opt --verify-rules takes more time, and "
                      "its judgements are remembered)",
                      Count(unjudged_.size()), Names(unjudged_)));
    RuleCounts counts = {{"rules judged", tested_}};
    if (remembered_ > 0) counts.emplace_back("judged by an earlier run", remembered_);
    if (!unjudged_.empty()) counts.emplace_back("rules unjudged", unjudged_.size());
    return counts;
  }

 private:
  const Notices& notices_;
  const double seconds_;
  uint64_t tested_ = 0, remembered_ = 0;
  std::vector<std::string> refuted_, unjudged_;
};

}  // namespace

absl::StatusOr<RuleCounts> JudgeBeforeUse(const std::vector<const drr::Rule*>& rules,
                                          const RuleTrust& trust, const Notices& notices,
                                          const std::function<bool()>& stop) {
  if (trust.trust) return RuleCounts{{"rules not judged (trusted)", rules.size()}};
  std::vector<RuleToJudge> all;
  std::map<std::string, std::vector<size_t>> by_file;
  for (const drr::Rule* rule : rules) {
    by_file[std::string(rule->graph.loc.file)].push_back(all.size());
    all.push_back(RuleOfText(*rule));
  }
  const double seconds = kSecondsAFile * static_cast<double>(by_file.size());
  const auto judged =
      JudgeRules(all, {.seconds_a_rule = kSecondsARule, .seconds = seconds, .stop = stop});
  if (stop && stop()) return absl::CancelledError("the run was stopped while rules were judged");
  Outcome outcome(notices, seconds);
  for (const auto& [file, numbers] : by_file) {
    std::vector<JudgedRule> of_file;
    of_file.reserve(numbers.size());
    for (const size_t number : numbers) of_file.push_back(judged[number]);
    outcome.Add(file, of_file);
  }
  return outcome.Result(trust.require_judged);
}

}  // namespace weft
