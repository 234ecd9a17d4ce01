// The arithmetic of one run, as papers count it: an addition and a multiplication are one each.
//
//   products, convolutions   2 * M * N * K; 2 * elements of the result * elements of the weights that
//                            each of them reads (OpDef::flops)
//   recurrent layers         their two products, in every step, batch and direction
//   elementwise operations   one per element of the result, whatever the function
//   what has a body          what its body counts: fused operations count as much as what they replace
//   If                       its larger branch
//   everything else          nothing: what moves, reduces, pools, sorts, indexes or asks for shapes
//
// So a reduction in a LayerNormalization costs nothing, but its products do.
#pragma once

#include <cstddef>

#include "ir/program.h"

namespace weft::ir {

struct Flops {
  double count = 0;
  // Operations that are not counted, because a size of them is unknown, because they are loops, whose
  // number of rounds follows from values, or because nobody defines them.
  size_t num_unknown = 0;
};

Flops CountFlops(Operation op);
Flops CountFlops(Program& program);

}  // namespace weft::ir
