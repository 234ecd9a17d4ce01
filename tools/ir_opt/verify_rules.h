// ir-opt --verify-rules: is what rules say of their numbers true?
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

// Judges the registered rules of these names (all: none given), or with `files` the rules in those,
// on as many threads as there are CPUs, those that an earlier run has not judged: a table with a line
// per rule, then a counterexample for each that is refuted. *refuted counts those. InvalidArgument for
// a name that no rule has.
absl::StatusOr<std::string> VerifyRules(const std::vector<std::string>& names,
                                        const std::vector<std::string>& files, uint64_t seed,
                                        size_t* refuted);

}  // namespace weft::tools
