// Inputs to run a model on when there are none: the same for the same seed, distinct values for
// every input. Floats are uniform in [-1, 1), integers in the range that the program implies
// (kernels/runtime/input_ranges.h), or else i8 and u8 any of theirs and others 0 or 1 (so that they can
// be masks and token types), bools either, strings words of 1 to 8 letters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/type.h"
#include "kernels/runtime/input_ranges.h"
#include "kernels/runtime/session.h"
#include "kernels/tensor.h"

namespace weft::kernels {

// A tensor of a static type; `stream` tells the inputs of one model apart. Unsupported for element
// types that kernels do not handle. Numbers of a `range` are uniform in it; InvalidArgument when
// integers of it do not fit the element type.
absl::StatusOr<Tensor> RandomTensor(ir::DataType dtype, ir::Shape dims, uint64_t seed,
                                    uint64_t stream, std::optional<ValueRange> range = {});

// One tensor per input; InvalidArgument when an input has a dim that is not known.
absl::StatusOr<std::vector<Tensor>> RandomInputs(std::span<const TensorInfo> inputs, uint64_t seed);

}  // namespace weft::kernels
