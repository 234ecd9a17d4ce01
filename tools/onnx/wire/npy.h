// NumPy's .npy format, versions 1 to 3 (numpy.org/neps/nep-0001-npy-format.html).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/context.h"
#include "tools/onnx/limits.h"

namespace weft::onnx {

struct NpyArray {
  ir::Type type;
  std::span<const std::byte> contents;  // as long as the type says
  bool is_column_major = false;         // the first axis changes fastest
};

absl::StatusOr<NpyArray> ParseNpy(ir::IrContext* context, std::span<const std::byte> bytes,
                                  const ImportLimits& limits);

// The contents of a column-major array as those of any other.
std::vector<std::byte> RowMajor(const NpyArray& array);

}  // namespace weft::onnx
