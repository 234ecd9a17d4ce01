// Where rules almost fitted: the answers of drr/engine/explain.h, the nearest first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/program.h"

namespace weft::picture {

struct NearMiss {
  std::string rule;
  ir::Operation site;
  size_t operations_found = 0, operations = 0;  // of the rule
  std::string reason;                           // one line
  std::string text;                             // as ir-opt --explain prints it
};

// A match of every rule at every operation takes longer than this many are worth; there are none then.
inline constexpr size_t kMostSites = 4'000'000;

// Of rules that do not apply to the program, but get at least half of their operations and two; one per
// rule. The program is not changed.
std::vector<NearMiss> FindNearMisses(const std::vector<std::shared_ptr<drr::Rule>>& rules,
                                     ir::Program& program, size_t most = 24);

}  // namespace weft::picture
