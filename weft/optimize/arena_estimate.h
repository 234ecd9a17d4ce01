// How large the arena of a program is, without kernels and packed weights: from types and lifetimes alone,
// with the planner of plans (kernels/runtime/memory_plan.h). Views share what they view, results lie over operands where
// nothing forbids it; inputs, outputs and constants are elsewhere. A plan may need more, for what
// its kernels ask for beside, or because one does not compute in place, and less, where parts are written
// into what they are joined to. What loops and branches need inside is not counted.
#pragma once

#include <cstddef>
#include <optional>

#include "ir/program.h"

namespace weft {

// In bytes. Nothing where a size is unknown or a value is no tensor of numbers, or for more than
// kMaxEstimated values, as the planner takes quadratic time.
inline constexpr size_t kMaxEstimated = 20000;
std::optional<size_t> EstimateArena(ir::Program& program);

}  // namespace weft
