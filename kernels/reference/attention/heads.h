// Operands of attention: [B, heads, sequence, depth], or [B, sequence, heads * depth].
#pragma once

#include <optional>

#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {

struct Heads {
  int64_t batch, heads, sequence, depth;
  bool packed;  // the second form
  std::vector<double> values;

  Heads(const TensorView& x, const std::optional<int64_t>& num_heads)
      : packed(x.dims.size() == 3), values(ReadDoubles(x)) {
    batch = x.dims[0];
    heads = packed ? *num_heads : x.dims[1];
    sequence = packed ? x.dims[1] : x.dims[2];
    depth = packed ? x.dims[2] / heads : x.dims[3];
  }
  // Of the first of `columns` elements in a tensor laid out like this one.
  int64_t Offset(int64_t b, int64_t h, int64_t s, int64_t columns) const {
    return (packed ? (b * sequence + s) * heads + h : (b * heads + h) * sequence + s) * columns;
  }
  const double* Row(int64_t b, int64_t h, int64_t s) const {
    return values.data() + Offset(b, h, s, depth);
  }
};

}  // namespace weft::kernels::reference
