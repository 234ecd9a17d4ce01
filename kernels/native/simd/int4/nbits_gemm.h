// Products with weights of few bits that are quantised in blocks, and stay so in memory: C = A B + bias.
//
//   NBitsGemm({.m = m, .a = x, .a_stride = k, .b = weights, .c = y, .c_stride = n}, scratch, pool);
//
// A weight is (number - zero point) * scale, each step rounded to f32, whatever else the product is. A few rows of A are
// multiplied with numbers that become weights in registers; more, with weights in scratch memory, a part at a time, by
// the tiles of gemm_tile.h. No result depends on the number of threads.
#pragma once

#include <cstdint>

#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// [n, k]: each row is a column of the product.
struct NBitsMatrix {
  int bits = 4;            // 2, 4 or 8
  int64_t block_size = 0;  // numbers with a scale and a zero point: a power of two, 16 or more
  int64_t n = 0;
  int64_t k = 0;
  int64_t blocks = 0;                  // of a row, the last filled up
  const uint8_t* data = nullptr;       // [n, blocks, block_size] numbers, low bits first
  const float* scales = nullptr;       // [n, blocks]
  const uint8_t* bit_zeros = nullptr;  // [n, blocks] numbers, each row filled up to bytes; or
  const float* float_zeros = nullptr;  // [n, blocks]; where neither is given half the range

  static constexpr int64_t kLeastBlock = 16;
  int64_t row_bytes() const { return blocks * block_size * bits / 8; }
  int64_t zero_bytes() const { return (blocks * bits + 7) / 8; }  // of a row
};

struct NBitsGemmArguments {
  int64_t m = 0;
  const float* a = nullptr;  // [m, k]
  int64_t a_stride = 0;
  NBitsMatrix b = {};
  const float* bias = nullptr;  // [n], optional
  float* c = nullptr;           // [m, n]; must not overlap a
  int64_t c_stride = 0;
};
// `scratch` is 64-byte aligned and holds NBitsGemmScratchBytes for the pool's threads.
int64_t NBitsGemmScratchBytes(int64_t m, int64_t k, int num_threads);
void NBitsGemm(const NBitsGemmArguments& arguments, void* scratch, ThreadPool& pool);

}  // namespace weft::kernels::simd
