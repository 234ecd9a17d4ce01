#include "weft/model_size.h"

#include <unordered_set>

#include "ir/analysis/constant.h"
#include "ir/analysis/flops.h"
#include "ir/walk.h"
#include "weft/optimize/arena_estimate.h"

namespace weft {

ModelSize MeasureSize(ir::Program& program) {
  ModelSize size;
  size.operations = program.num_operations() - 1;  // but the module
  std::unordered_set<uint32_t> counted;
  const auto add = [&](ir::Attribute constant) {
    if (!constant.Is(ir::AttrKind::kDense) || !counted.insert(constant.id()).second) return;
    size.parameters += static_cast<uint64_t>(constant.dense_type().NumElements());
    size.parameter_bytes += constant.num_bytes();
  };
  for (const std::string& name : program.ParameterNames()) add(program.parameter(name));
  ir::Walk(program, [&](ir::Operation op) {
    if (op.num_results() == 1) add(ir::ConstantValue(op.result()));
  });
  const ir::Flops flops = ir::CountFlops(program);
  size.flops = flops.count;
  size.uncounted_operations = flops.num_unknown;
  if (const auto arena = EstimateArena(program)) size.arena_bytes = *arena;
  return size;
}

}  // namespace weft
