#include "kernels/native/simd/elementwise/logic.h"

#include <type_traits>

#include "kernels/native/simd/elementwise/broadcast.h"
#include "kernels/native/simd/elementwise/rows.h"

#define WEFT_ISA_BODY "kernels/native/simd/elementwise/logic_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

template <typename T>
auto BitwiseRowFor() {
  if constexpr (std::is_same_v<T, uint8_t>) return WEFT_DISPATCH(BitwiseRow8);
  if constexpr (std::is_same_v<T, uint16_t>) return WEFT_DISPATCH(BitwiseRow16);
  if constexpr (std::is_same_v<T, uint32_t>) return WEFT_DISPATCH(BitwiseRow32);
  if constexpr (std::is_same_v<T, uint64_t>) return WEFT_DISPATCH(BitwiseRow64);
}

template <typename Bits>
auto ClassifyRowFor() {
  if constexpr (std::is_same_v<Bits, uint16_t>) return WEFT_DISPATCH(ClassifyRow16);
  if constexpr (std::is_same_v<Bits, uint32_t>) return WEFT_DISPATCH(ClassifyRow32);
  if constexpr (std::is_same_v<Bits, uint64_t>) return WEFT_DISPATCH(ClassifyRow64);
}

// row(op, a, a_stride, b, b_stride, y, n) over all rows of the result.
template <typename Op, typename T, typename Row>
void OverRows(Op op, const T* a, const T* b, T* y, LoopNest<3> nest, const Row& row,
              ThreadPool& pool) {
  ForEachRow(nest, pool, [&](const int64_t(&offsets)[3], int64_t n) {
    const int inner = nest.rank - 1;
    row(op, a + offsets[0], nest.strides[0][inner], b + offsets[1], nest.strides[1][inner],
        y + offsets[2], n);
  });
}

}  // namespace

void LogicOnRow(LogicOp op, const uint8_t* a, int64_t a_stride, const uint8_t* b, int64_t b_stride,
                uint8_t* y, int64_t n) {
  WEFT_DISPATCH(LogicRow)(op, a, a_stride, b, b_stride, y, n);
}

void Logic(LogicOp op, const uint8_t* a, std::span<const int64_t> a_strides, const uint8_t* b,
           std::span<const int64_t> b_strides, uint8_t* y, std::span<const int64_t> shape,
           ThreadPool& pool) {
  OverRows(op, a, b, y, NestOf(a_strides, b_strides, shape), WEFT_DISPATCH(LogicRow), pool);
}

void NotOnRow(const uint8_t* x, int64_t x_stride, uint8_t* y, int64_t n) {
  if (x_stride == 1) {
    WEFT_DISPATCH(NotRow)(x, y, n);
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i * x_stride] == 0 ? 1 : 0;
  }
}

void Not(const uint8_t* x, uint8_t* y, int64_t n, ThreadPool& pool) {
  const auto row = WEFT_DISPATCH(NotRow);
  pool.ParallelFor(n, TileFor(n, 1),
                   [=](int64_t begin, int64_t end) { row(x + begin, y + begin, end - begin); });
}

template <typename T>
void Bitwise(BitwiseOp op, const T* a, std::span<const int64_t> a_strides, const T* b,
             std::span<const int64_t> b_strides, T* y, std::span<const int64_t> shape,
             ThreadPool& pool) {
  OverRows(op, a, b, y, NestOf(a_strides, b_strides, shape), BitwiseRowFor<T>(), pool);
}

#define WEFT_INSTANTIATE(T)                                                         \
  template void Bitwise<T>(BitwiseOp, const T*, std::span<const int64_t>, const T*, \
                           std::span<const int64_t>, T*, std::span<const int64_t>, ThreadPool&)
WEFT_INSTANTIATE(uint8_t);
WEFT_INSTANTIATE(uint16_t);
WEFT_INSTANTIATE(uint32_t);
WEFT_INSTANTIATE(uint64_t);
#undef WEFT_INSTANTIATE

void InvertBits(const uint8_t* x, uint8_t* y, int64_t n, ThreadPool& pool) {
  const auto row = WEFT_DISPATCH(InvertRow);
  pool.ParallelFor(n, TileFor(n, 1),
                   [=](int64_t begin, int64_t end) { row(x + begin, y + begin, end - begin); });
}

template <typename Bits>
void ClassifyFloats(const FloatClass<Bits>& marked, const Bits* x, uint8_t* y, int64_t n,
                    ThreadPool& pool) {
  const auto row = ClassifyRowFor<Bits>();
  pool.ParallelFor(n, TileFor(n, 1), [&](int64_t begin, int64_t end) {
    row(marked, x + begin, y + begin, end - begin);
  });
}
template void ClassifyFloats(const FloatClass<uint16_t>&, const uint16_t*, uint8_t*, int64_t,
                             ThreadPool&);
template void ClassifyFloats(const FloatClass<uint32_t>&, const uint32_t*, uint8_t*, int64_t,
                             ThreadPool&);
template void ClassifyFloats(const FloatClass<uint64_t>&, const uint64_t*, uint8_t*, int64_t,
                             ThreadPool&);

}  // namespace weft::kernels::simd
