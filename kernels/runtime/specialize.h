// Gets a program ready for a plan: input shapes put in, result types inferred again from them, and
// what is known before run time computed (shapes of shapes, constants of constants).
#pragma once

#include <span>

#include "ir/analysis/fold.h"
#include "ir/base/status.h"
#include "ir/evaluator.h"
#include "ir/program.h"

namespace weft::kernels {

// `input_types` has one type per program input, each at least as precise as the program's own; empty
// leaves them as they are. Types that stay unknown are no error here. InvalidArgument when inference
// finds a mistake, e.g. shapes that do not fit together.
absl::Status Specialize(ir::Program& program, std::span<const ir::Type> input_types,
                        ir::Evaluator& evaluator,
                        const ir::FoldOptions& options = ir::kFoldForPlan);

// For what is planned anew when values change, and soon again: no constant is made that is larger than what it is computed
// from.
inline constexpr ir::FoldOptions kFoldForSegment = {
    .dequantize = true, .nullary = true, .shapes = true, .growth = false};

}  // namespace weft::kernels
