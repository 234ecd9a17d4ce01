// Programs that tell a rule from mutants of it (passes/verify/mutation/mutants.h): each mutant matches some
// that the rule makes nothing of, or something else; and where one is found that shows a mistake at once, it
// comes first.
//
// They are bred from programs on which the rule applies, or nearly: of each set of its constraints and
// attributes that do not hold a few programs are kept, and those of few such sets are varied again
// (passes/verify/program_variants.h). So a program on which all holds but one constraint is found for
// the mutant without that, too, where several sizes must change together. Of such programs some are tried with
// symbols for sizes (passes/verify/input_sizes.h), too: there the engine cannot refuse what it cannot tell.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/evaluator.h"
#include "ir/program.h"

namespace weft::passes {

struct NearMissOptions {
  ir::ProgramRunner* runner = nullptr;  // required
  size_t wanted = 8;                    // for each mutant, where none shows a mistake
  // Likewise, of which the engine refuses what it makes, and of which no result has an element. They come last.
  size_t refused = 24;
  double seconds = 10;  // of CPU of the calling thread
  // After so much of that without another program the search ends.
  double patience = 3;
  uint64_t seed = 1;
};

// By mutant, as text, since each is judged in a context of its own. `from` and the rules share a
// context; programs with regions are left out.
std::vector<std::vector<std::string>> NearMisses(
    const drr::Rule& rule, std::span<const drr::Rule* const> mutants,
    const std::vector<std::unique_ptr<ir::Program>>& from, const NearMissOptions& options);

}  // namespace weft::passes
