// How large a model is, before and after what was done to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft {

namespace ir {
class Program;
}

struct ModelSize {
  size_t operations = 0;         // those in regions, too
  uint64_t parameters = 0;       // elements of constants, each constant once
  uint64_t parameter_bytes = 0;  // of the same
  // Of one run; a multiplication and an addition are two. ir/analysis/flops.h says what is counted.
  double flops = 0;
  size_t uncounted_operations = 0;  // of unknown sizes, loops, operators that nobody defines
  // For intermediate values, as weft/optimize/arena_estimate.h says; nothing where sizes are unknown.
  std::optional<uint64_t> arena_bytes = {};
};

ModelSize MeasureSize(ir::Program& program);

}  // namespace weft
