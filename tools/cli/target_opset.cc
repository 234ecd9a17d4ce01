#include "tools/cli/target_opset.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/onnx/export.h"

namespace weft::tools {

void AddTargetOpsetFlag(CLI::App& app, int64_t* target) {
  app.add_option("--target-opset", *target)->type_name("N")->group(kSameLine);
}

absl::Status CheckTargetOpset(int64_t target) {
  if (target == 0 || (target >= onnx::kOldestTargetOpset && target <= onnx::kNewestTargetOpset))
    return absl::OkStatus();
  return ir::InvalidArgument(fmt::format("--target-opset {}: expected {} to {}", target,
                                         onnx::kOldestTargetOpset, onnx::kNewestTargetOpset));
}

int64_t ChooseTargetOpset(ir::Program& program, int64_t given, const std::string& warner) {
  if (given != 0) return given;
  const int64_t source = onnx::SourceOpset(program), target = onnx::TargetOpset(program);
  if (source != 0 && source != target)
    PrintWarning(warner, fmt::format("the model has opset {}, and is written with opset {}, the "
                                     "oldest that it can be; see --target-opset",
                                     source, target));
  return target;
}

}  // namespace weft::tools
