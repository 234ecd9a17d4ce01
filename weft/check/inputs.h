// The inputs of a run: those that are given, defaults, and random values for the others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/dim/dim_expr.h"
#include "kernels/runtime/random_inputs.h"
#include "kernels/runtime/session.h"
#include "kernels/runtime_value.h"

namespace weft {

struct RandomInputs {
  std::optional<uint64_t> seed;  // none: what is not given and has no default is an error
  std::vector<std::optional<kernels::ValueRange>> ranges = {};  // by input; may be shorter
  std::vector<ir::DimBinding> sizes = {};  // of symbols, where given values do not say them
};

// In the order of `inputs`, of which as many are given. Symbolic dims that a given value or a default
// fixes hold for the random inputs too. A random sequence has two elements, whose unknown dims are 2
// and 3; a random optional has its element. InvalidArgument when a given value is of another type,
// or the shape of a random one is not known.
absl::StatusOr<std::vector<kernels::RuntimeValue>> CompleteInputs(
    std::span<const kernels::TensorInfo> inputs,
    std::vector<std::optional<kernels::RuntimeValue>> given, const RandomInputs& random);

}  // namespace weft
