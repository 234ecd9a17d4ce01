// Functions of bools and of bits, elementwise: and, or, not, shifts; whether floats are numbers.
//
// Operands of the functions of two are read through strides in elements, 0 where they are broadcast, as those of
// binary.h; the result is row-major. y may be an operand of its element size that is not broadcast.
//
//   Dims shape = {8, 512, 512};
//   Logic(LogicOp::kAnd, mask, Dims{0, 512, 1}, padding, Dims{512, 0, 1}, y, shape, pool);
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

enum class LogicOp { kAnd, kOr, kXor };

// Of bools, bytes of which every one but 0 is true; y[i] is 1 or 0.
void Logic(LogicOp op, const uint8_t* a, std::span<const int64_t> a_strides, const uint8_t* b,
           std::span<const int64_t> b_strides, uint8_t* y, std::span<const int64_t> shape,
           ThreadPool& pool);
// y[i] = x[i] == 0, for i < n.
void Not(const uint8_t* x, uint8_t* y, int64_t n, ThreadPool& pool);

// Shifts are of a, by b bits, and give 0 from the width of the type on.
enum class BitwiseOp { kAnd, kOr, kXor, kShiftLeft, kShiftRight };

// T is uint8_t, uint16_t, uint32_t or uint64_t.
template <typename T>
void Bitwise(BitwiseOp op, const T* a, std::span<const int64_t> a_strides, const T* b,
             std::span<const int64_t> b_strides, T* y, std::span<const int64_t> shape,
             ThreadPool& pool);
// Of n bytes.
void InvertBits(const uint8_t* x, uint8_t* y, int64_t n, ThreadPool& pool);

// Which floats ClassifyFloats marks, and the bits of the format's infinity: what has more is NaN.
template <typename Bits>
struct FloatClass {
  Bits infinity;
  bool nan = false, positive_infinity = false, negative_infinity = false;
};
// y[i] = 1 where x[i], a float of that many bits with the sign on top, is of the class, else 0, for i < n. Bits is
// uint16_t, uint32_t or uint64_t.
template <typename Bits>
void ClassifyFloats(const FloatClass<Bits>& marked, const Bits* x, uint8_t* y, int64_t n,
                    ThreadPool& pool);

}  // namespace weft::kernels::simd
