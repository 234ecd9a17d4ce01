#include "weft/picture/near_misses.h"

#include <algorithm>

#include "drr/engine/explain.h"

namespace weft::picture {

std::vector<NearMiss> FindNearMisses(const std::vector<std::shared_ptr<drr::Rule>>& rules,
                                     ir::Program& program, size_t most) {
  std::vector<NearMiss> misses;
  if (rules.size() * program.num_operations() > kMostSites) return misses;
  for (const auto& rule : rules) {
    const drr::Explanation answer = drr::ExplainNearest(*rule, program);
    if (answer.outcome != drr::Explanation::kRefused) continue;
    const size_t operations = rule->graph.ops.size();
    const size_t found = answer.failure.ops_bound;
    if (found < 2 || 2 * found < operations) continue;
    misses.push_back({.rule = rule->name,
                      .site = answer.site,
                      .operations_found = found,
                      .operations = operations,
                      .reason = answer.failure.reason,
                      .text = drr::ToString(answer)});
  }
  std::stable_sort(misses.begin(), misses.end(), [](const NearMiss& a, const NearMiss& b) {
    return a.operations_found * b.operations > b.operations_found * a.operations;
  });
  if (misses.size() > most) misses.resize(most);
  return misses;
}

}  // namespace weft::picture
