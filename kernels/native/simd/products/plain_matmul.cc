#include "kernels/native/simd/products/plain_matmul.h"

#include <algorithm>

#include "kernels/thread_scratch.h"

namespace weft::kernels::simd {
namespace {

// A part of B that is as wide as a tile, row after row, stays in an L2 cache while all rows of a task pass.
constexpr int64_t kPartDepth = 256;
constexpr int64_t kTaskRows = 96;

// rows x `width` of C, from the packed part of B. C is added to where `accumulate`.
template <class T>
struct TileArguments {
  const T* a;
  int64_t a_row_stride, a_column_stride;
  const T* b;
  int64_t depth;
  T* c;
  int64_t c_stride;
  bool accumulate;
};

// The tiles of an instruction set for rows in kRows and widths of `lanes`, twice and four times as many.
constexpr int kRowCounts = 4, kWidths = 3;
constexpr int64_t kRows[kRowCounts] = {1, 2, 4, 6};
template <class T>
struct Tiles {
  int64_t lanes;
  int widths;  // of those that the registers hold
  void (*run[kRowCounts][kWidths])(const TileArguments<T>& tile);
};

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/products/plain_matmul_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// A part of a product: rows [row, row + rows), columns [column, column + columns).
struct Part {
  int64_t row, rows, column, columns;
};

// A tile where C has fewer columns than it.
template <class T>
void RunNarrow(void (*run)(const TileArguments<T>&), TileArguments<T> tile, int64_t rows,
               int64_t width, int64_t columns) {
  constexpr int64_t kMostRows = 6, kMostWidth = 64;  // of four vectors of 16
  T whole[kMostRows * kMostWidth];
  T* const c = tile.c;
  const int64_t stride = tile.c_stride;
  if (tile.accumulate) {
    std::fill_n(whole, rows * width, T(0));
    for (int64_t i = 0; i < rows; ++i) std::copy_n(c + i * stride, columns, whole + i * width);
  }
  tile.c = whole;
  tile.c_stride = width;
  run(tile);
  for (int64_t i = 0; i < rows; ++i) std::copy_n(whole + i * width, columns, c + i * stride);
}

// Columns of B, at most `width`, to rows of that many.
template <class T>
void Pack(const MatmulArguments<T>& m, const T* b, int64_t depth, int64_t columns, int64_t width,
          T* packed) {
  for (int64_t k = 0; k < depth; ++k, packed += width) {
    const T* row = b + k * m.b_row_stride;
    if (m.b_column_stride == 1) {
      std::copy_n(row, columns, packed);
    } else {
      for (int64_t j = 0; j < columns; ++j) packed[j] = row[j * m.b_column_stride];
    }
    std::fill(packed + columns, packed + width, T(0));
  }
}

template <class T>
void RunPart(const Tiles<T>& tiles, const MatmulArguments<T>& m, const Part& part) {
  int width_index = tiles.widths - 1;
  while (width_index > 0 && part.columns <= tiles.lanes << (width_index - 1)) --width_index;
  const int64_t width = tiles.lanes << width_index;
  T* const packed = reinterpret_cast<T*>(
      ThreadScratch(kPartDepth * width * static_cast<int64_t>(sizeof(T)), ScratchUse::kTask));
  for (int64_t first = 0; first == 0 || first < m.k; first += kPartDepth) {
    const int64_t depth = std::min(kPartDepth, m.k - first);
    Pack(m, m.b + first * m.b_row_stride + part.column * m.b_column_stride, depth, part.columns,
         width, packed);
    int row_index = kRowCounts - 1;
    for (int64_t row = 0; row < part.rows; row += kRows[row_index]) {
      while (kRows[row_index] > part.rows - row) --row_index;
      const TileArguments<T> tile = {
          m.a + (part.row + row) * m.a_row_stride + first * m.a_column_stride,
          m.a_row_stride,
          m.a_column_stride,
          packed,
          depth,
          m.c + (part.row + row) * m.c_stride + part.column,
          m.c_stride,
          first > 0};
      const auto run = tiles.run[row_index][width_index];
      if (part.columns == width) {
        run(tile);
      } else {
        RunNarrow(run, tile, kRows[row_index], width, part.columns);
      }
    }
  }
}

}  // namespace

template <class T>
void Matmul(const MatmulArguments<T>& arguments, ThreadPool& pool) {
  const MatmulArguments<T>& m = arguments;
  const Tiles<T>& tiles = *WEFT_DISPATCH(kTilesOf<T>);
  LoopNest<3> nest;
  for (int i = 0; i < m.batch.size(); ++i)
    nest.Add(m.batch[i], {m.a_batch_strides[i], m.b_batch_strides[i], m.c_batch_strides[i]});
  nest.Coalesce();
  int64_t batches = 1;
  for (int i = 0; i < nest.rank; ++i) batches *= nest.extents[i];
  const int64_t width = tiles.lanes << (tiles.widths - 1);
  const int64_t row_parts = (m.m + kTaskRows - 1) / kTaskRows,
                column_parts = (m.n + width - 1) / width;
  const int64_t parts = row_parts * column_parts;
  if (batches * parts == 0) return;
  const int64_t cost =
      std::min(m.m, kTaskRows) * std::min(m.n, width) * std::max<int64_t>(m.k / 8, 1);
  pool.ParallelFor(
      batches * parts, TileFor(batches * parts, cost), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t offsets[3];
          nest.OffsetsAt(i / parts, nest.rank, offsets);
          MatmulArguments<T> one = m;
          one.a += offsets[0];
          one.b += offsets[1];
          one.c += offsets[2];
          const int64_t row = i % parts / column_parts * kTaskRows;
          const int64_t column = i % column_parts * width;
          RunPart(tiles, one,
                  {row, std::min(kTaskRows, m.m - row), column, std::min(width, m.n - column)});
        }
      });
}
template void Matmul(const MatmulArguments<double>&, ThreadPool&);
template void Matmul(const MatmulArguments<uint32_t>&, ThreadPool&);
template void Matmul(const MatmulArguments<uint64_t>&, ThreadPool&);

template <class T>
void AddScaled(const ScaledSum<T>& sum, ThreadPool& pool) {
  const ScaledSum<T>& s = sum;
  pool.ParallelFor(s.rows, TileFor(s.rows, 2 * s.columns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* const y = s.y + i * s.columns;
      const T* const x = s.x + i * s.x_row_stride;
      if (s.x == nullptr) {
        for (int64_t j = 0; j < s.columns; ++j) y[j] *= s.alpha;
      } else if (s.x_column_stride == 0) {
        const T term = s.beta * *x;
        for (int64_t j = 0; j < s.columns; ++j) y[j] = s.alpha * y[j] + term;
      } else {
        for (int64_t j = 0; j < s.columns; ++j) y[j] = s.alpha * y[j] + s.beta * x[j];
      }
    }
  });
}
template void AddScaled(const ScaledSum<float>&, ThreadPool&);
template void AddScaled(const ScaledSum<double>&, ThreadPool&);

}  // namespace weft::kernels::simd
