#include "kernels/native/simd/elementwise/binary.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/native/simd/elementwise/broadcast.h"
#include "kernels/native/simd/elementwise/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/elementwise/binary_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

template <typename T>
auto BinaryRowFor() {
  if constexpr (std::is_same_v<T, float>) return WEFT_DISPATCH(BinaryRowFloat);
  if constexpr (std::is_same_v<T, double>) return WEFT_DISPATCH(BinaryRowDouble);
  if constexpr (std::is_same_v<T, int32_t>) return WEFT_DISPATCH(BinaryRowInt32);
  if constexpr (std::is_same_v<T, int64_t>) return WEFT_DISPATCH(BinaryRowInt64);
}

template <typename T>
auto CompareRowFor() {
  if constexpr (std::is_same_v<T, float>) return WEFT_DISPATCH(CompareRowFloat);
  if constexpr (std::is_same_v<T, double>) return WEFT_DISPATCH(CompareRowDouble);
  if constexpr (std::is_same_v<T, int32_t>) return WEFT_DISPATCH(CompareRowInt32);
  if constexpr (std::is_same_v<T, int64_t>) return WEFT_DISPATCH(CompareRowInt64);
  if constexpr (std::is_same_v<T, uint8_t>) return WEFT_DISPATCH(CompareRowUint8);
}

}  // namespace

template <typename T>
void BinaryOnRow(BinaryOp op, const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* y,
                 int64_t n) {
  BinaryRowFor<T>()(op, a, a_stride, b, b_stride, y, n);
}

template <typename T>
void CompareOnRow(CompareOp op, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                  uint8_t* y, int64_t n) {
  CompareRowFor<T>()(op, a, a_stride, b, b_stride, y, n);
}

template <typename T>
void Binary(BinaryOp op, const T* a, std::span<const int64_t> a_strides, const T* b,
            std::span<const int64_t> b_strides, T* y, std::span<const int64_t> shape,
            ThreadPool& pool) {
  LoopNest<3> nest = NestOf(a_strides, b_strides, shape);
  const auto row = BinaryRowFor<T>();
  ForEachRow(nest, pool, [&](const int64_t(&offsets)[3], int64_t n) {
    const int inner = nest.rank - 1;
    row(op, a + offsets[0], nest.strides[0][inner], b + offsets[1], nest.strides[1][inner],
        y + offsets[2], n);
  });
}

template <typename T>
void Compare(CompareOp op, const T* a, std::span<const int64_t> a_strides, const T* b,
             std::span<const int64_t> b_strides, uint8_t* y, std::span<const int64_t> shape,
             ThreadPool& pool) {
  LoopNest<3> nest = NestOf(a_strides, b_strides, shape);
  const auto row = CompareRowFor<T>();
  ForEachRow(nest, pool, [&](const int64_t(&offsets)[3], int64_t n) {
    const int inner = nest.rank - 1;
    row(op, a + offsets[0], nest.strides[0][inner], b + offsets[1], nest.strides[1][inner],
        y + offsets[2], n);
  });
}

#define WEFT_INSTANTIATE_BINARY(T)                                                           \
  template void BinaryOnRow<T>(BinaryOp, const T*, int64_t, const T*, int64_t, T*, int64_t); \
  template void Binary<T>(BinaryOp, const T*, std::span<const int64_t>, const T*,            \
                          std::span<const int64_t>, T*, std::span<const int64_t>, ThreadPool&)
#define WEFT_INSTANTIATE_COMPARE(T)                                                        \
  template void CompareOnRow<T>(CompareOp, const T*, int64_t, const T*, int64_t, uint8_t*, \
                                int64_t);                                                  \
  template void Compare<T>(CompareOp, const T*, std::span<const int64_t>, const T*,        \
                           std::span<const int64_t>, uint8_t*, std::span<const int64_t>,   \
                           ThreadPool&)
WEFT_INSTANTIATE_BINARY(float);
WEFT_INSTANTIATE_BINARY(double);
WEFT_INSTANTIATE_BINARY(int32_t);
WEFT_INSTANTIATE_BINARY(int64_t);
WEFT_INSTANTIATE_COMPARE(float);
WEFT_INSTANTIATE_COMPARE(double);
WEFT_INSTANTIATE_COMPARE(int32_t);
WEFT_INSTANTIATE_COMPARE(int64_t);
WEFT_INSTANTIATE_COMPARE(uint8_t);

}  // namespace weft::kernels::simd
