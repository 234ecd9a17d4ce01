// What the greedy driver remembers of its rewrites, to name the rules that never end, and how it checks
// one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::passes {
struct RuleStatistics;
}

namespace weft::passes::internal {

class RewriteLog {
 public:
  explicit RewriteLog(uint64_t ops_at_start) : ops_at_start_(ops_at_start) {}
  void RecordRewrite(uint32_t rule) { last_[count_++ % kKept] = rule; }
  void RecordSite(ir::Operation root);  // where the last rewrite that the budget allows begins

  // "a (21 times), b (20 times): they undo each other at onnx.Add (loc)", for a budget used up.
  std::string Explain(const std::vector<RuleStatistics>& rules, uint64_t ops_now) const;

 private:
  static constexpr size_t kKept = 64;
  size_t Period() const;  // of the last rewrites' rules; 0 when they do not repeat

  uint64_t ops_at_start_;
  uint64_t count_ = 0;
  std::array<uint32_t, kKept> last_{};
  std::string site_;
};

// In the statistics of the rule that declined.
void CountDecline(RuleStatistics& stats, const std::string& reason);

// Internal when the program is broken after the rule was applied, or declined; with its text from before
// also when an application changed nothing, or one that declined something.
absl::Status CheckRewrite(ir::Program& program, const std::string& rule, bool applied,
                          const std::optional<std::string>& before);

}  // namespace weft::passes::internal
