// Fused attention: y = softmax(scale * q k^T + mask) v, per batch entry and head.
//
// Operands are read and written through strides (in floats), so that [B, S, H, D], [B, H, S, D] and
// slices of one packed QKV need no transpose; the last axis is contiguous. Scores live in scratch
// memory, a few rows and at most some thousand keys at a time: long rows are merged by the online
// softmax (Milakov and Gimelshein, arXiv:1805.02867), decoding steps cut the keys among the
// threads.
//
//   // q, k, v: [batch, length, heads, size]
//   const AttentionView q{x, length * heads * size, size, heads * size};
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

template <typename T>
struct BasicAttentionView {
  T* data = nullptr;
  int64_t batch_stride = 0;
  int64_t head_stride = 0;
  int64_t row_stride = 0;
};
using AttentionView = BasicAttentionView<const float>;
using AttentionOutput = BasicAttentionView<float>;

// 0 where it is broadcast.
struct MaskStrides {
  int64_t batch = 0;
  int64_t head = 0;
  int64_t query = 0;
  int64_t key = 0;
};

struct AttentionArguments {
  int64_t batch = 1;
  int64_t heads = 1;
  int64_t kv_heads =
      1;  // divides heads; query head h reads key and value head h / (heads / kv_heads)
  int64_t queries = 0;     // rows of q and y
  int64_t keys = 0;        // rows of k and v
  int64_t head_size = 0;   // columns of q and k
  int64_t value_size = 0;  // columns of v and y
  float scale = 1;
  AttentionView q = {};
  AttentionView k = {};
  AttentionView v = {};
  AttentionOutput y = {};         // must not overlap the operands
  const uint8_t* keep = nullptr;  // optional; where it is 0, `fill` takes the place of the score
  MaskStrides keep_strides = {};
  float fill = 0;
  bool zero_nan = false;        // a query whose weights are NaN gives 0
  const float* mask = nullptr;  // added to the scores then; optional
  MaskStrides mask_strides = {};
};

// `scratch` is 64-byte aligned and holds AttentionScratchBytes for the pool's threads. A query
// whose keys are all masked with -infinity gives NaN, as the definition does, or 0 with zero_nan.
// The result depends on the number of threads in its last bits only where there are fewer heads than
// threads and few queries.
int64_t AttentionScratchBytes(const AttentionArguments& arguments, int num_threads);
void Attention(const AttentionArguments& arguments, void* scratch, ThreadPool& pool);

}  // namespace weft::kernels::simd
