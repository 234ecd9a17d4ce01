// A run on random inputs, of sizes with which the program runs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime_value.h"

namespace weft {

struct RandomRun {
  std::vector<kernels::RuntimeValue> inputs, outputs;
  std::string sizes;  // "M=3 N=2" of the symbols, whose control characters are shown as \xNN
};

// By name of a symbol: the sizes that it takes, one or more.
using SizesOfSymbols = std::map<std::string, std::vector<int64_t>>;

// Of a session of the program. Symbols take `sizes`; those that are not among them small ones first: each
// symbol another one, then all the same. They begin elsewhere for another seed, which is from 1. Where
// it runs with none: why not with the first.
absl::StatusOr<RandomRun> RunOnRandomInputs(ir::Program& program, kernels::Session& session,
                                            uint64_t seed, const SizesOfSymbols& sizes = {});

}  // namespace weft
