#include "kernels/native/simd/elementwise/where.h"

#include <type_traits>

#include "kernels/native/simd/elementwise/broadcast.h"
#include "kernels/native/simd/elementwise/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/elementwise/where_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

template <typename T>
auto WhereRowFor() {
  if constexpr (std::is_same_v<T, uint8_t>) return WEFT_DISPATCH(WhereRow8);
  if constexpr (std::is_same_v<T, uint16_t>) return WEFT_DISPATCH(WhereRow16);
  if constexpr (std::is_same_v<T, uint32_t>) return WEFT_DISPATCH(WhereRow32);
  if constexpr (std::is_same_v<T, uint64_t>) return WEFT_DISPATCH(WhereRow64);
}

template <typename T>
void WhereImpl(const uint8_t* condition, const void* a, const void* b, void* y, LoopNest<4>& nest,
               ThreadPool& pool) {
  const auto run = WhereRowFor<T>();
  ForEachRow(nest, pool, [&](const int64_t(&offsets)[4], int64_t n) {
    const int inner = nest.rank - 1;
    run(condition + offsets[0], nest.strides[0][inner], static_cast<const T*>(a) + offsets[1],
        nest.strides[1][inner], static_cast<const T*>(b) + offsets[2], nest.strides[2][inner],
        static_cast<T*>(y) + offsets[3], n);
  });
}

}  // namespace

template <typename T>
void WhereOnRow(const uint8_t* condition, int64_t condition_stride, const T* a, int64_t a_stride,
                const T* b, int64_t b_stride, T* y, int64_t n) {
  WhereRowFor<T>()(condition, condition_stride, a, a_stride, b, b_stride, y, n);
}

#define WEFT_INSTANTIATE_WHERE(T)                                                                \
  template void WhereOnRow<T>(const uint8_t*, int64_t, const T*, int64_t, const T*, int64_t, T*, \
                              int64_t)
WEFT_INSTANTIATE_WHERE(uint8_t);
WEFT_INSTANTIATE_WHERE(uint16_t);
WEFT_INSTANTIATE_WHERE(uint32_t);
WEFT_INSTANTIATE_WHERE(uint64_t);
#undef WEFT_INSTANTIATE_WHERE

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
