// Passes, and rules of files, that must not meet in one run.
#pragma once

#include <string>
#include <vector>

namespace weft::passes {

// Why these passes and rules must not run one after the other, in any order; empty when they may.
std::string ConflictOf(const std::vector<std::string>& names);

}  // namespace weft::passes
