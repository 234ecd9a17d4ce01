// --target-opset: the opset of ONNX models that are written, and what follows from it for rules.
#pragma once

#include <cstdint>
#include <string>

#include "drr/rule/rule.h"
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

// Why the result of a rule cannot be written in opset `target`; "" when it can. Operators that the
// rule's source has too are no reason.
std::string WhyNotInOpset(const drr::Rule& rule, int64_t target);

}  // namespace weft::tools
