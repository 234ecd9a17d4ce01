// Elementwise functions of two arrays with broadcasting.
//
// Operands are read through strides in elements, 0 where they are broadcast (BroadcastStrides of
// shape_math.h); the result is row-major. Rank at most kMaxRank. y may be an operand that is not
// broadcast.
//
//   Dims shape = {128, 768};
//   Binary(BinaryOp::kAdd, x, RowMajorStrides(shape), bias, Dims{0, 1}, y, shape, pool);
#pragma once

#include <cstdint>
#include <span>

#include "kernels/shape_math.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// kMin and kMax of a NaN are NaN; kPRelu is a, or a * b where a is negative. Integers wrap; integer
// division by zero gives 0, integer powers of negative exponents truncate.
enum class BinaryOp { kAdd, kSub, kMul, kDiv, kPow, kMin, kMax, kPRelu };

enum class CompareOp { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

// T is float, double, int32_t or int64_t.
template <typename T>
void Binary(BinaryOp op, const T* a, std::span<const int64_t> a_strides, const T* b,
            std::span<const int64_t> b_strides, T* y, std::span<const int64_t> shape,
            ThreadPool& pool);

// y[i] = 1 or 0. T is float, double, int32_t, int64_t or uint8_t (for bool).
template <typename T>
void Compare(CompareOp op, const T* a, std::span<const int64_t> a_strides, const T* b,
             std::span<const int64_t> b_strides, uint8_t* y, std::span<const int64_t> shape,
             ThreadPool& pool);

}  // namespace weft::kernels::simd
