// Equations of onnx.Einsum, e.g. "bij,bjk->bik", "...ii->...i" or "ij,j".
//
//   EinsumLabels labels;
//   if (!ReadEinsum(equation, ranks, &labels, &error)) return error;
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::ir {

// One label per dimension: dimensions of one label are walked together, and summed over unless the
// result has the label too. A letter is its own label; dimensions that "..." stands for have labels
// that count from the last one.
struct EinsumLabels {
  std::vector<std::vector<int>> operands;
  std::vector<int> result;
};

// False and *error for an equation that is none, or that operands of these ranks do not fit.
bool ReadEinsum(std::string_view equation, std::span<const size_t> ranks, EinsumLabels* labels,
                std::string* error);

}  // namespace weft::ir
