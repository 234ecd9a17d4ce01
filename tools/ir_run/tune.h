// ir-run --tune and --tuned: passes and kernels that are best for a model on this machine, as measured.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/runtime/session.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/values/tensors.h"
#include "tools/ir_run/runner.h"

namespace weft::tools {

struct TuneFlags {
  std::string tune, tuned;  // the file that is written, or read
};

// What such a file says: a line `passes: A,B`, if other passes than those of the pipeline are best, and
// the table of kernels (kernels/kernel_choices.h).
struct TunedModel {
  std::vector<std::string> passes;
  kernels::KernelChoices kernels;
};
std::string TextOf(const TunedModel& tuned);
// InvalidArgument naming the file and the line of what is none, or of a pass or provider that does not exist.
absl::StatusOr<TunedModel> ReadTuned(const std::string& path);

// Runs the program after each of several lists of passes in turns, then Tune() on the best, prints what
// was measured and writes flags.tune. Other passes than those of the pipeline fuse are tried where that
// is what `passes` asks for.
absl::Status TuneModel(const ir::Program& program, const TuneFlags& flags, const InputFlags& inputs,
                       const kernels::SessionOptions& options, const PassFlags& passes);

// Lets `options` and `passes` be what flags.tuned says. Where it was measured on another machine it stays
// unused, with a warning.
absl::Status ApplyTuned(const TuneFlags& flags, kernels::SessionOptions* options,
                        PassFlags* passes);
// On stderr, where the run followed none of them: then it was as it is without.
void WarnOfUnusedChoices(const TuneFlags& flags, const kernels::KernelChoices& choices,
                         const Runner& runner);

}  // namespace weft::tools
