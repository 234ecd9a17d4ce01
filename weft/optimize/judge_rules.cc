#include "weft/optimize/judge_rules.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "drr/rule/vocabulary.h"
#include "drr/rule_file.h"
#include "drr/text/rule_text.h"
#include "kernels/runtime/program_runner.h"
#include "passes/verify/judgement_cache.h"
#include "weft/base/parallel.h"
#include "weft/io/dialects.h"

namespace weft {
namespace {

using passes::JudgementCache;

JudgedRule Unjudged(const RuleToJudge& rule, const std::string& why) {
  JudgedRule result;
  result.judgement.rule = rule.name;
  result.judgement.why = why;
  return result;
}

class RuleJudges {
 public:
  explicit RuleJudges(const JudgeLimits& limits)
      : limits_(limits), cache_(JudgementCache::FolderOfUser()) {}

  JudgedRule Judge(const RuleToJudge& rule) const {
    ir::IrContext context;
    LoadAllDialects(context);
    const drr::BuildResult built = rule.build(&context);
    if (!built.ok()) return Unjudged(rule, "it cannot be built by itself: " + built.errors[0]);
    kernels::SessionRunner runner;
    passes::JudgeOptions options = {.runner = &runner, .seed = limits_.seed, .seeds = nullptr};
    options.seconds = limits_.seconds_a_rule;
    options.prove = limits_.prove;
    options.stop = [this] { return IsStopped(); };
    const std::string key = passes::JudgementKey(*built.rule, options);
    if (auto known = cache_.Find(key, options.seconds)) return {*std::move(known), true, false};
    options.seconds = std::min(options.seconds, limits_.seconds - SecondsGone());
    if (options.seconds <= 0) {
      JudgedRule late = Unjudged(rule, "the time for the rules of the file was over");
      late.late = true;
      return late;
    }
    JudgedRule result{passes::JudgeRule(*built.rule, options), false, false};
    if (!is_stopped_) cache_.Store(key, result.judgement, options.seconds);
    return result;
  }
  void Finish() const { cache_.Trim(); }

 private:
  bool IsStopped() const {
    if (limits_.stop && std::this_thread::get_id() == caller_ && limits_.stop()) is_stopped_ = true;
    return is_stopped_;
  }
  double SecondsGone() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  const JudgeLimits& limits_;
  const JudgementCache cache_;
  const std::thread::id caller_ = std::this_thread::get_id();
  mutable std::atomic<bool> is_stopped_ = false;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

RuleToJudge RuleOfText(const drr::Rule& rule) {
  return {rule.name, [text = drr::text::PrintRule(rule),
                      functions = drr::FunctionsOf(rule.graph)](ir::IrContext* context) {
            drr::text::RuleFile file =
                drr::text::ReadRules(text, "rule", context, nullptr, &functions);
            drr::BuildResult built;
            built.errors = std::move(file.errors);
            if (built.errors.empty() && file.rules.size() == 1)
              built.rule = ir::Owned<drr::Rule>(file.rules[0].release());
            if (!built.ok() && built.errors.empty()) built.errors.emplace_back("not one rule");
            return built;
          }};
}

std::vector<JudgedRule> JudgeRules(const std::vector<RuleToJudge>& rules,
                                   const JudgeLimits& limits) {
  const RuleJudges judges(limits);
  std::vector<JudgedRule> judged(rules.size());
  ForEachInParallel(rules.size(), [&](size_t i) { judged[i] = judges.Judge(rules[i]); });
  if (std::any_of(judged.begin(), judged.end(), [](const auto& it) { return !it.remembered; }))
    judges.Finish();
  return judged;
}

std::optional<passes::RuleJudgement> RememberedJudgement(const drr::Rule& rule) {
  const JudgementCache cache(JudgementCache::FolderOfUser());
  auto known = cache.Find(passes::JudgementKey(rule, {.prove = true, .seeds = nullptr}), 0);
  return known ? known
               : cache.Find(passes::JudgementKey(rule, {.prove = false, .seeds = nullptr}), 0);
}

}  // namespace weft
