#include "kernels/native/simd/movement/gather_elements.h"

#include <atomic>
#include <limits>

namespace weft::kernels::simd {
namespace {

// Whether all are in [-extent, extent). No branch for each and no comparison of 64 bits, which the portable instruction
// set lacks, so that the compiler makes vectors of it: one of the two terms has its highest bit set where an index is
// outside.
template <typename Index>
bool AreInRange(const Index* indices, int64_t n, int64_t extent) {
  const auto size = static_cast<uint64_t>(extent);
  uint64_t outside = 0;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t above = static_cast<uint64_t>(int64_t{indices[i]}) + size;
    outside |= above | (2 * size - 1 - above);
  }
  return outside >> 63 == 0;
}

template <typename T, typename Index>
void GatherRow(const T* x, int64_t x_stride, int64_t extent, int64_t along, const Index* indices,
               T* y, int64_t n) {
  const auto gather = [=](int64_t stride, int64_t step) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t index = indices[i];
      y[i] = x[i * stride + (index + (extent & index >> 63)) * step];
    }
  };
  if (x_stride == 0 && along == 1) {
    gather(0, 1);
  } else {
    gather(x_stride, along);
  }
}

template <typename T, typename Index>
int64_t Gather(const T* x, int64_t extent, int64_t along, const Index* indices, T* y,
               const LoopNest<2>& nest, ThreadPool& pool) {
  constexpr int64_t kPiece = 1024;  // is checked, and read again from the cache
  const int inner = nest.rank - 1;
  int64_t count = 1;
  for (int i = 0; i < nest.rank; ++i) count *= nest.extents[i];
  std::atomic<int64_t> first_bad = std::numeric_limits<int64_t>::max();
  pool.ParallelFor(count, TileFor(count, 6), [&](int64_t begin, int64_t end) {
    nest.ForEachRow(begin, end, [&](const int64_t(&offsets)[2], int64_t n) {
      for (int64_t at = 0; at < n; at += kPiece) {
        const int64_t piece = std::min(kPiece, n - at), place = offsets[1] + at;
        if (!AreInRange(indices + place, piece, extent)) {
          int64_t bad = place;
          while (indices[bad] >= -extent && indices[bad] < extent) ++bad;
          int64_t before = first_bad.load();
          while (bad < before && !first_bad.compare_exchange_weak(before, bad)) {
          }
          return;
        }
        const int64_t x_stride = nest.strides[0][inner];
        GatherRow(x + offsets[0] + at * x_stride, x_stride, extent, along, indices + place,
                  y + place, piece);
      }
    });
  });
  const int64_t bad = first_bad.load();
  return bad == std::numeric_limits<int64_t>::max() ? -1 : bad;
}

}  // namespace

template <typename Index>
int64_t GatherElements(const void* x, std::span<const int64_t> strides, int64_t extent,
                       int64_t along, const Index* indices, std::span<const int64_t> shape, void* y,
                       int element_size, ThreadPool& pool) {
  const Dims y_strides = RowMajorStrides(shape);
  LoopNest<2> nest;
  for (int i = 0; i < y_strides.size(); ++i) nest.Add(shape[i], {strides[i], y_strides[i]});
  nest.Coalesce();
  const auto gather = [&](auto tag) {
    using T = decltype(tag);
    return Gather(static_cast<const T*>(x), extent, along, indices, static_cast<T*>(y), nest, pool);
  };
  switch (element_size) {
    case 1:
      return gather(uint8_t());
    case 2:
      return gather(uint16_t());
    case 4:
      return gather(uint32_t());
    default:
      return gather(uint64_t());
  }
}

template int64_t GatherElements(const void*, std::span<const int64_t>, int64_t, int64_t,
                                const int32_t*, std::span<const int64_t>, void*, int, ThreadPool&);
template int64_t GatherElements(const void*, std::span<const int64_t>, int64_t, int64_t,
                                const int64_t*, std::span<const int64_t>, void*, int, ThreadPool&);

}  // namespace weft::kernels::simd
