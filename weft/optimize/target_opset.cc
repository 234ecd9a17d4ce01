#include "weft/optimize/target_opset.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/pattern_graph.h"
#include "tools/onnx/export.h"

namespace weft {

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

}  // namespace weft
