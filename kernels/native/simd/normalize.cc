#include "kernels/native/simd/normalize.h"

#define WEFT_ISA_BODY "kernels/native/simd/normalize_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// Columns that one task of a reduction along a strided axis takes: whole cache lines.
constexpr int64_t kColumns = 64;

// Runs slice(outer index, first column, last column) over [outer, inner] in parallel.
template <typename Slice>
void ForEachSlice(int64_t outer, int64_t extent, int64_t inner, int64_t element_cost,
                  ThreadPool& pool, const Slice& slice) {
  const int64_t pieces = (inner + kColumns - 1) / kColumns;
  const int64_t cost = extent * std::min(inner, kColumns) * element_cost + 8;
  pool.ParallelFor(outer * pieces, TileFor(outer * pieces, cost), [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kColumns;
      slice(i / pieces, first, std::min(first + kColumns, inner));
    }
  });
}

// A kernel of the middle axis of [outer, extent, inner]: rows() where it is the last, else slice().
template <typename Rows, typename Slice>
void AlongAxis(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
               ThreadPool& pool, const Rows& rows, const Slice& slice) {
  if (outer * extent * inner == 0) return;
  if (inner == 1) {
    pool.ParallelFor(outer, TileFor(outer, 4 * extent), [=](int64_t begin, int64_t end) {
      rows(x + begin * extent, y + begin * extent, end - begin, extent);
    });
    return;
  }
  ForEachSlice(outer, extent, inner, 4, pool, [=](int64_t i, int64_t begin, int64_t end) {
    slice(x + i * extent * inner, y + i * extent * inner, extent, inner, begin, end);
  });
}

}  // namespace

void Softmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
             ThreadPool& pool) {
  AlongAxis(x, y, outer, extent, inner, pool, WEFT_DISPATCH(SoftmaxRows),
            WEFT_DISPATCH(SoftmaxSlice));
}

void LogSoftmax(const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
                ThreadPool& pool) {
  AlongAxis(x, y, outer, extent, inner, pool, WEFT_DISPATCH(LogSoftmaxRows),
            WEFT_DISPATCH(LogSoftmaxSlice));
}

void LayerNorm(const LayerNormArguments& arguments, ThreadPool& pool) {
  if (arguments.columns == 0) return;
  const auto rows = WEFT_DISPATCH(LayerNormRows);
  pool.ParallelFor(arguments.rows, TileFor(arguments.rows, 3 * arguments.columns),
                   [rows, &arguments](int64_t begin, int64_t end) { rows(arguments, begin, end); });
}

void GroupNorm(const GroupNormArguments& arguments, ThreadPool& pool) {
  const int64_t rows = arguments.batch * arguments.groups;
  const int64_t columns = arguments.channels / arguments.groups * arguments.spatial;
  if (rows * columns == 0) return;
  const auto run = WEFT_DISPATCH(GroupNormRows);
  pool.ParallelFor(rows, TileFor(rows, 4 * columns),
                   [run, &arguments](int64_t begin, int64_t end) { run(arguments, begin, end); });
}

void Reduce(ReduceOp op, const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
            ThreadPool& pool) {
  const auto range = WEFT_DISPATCH(ReduceRange);
  ForEachSlice(outer, extent, inner, 1, pool, [=](int64_t i, int64_t begin, int64_t end) {
    range(op, x + i * extent * inner, y + i * inner, extent, inner, begin, end);
  });
}

}  // namespace weft::kernels::simd
