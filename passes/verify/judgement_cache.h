// What rules were judged to be, kept between runs: a small file for each judgement, in the folder weft
// of $XDG_CACHE_HOME, or of ~/.cache where that is not set.
//
//   const JudgementCache cache(JudgementCache::FolderOfUser());
//   const std::string key = JudgementKey(rule, options);
//   if (auto known = cache.Find(key, options.seconds)) return *known;
//   const RuleJudgement judgement = JudgeRule(rule, options);
//   cache.Store(key, judgement, options.seconds);
//
// Nothing here is an error. A file holds its whole key and a checksum: one that is damaged, another
// user's or made for another key is as if it were not there. Several threads and processes may use
// one folder. XDG_CACHE_HOME=/dev/null goes without.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "drr/rule/rule.h"
#include "passes/verify/rule_judge.h"

namespace weft::passes {

// All that a judgement depends on but the time it may take: the rule as text, the options, which have
// no seeds, and the program that judges, of which a rule's native code is a part. "", with which nothing
// is kept, for a rule with functions that came with its text: what they mean is not known.
std::string JudgementKey(const drr::Rule& rule, const JudgeOptions& options);

class JudgementCache {
 public:
  // "" where the environment names no folder.
  static std::string FolderOfUser();
  // Made when something is stored, if the folder it stands in, or the one above, is there; "": keeps
  // nothing.
  explicit JudgementCache(std::string folder) : folder_(std::move(folder)) {}
  const std::string& folder() const { return folder_; }

  // One that time cut short counts for as many seconds as it was given, unless it is refuted.
  std::optional<RuleJudgement> Find(const std::string& key, double seconds) const;
  // An unjudged rule that time cut short is left for another run.
  void Store(const std::string& key, const RuleJudgement& judgement, double seconds) const;
  // Removes the oldest files until no more than kMaxFiles and kMaxBytes are left.
  void Trim() const;
  std::string PathOf(const std::string& key) const;

  static constexpr size_t kMaxFiles = 4096, kMaxBytes = size_t{64} << 20;
  static constexpr size_t kMaxFileBytes = size_t{1} << 20;

 private:
  std::string folder_;
};

}  // namespace weft::passes
