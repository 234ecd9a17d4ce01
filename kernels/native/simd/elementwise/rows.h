// What the loops of binary.h, unary.h and elementwise/ do to consecutive elements, on the calling thread: for
// kernels that do several such things to a piece of memory while it is in the cache. Element i of
// the result depends on elements i alone, so numbers do not depend on where rows are cut.
//
// Strides are in elements: 1, or 0 for one value that all read (others work, slowly). y may be an
// operand of its element type and of stride 1.
#pragma once

#include <cstdint>

#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/native/simd/elementwise/logic.h"
#include "kernels/native/simd/elementwise/unary.h"

namespace weft::kernels::simd {

// About the cycles of one element, in units of TileFor.
int64_t CostOf(UnaryOp op);

void UnaryOnRow(UnaryOp op, const UnaryParams& params, const float* x, float* y, int64_t n);

// T as for Binary(). A power by an exponent of stride 0 is a product where that is faster, which may
// differ from pow in the last bit.
template <typename T>
void BinaryOnRow(BinaryOp op, const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* y,
                 int64_t n);

// T as for Compare().
template <typename T>
void CompareOnRow(CompareOp op, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                  uint8_t* y, int64_t n);

// Bools: y[i] = 1 or 0.
void LogicOnRow(LogicOp op, const uint8_t* a, int64_t a_stride, const uint8_t* b, int64_t b_stride,
                uint8_t* y, int64_t n);
void NotOnRow(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t n);

// T is uint8_t, uint16_t, uint32_t or uint64_t: whatever has elements of that size.
template <typename T>
void WhereOnRow(const uint8_t* condition, int64_t condition_stride, const T* a, int64_t a_stride,
                const T* b, int64_t b_stride, T* y, int64_t n);

// To the nearest float, halves to even.
void IntegersToFloatsOnRow(const int32_t* x, int64_t x_stride, float* y, int64_t n);

}  // namespace weft::kernels::simd
