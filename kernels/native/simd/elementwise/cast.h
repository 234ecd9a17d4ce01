// Conversion between the numeric ONNX element types.
#pragma once

#include <cstdint>

#include "kernels/float16.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

enum class ScalarType {
  kFloat,
  kDouble,
  kFloat16,
  kBFloat16,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUint8,
  kUint16,
  kUint32,
  kUint64,
  kBool,  // a byte, 0 or 1
};

int SizeOf(ScalarType type);

// y[i] = x[i] as `to`, for i < n, as onnx.Cast does: to a float type rounds once, to nearest even;
// from a float type to an integer truncates; integers wrap; to bool is != 0. Where ONNX leaves the
// result undefined (a float outside the integer type), the nearest integer of the type, and 0 for
// NaN. y must not overlap x.
void Cast(ScalarType from, const void* x, ScalarType to, void* y, int64_t n, ThreadPool& pool);

}  // namespace weft::kernels::simd
