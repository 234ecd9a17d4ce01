#include "tools/cli/target_opset.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "drr/rule/pattern_graph.h"
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
                                     "oldest that is; see --target-opset",
                                     source, target));
  return target;
}

std::string WhyNotInOpset(const drr::Rule& rule, int64_t target) {
  const auto is_matched = [&](const ir::OpDef* def) {
    return std::any_of(rule.graph.ops.begin(), rule.graph.ops.end(), [&](const auto& op) {
      return std::any_of(op.alternatives.begin(), op.alternatives.end(),
                         [&](const auto& alternative) { return alternative.def == def; });
    });
  };
  for (const drr::ResultOp& op : rule.graph.result_ops) {
    if (op.def == nullptr || is_matched(op.def)) continue;
    const int64_t since = onnx::IntroducedIn(*op.def);
    if (since > target)
      return fmt::format(
          "its result has {}, which came with opset {}, and the model is written "
          "for {}",
          op.def->info->onnx, since, target);
  }
  return "";
}

}  // namespace weft::tools
