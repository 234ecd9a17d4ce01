// Programs on which a rule matches whose sizes must fit together in several places, from models that a
// solver finds (passes/verify/proof/rule_model.h): numbers for the sizes, and the rest as it was in a match.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/program.h"
#include "passes/verify/assignment.h"

namespace weft::passes {

struct ModelProgramOptions {
  // That the programs break. Null: none in particular.
  const drr::Formula* broken = nullptr;
  // A rule that matches none of them, from which `rule` was made by a mistake. Null: there is none.
  const drr::Rule* refused_by = nullptr;
  size_t wanted = 8;
  double seconds = 1;  // of CPU of the calling thread
  uint64_t seed = 1;
};

// `starts`: of matches of the rule or of one like it with the same pattern; alternatives, attributes,
// constants and most sizes are often those of one of them. Programs on which the rule matches; none without
// a solver.
std::vector<std::unique_ptr<ir::Program>> ModelPrograms(const drr::Rule& rule,
                                                        std::span<const Assignment> starts,
                                                        const ModelProgramOptions& options);

}  // namespace weft::passes
