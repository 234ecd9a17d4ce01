// Rotary embedding: pairs of columns turned by given angles.
#pragma once

#include <cstdint>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Each row of x, of 2 * pairs columns, by one row of cos and one of sin: (a, b) becomes
// (a cos - b sin, b cos + a sin). A pair is column i with i + pairs, or, interleaved, neighbours.
struct RotaryArguments {
  int64_t rows = 0;
  int64_t pairs = 0;
  bool interleaved = false;
  bool per_column = false;  // rows of cos and sin have 2 * pairs columns, else one number a pair
  // Which rows of cos and of sin: the loops over the rows of x, coalesced, strides in elements.
  LoopNest<2> angles;
  const float* x = nullptr;  // [rows, 2 * pairs]
  const float* cos = nullptr;
  const float* sin = nullptr;
  float* y = nullptr;  // like x; may be x
};
void RotaryEmbedding(const RotaryArguments& arguments, ThreadPool& pool);

}  // namespace weft::kernels::simd
