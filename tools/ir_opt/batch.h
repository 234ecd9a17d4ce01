// Many models at once: ir-opt A.onnx B.onnx FOLDER --output-dir DIR -j N.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

struct BatchModel {
  std::string in, out;
};

// What is to be read and written: each file under its name in `output_dir`, each .onnx and .ir file
// below a folder under its path in the folder; `format` (onnx, ir, or empty: as it is) gives the
// suffix. InvalidArgument when two would be written to one file, one over what is read, or a folder
// holds none. What lies in `output_dir` is not read when that is below a folder.
absl::StatusOr<std::vector<BatchModel>> PlanBatch(const std::vector<std::string>& inputs,
                                                  const std::string& output_dir,
                                                  const std::string& format);

struct OpCounts {
  size_t before = 0, after = 0;
};
using OptimiseModel = std::function<absl::Status(const BatchModel&, OpCounts*)>;

// Makes the folders, and optimises each model in a process of its own, `jobs` at a time, so that a
// crash is an error of that model alone. What one says, it says on stderr when it ends; a table closes, or with `json`
// one object, which has the answers of all that are JSON (tools/schemas/batch.json). A terminal shows how far it is.
// The status has the exit code of the worst: bad input and crashes, then unsupported, then a check that
// failed.
absl::Status RunBatch(const std::vector<BatchModel>& models, size_t jobs, bool json,
                      const OptimiseModel& optimise);

}  // namespace weft::tools
