// --target-opset: the opset of ONNX models that are written.
#pragma once

#include <cstdint>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/cli/program_main.h"

namespace weft::tools {

// On the line of the flag added before it.
void AddTargetOpsetFlag(CLI::App& app, int64_t* target);
absl::Status CheckTargetOpset(int64_t target);  // 0: not given

// What `program` will be written for: `given`, or the default of onnx::TargetOpset, with a warning by
// `warner` where that is not what the program was read from.
int64_t ChooseTargetOpset(ir::Program& program, int64_t given, const std::string& warner);

}  // namespace weft::tools
