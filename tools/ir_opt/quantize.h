// ir-opt --quantize dynamic|static [--calibrate DIR]: the model in 8 bits, and what that costs.
#pragma once

#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "passes/pass_manager.h"
#include "tools/cli/cli_fwd.h"
#include "tools/cli/pass_flags.h"

namespace weft::tools {

struct QuantizeFlags {
  std::string mode;       // dynamic, static, or empty: nothing is quantised
  std::string calibrate;  // a folder of inputs; empty: seeded random ones
};
void AddQuantizeFlags(CLI::App& app, QuantizeFlags* flags);
absl::Status CheckQuantizeFlags(const QuantizeFlags& flags);

// Simplifies the program and quantises it (passes/quantize/quantize.h). Inputs are those of DIR and of
// its folders: input_<i>.pb by number, NAME.pb or NAME.npy by name; what is not there is random. The
// error of every output on them goes to stderr. `hook` (may be null) is called around each pass, and around the step
// to 8 bits as around one.
absl::Status Quantize(const QuantizeFlags& flags, const PassFlags& passes, ir::Program& program,
                      const passes::PassManager::Hook& hook);

}  // namespace weft::tools
