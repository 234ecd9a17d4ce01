// Numbers of 8 bits in native kernels (ir/dialects/onnx/quantize.h).
#pragma once

#include <limits>

#include "kernels/native/native.h"

namespace weft::kernels::native {

struct Quantization {
  float scale = 1;
  int zero = 0;
};
// From constant operands of one element; the zero point may be absent.
absl::StatusOr<Quantization> ReadQuantization(const KernelContext& context, size_t scale,
                                              size_t zero);

inline bool IsByte(ir::DataType dtype) {
  return dtype == ir::DataType::kI8 || dtype == ir::DataType::kU8;
}

// The nearest integer (halves to even) plus `zero`, within T; NaN is the largest.
template <class T>
T Round(float x, int zero) {
  const auto low = static_cast<float>(std::numeric_limits<T>::min() - zero);
  const auto high = static_cast<float>(std::numeric_limits<T>::max() - zero);
  x = x < high ? x : high;
  x = x > low ? x : low;
  constexpr float kShift = 0x1.8p23f;  // what is added to it loses its fraction
  return static_cast<T>(static_cast<int>((x + kShift) - kShift) + zero);
}

// onnx.QuantizeLinear from f32 to 8 bits and onnx.DequantizeLinear back, with scales and zero points that are given at run
// time, one or one for each entry of an axis.
absl::StatusOr<std::unique_ptr<Kernel>> MakeQuantizeAxis(const KernelContext& context,
                                                         int64_t axis);
absl::StatusOr<std::unique_ptr<Kernel>> MakeDequantizeAxis(const KernelContext& context,
                                                           int64_t axis);

// fused.max_pool2d of 8-bit integers.
absl::StatusOr<std::unique_ptr<Kernel>> MakeByteMaxPool2d(const KernelContext& context);

}  // namespace weft::kernels::native
