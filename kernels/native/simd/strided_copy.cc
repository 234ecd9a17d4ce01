#include "kernels/native/simd/strided_copy.h"

#include <cstdlib>
#include <numeric>

#define WEFT_ISA_BODY "kernels/native/simd/strided_copy_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// Operands of the nest: x, then y. The loops run in the order of y, so that it is written front to
// back.
LoopNest<2> OrderedNest(std::span<const int64_t> x_strides, std::span<const int64_t> y_strides,
                        std::span<const int64_t> shape) {
  int order[kMaxRank];
  const int rank = static_cast<int>(shape.size());
  std::iota(order, order + rank, 0);
  std::stable_sort(order, order + rank,
                   [&](int a, int b) { return std::abs(y_strides[a]) > std::abs(y_strides[b]); });
  LoopNest<2> nest;
  for (int i = 0; i < rank; ++i) {
    nest.Add(shape[order[i]], {x_strides[order[i]], y_strides[order[i]]});
  }
  nest.Coalesce();
  return nest;
}

int64_t Iterations(const LoopNest<2>& nest, int loops) {
  int64_t n = 1;
  for (int i = 0; i < loops; ++i) n *= nest.extents[i];
  return n;
}

// The innermost loop is contiguous in both: one memcpy a row.
template <typename T>
void CopyRows(const T* x, T* y, const LoopNest<2>& nest, ThreadPool& pool) {
  const int outer = nest.rank - 1;
  const int64_t inner = nest.extents[outer];
  const int64_t rows = Iterations(nest, outer);
  if (rows == 1) {
    pool.ParallelFor(inner, TileFor(inner, 2), [=](int64_t begin, int64_t end) {
      std::memcpy(y + begin, x + begin, static_cast<size_t>(end - begin) * sizeof(T));
    });
    return;
  }
  const auto copy = WEFT_DISPATCH(CopyRowBytes);
  // One level of the loops is walked with plain strides, those above it by division.
  const int64_t middle = nest.extents[outer - 1];
  pool.ParallelFor(rows, TileFor(rows, 2 * inner + 8), [=, &nest](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t at = begin % middle;
      const int64_t n = std::min(middle - at, end - begin);
      int64_t offsets[2];
      nest.OffsetsAt(begin, outer, offsets);
      copy(x + offsets[0], nest.strides[0][outer - 1] * static_cast<int64_t>(sizeof(T)),
           y + offsets[1], nest.strides[1][outer - 1] * static_cast<int64_t>(sizeof(T)), n,
           inner * static_cast<int64_t>(sizeof(T)));
      begin += n;
    }
  });
}

// y is contiguous in the innermost loop and x in loop `across`: tiles of a transposed matrix.
template <typename T>
void CopyTransposed(const T* x, T* y, LoopNest<2> nest, int across, ThreadPool& pool) {
  const int last = nest.rank - 1;
  const int64_t rows = nest.extents[across];
  const int64_t columns = nest.extents[last];
  const int64_t x_stride = nest.strides[0][last];
  const int64_t y_stride = nest.strides[1][across];
  for (int i = across; i + 1 < last; ++i) {
    nest.extents[i] = nest.extents[i + 1];
    for (int o = 0; o < 2; ++o) nest.strides[o][i] = nest.strides[o][i + 1];
  }
  const int outer = last - 1;
  // Rows of y per tile: whole cache lines of x.
  constexpr int64_t kTileRows = 64 / sizeof(T) < 16 ? 16 : 64 / sizeof(T);
  constexpr int64_t kTileColumns = 512;
  const int64_t down = (rows + kTileRows - 1) / kTileRows;
  const int64_t right = (columns + kTileColumns - 1) / kTileColumns;
  const int64_t count = Iterations(nest, outer) * down * right;
  const auto transpose = [] {
    if constexpr (sizeof(T) == 4) {
      return WEFT_DISPATCH(TransposeTile32);
    } else {
      return &baseline::TransposeTile<T>;
    }
  }();
  const int64_t cost = 4 * std::min(columns, kTileColumns) * std::min(rows, kTileRows);
  pool.ParallelFor(count, TileFor(count, cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t offsets[2];
      nest.OffsetsAt(i / (down * right), outer, offsets);
      const int64_t row = i / right % down * kTileRows;
      const int64_t column = i % right * kTileColumns;
      transpose(x + offsets[0] + row + column * x_stride, x_stride,
                y + offsets[1] + row * y_stride + column, y_stride, std::min(kTileRows, rows - row),
                std::min(kTileColumns, columns - column));
    }
  });
}

// Anything else, one element at a time.
template <typename T>
void CopyElements(const T* x, T* y, const LoopNest<2>& nest, ThreadPool& pool) {
  const int outer = nest.rank - 1;
  const int64_t inner = nest.extents[outer];
  const int64_t x_stride = nest.strides[0][outer];
  const int64_t y_stride = nest.strides[1][outer];
  const int64_t count = Iterations(nest, nest.rank);
  pool.ParallelFor(count, TileFor(count, 4), [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t at = begin % inner;
      const int64_t n = std::min(inner - at, end - begin);
      int64_t offsets[2];
      nest.OffsetsAt(begin, nest.rank, offsets);
      const T* from = x + offsets[0];
      T* to = y + offsets[1];
      if (x_stride == 0 && y_stride == 1) {
        std::fill(to, to + n, *from);
      } else {
        for (int64_t i = 0; i < n; ++i) to[i * y_stride] = from[i * x_stride];
      }
      begin += n;
    }
  });
}

template <typename T>
void Copy(const void* x, void* y, const LoopNest<2>& nest, ThreadPool& pool) {
  const T* from = static_cast<const T*>(x);
  T* to = static_cast<T*>(y);
  const int last = nest.rank - 1;
  if (Iterations(nest, nest.rank) == 0) return;
  if (nest.strides[1][last] == 1) {
    if (nest.strides[0][last] == 1) return CopyRows(from, to, nest, pool);
    for (int i = 0; i < last; ++i) {
      if (nest.strides[0][i] == 1 && nest.extents[i] > 1 && nest.strides[0][last] != 0) {
        return CopyTransposed(from, to, nest, i, pool);
      }
    }
  }
  CopyElements(from, to, nest, pool);
}

}  // namespace

void CopyStrided(const void* x, std::span<const int64_t> x_strides, void* y,
                 std::span<const int64_t> y_strides, std::span<const int64_t> shape,
                 int element_size, ThreadPool& pool) {
  const LoopNest<2> nest = OrderedNest(x_strides, y_strides, shape);
  switch (element_size) {
    case 1:
      return Copy<uint8_t>(x, y, nest, pool);
    case 2:
      return Copy<uint16_t>(x, y, nest, pool);
    case 4:
      return Copy<uint32_t>(x, y, nest, pool);
    case 8:
      return Copy<uint64_t>(x, y, nest, pool);
  }
}

void Transpose(const void* x, std::span<const int64_t> shape, std::span<const int64_t> perm,
               void* y, int element_size, ThreadPool& pool) {
  const Dims strides = RowMajorStrides(shape);
  Dims y_shape, x_strides;
  for (int64_t axis : perm) {
    y_shape.push_back(shape[axis]);
    x_strides.push_back(strides[static_cast<int>(axis)]);
  }
  CopyStrided(x, x_strides, y, RowMajorStrides(y_shape), y_shape, element_size, pool);
}

void Fill(const void* value, void* y, int64_t n, int element_size, ThreadPool& pool) {
  CopyStrided(value, Dims{0}, y, Dims{1}, Dims{n}, element_size, pool);
}

template <typename Index>
int64_t Gather(const void* x, int64_t outer, int64_t extent, int64_t inner_bytes,
               const Index* indices, int64_t count, void* y, ThreadPool& pool) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = indices[i];
    if (index < -extent || index >= extent) return i;
  }
  const char* from = static_cast<const char*>(x);
  char* to = static_cast<char*>(y);
  const int64_t rows = outer * count;
  pool.ParallelFor(rows, TileFor(rows, inner_bytes / 2 + 8), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t index = indices[row % count];
      if (index < 0) index += extent;
      std::memcpy(to + row * inner_bytes, from + (row / count * extent + index) * inner_bytes,
                  static_cast<size_t>(inner_bytes));
    }
  });
  return -1;
}

template int64_t Gather<int32_t>(const void*, int64_t, int64_t, int64_t, const int32_t*, int64_t,
                                 void*, ThreadPool&);
template int64_t Gather<int64_t>(const void*, int64_t, int64_t, int64_t, const int64_t*, int64_t,
                                 void*, ThreadPool&);

}  // namespace weft::kernels::simd
