// --check and --tolerance.
#pragma once

#include <optional>
#include <string>

#include "ir/base/status.h"
#include "tools/cli/cli_fwd.h"
#include "weft/check/program_check.h"
#include "weft/optimize/run_passes.h"

namespace weft::tools {

struct CheckFlags {
  std::string inputs;               // how many sets of random inputs; empty: no check
  std::optional<double> tolerance;  // in place of what the numeric class allows
};

void AddCheckFlag(CLI::App& app, CheckFlags* flags);
void AddToleranceFlag(CLI::App& app, CheckFlags* flags);
absl::Status CheckCheckFlags(const CheckFlags& flags);

// Of flags that are right; also where the user asked for no check. Sizes are those that the passes
// are told of (--dim-range).
CheckOptions CheckOptionsOf(const CheckFlags& flags, const PassSelection& passes);

}  // namespace weft::tools
