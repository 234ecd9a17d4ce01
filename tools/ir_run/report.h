// ir-run --report: what optimising a model gained.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "kernels/runtime/session.h"
#include "tools/cli/pass_flags.h"
#include "tools/cli/values/tensors.h"

namespace weft::tools {

// Optimises copies of the program with the pipelines layout (unfused) and fuse, prints what every
// rule did, runs both in turns on the same inputs and prints their latencies, the speed-up and the
// largest difference of their outputs, with products of float32, CheckFailed when that exceeds
// `tolerance`; of less precise products, also what they make of outputs. `passes` has everything but the
// pipeline.
// As JSON it is of the schema tools/schemas/report.json.
absl::Status PrintReport(ir::Program& program, const std::string& model, const InputFlags& inputs,
                         const kernels::SessionOptions& options, const PassFlags& passes,
                         std::optional<double> tolerance, bool as_json);

}  // namespace weft::tools
