#include "kernels/native/simd/binary.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/native/simd/elementwise/broadcast.h"
#include "kernels/native/simd/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/binary_body.inc"
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

template <typename T>
void WhereImpl(const uint8_t* condition, const void* a, const void* b, void* y, LoopNest<4>& nest,
               ThreadPool& pool) {
  ForEachRow(nest, pool, [&](const int64_t(&offsets)[4], int64_t n) {
    const int inner = nest.rank - 1;
    WhereOnRow(condition + offsets[0], nest.strides[0][inner],
               static_cast<const T*>(a) + offsets[1], nest.strides[1][inner],
               static_cast<const T*>(b) + offsets[2], nest.strides[2][inner],
               static_cast<T*>(y) + offsets[3], n);
  });
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
void WhereOnRow(const uint8_t* condition, int64_t condition_stride, const T* a, int64_t a_stride,
                const T* b, int64_t b_stride, T* y, int64_t n) {
  if (condition_stride == 1 && a_stride == 1 && b_stride == 1) {
    for (int64_t i = 0; i < n; ++i) y[i] = condition[i] != 0 ? a[i] : b[i];
  } else {
    for (int64_t i = 0; i < n; ++i)
      y[i] = condition[i * condition_stride] != 0 ? a[i * a_stride] : b[i * b_stride];
  }
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
#define WEFT_INSTANTIATE_WHERE(T)                                                                \
  template void WhereOnRow<T>(const uint8_t*, int64_t, const T*, int64_t, const T*, int64_t, T*, \
                              int64_t)
WEFT_INSTANTIATE_BINARY(float);
WEFT_INSTANTIATE_BINARY(double);
WEFT_INSTANTIATE_BINARY(int32_t);
WEFT_INSTANTIATE_BINARY(int64_t);
WEFT_INSTANTIATE_COMPARE(float);
WEFT_INSTANTIATE_COMPARE(double);
WEFT_INSTANTIATE_COMPARE(int32_t);
WEFT_INSTANTIATE_COMPARE(int64_t);
WEFT_INSTANTIATE_COMPARE(uint8_t);
WEFT_INSTANTIATE_WHERE(uint8_t);
WEFT_INSTANTIATE_WHERE(uint16_t);
WEFT_INSTANTIATE_WHERE(uint32_t);
WEFT_INSTANTIATE_WHERE(uint64_t);

void Where(const uint8_t* condition, std::span<const int64_t> condition_strides, const void* a,
           std::span<const int64_t> a_strides, const void* b, std::span<const int64_t> b_strides,
           void* y, std::span<const int64_t> shape, int element_size, ThreadPool& pool) {
  const Dims y_strides = RowMajorStrides(shape);
  LoopNest<4> nest;
  for (int i = 0; i < y_strides.size(); ++i) {
    nest.Add(shape[i], {condition_strides[i], a_strides[i], b_strides[i], y_strides[i]});
  }
  switch (element_size) {
    case 1:
      return WhereImpl<uint8_t>(condition, a, b, y, nest, pool);
    case 2:
      return WhereImpl<uint16_t>(condition, a, b, y, nest, pool);
    case 4:
      return WhereImpl<uint32_t>(condition, a, b, y, nest, pool);
    case 8:
      return WhereImpl<uint64_t>(condition, a, b, y, nest, pool);
  }
}

}  // namespace weft::kernels::simd
