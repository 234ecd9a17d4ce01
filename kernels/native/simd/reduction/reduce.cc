#include "kernels/native/simd/reduction/reduce.h"

#include <algorithm>
#include <type_traits>

#include "kernels/native/simd/reduction/slices.h"
#include "kernels/thread_scratch.h"

#define WEFT_ISA_BODY "kernels/native/simd/reduction/reduce_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

// Few and long columns are reduced in parts of rows, not of columns: what wrote x and what reads it next go over it by
// rows, and a thread then meets those that its core has in its cache. The parts depend on the sizes alone.
constexpr int64_t kRowParts = 8;

bool GoesByRows(ReduceOp op, int64_t outer, int64_t extent, int64_t inner) {
  constexpr int64_t kLeastElements = 32 * 1024;
  return op != ReduceOp::kProduct &&  // whose parts may overflow where the whole does not
         outer < kRowParts && extent >= 2 * kRowParts && outer * extent * inner >= kLeastElements;
}

// About the cycles of one element, in units of TileFor.
int64_t CostOf(ReduceOp op) { return op == ReduceOp::kLogSumExp ? 4 : 1; }

// All columns of one [extent, inner], by range(op, x, y, extent, inner, first column, last).
template <typename T, typename Range>
void ReduceColumns(const Range& range, ReduceOp op, const T* x, T* y, int64_t extent,
                   int64_t inner) {
  for (int64_t i = 0; i < inner; i += kColumns)
    range(op, x, y, extent, inner, i, std::min(i + kColumns, inner));
}

template <typename T, typename Range>
void ReduceByRows(const Range& range, ReduceOp op, const T* x, T* y, int64_t outer, int64_t extent,
                  int64_t inner, ThreadPool& pool) {
  const ReduceOp part_op = op == ReduceOp::kMean ? ReduceOp::kSum : op;  // parts differ in size
  const int64_t tasks = outer * kRowParts;
  T* parts = reinterpret_cast<T*>(
      ThreadScratch(tasks * inner * static_cast<int64_t>(sizeof(T)), ScratchUse::kShared));
  pool.ParallelFor(tasks, 1, [=](int64_t task, int64_t) {
    const int64_t part = task % kRowParts;
    const int64_t first = extent * part / kRowParts, last = extent * (part + 1) / kRowParts;
    ReduceColumns(range, part_op, x + (task / kRowParts * extent + first) * inner,
                  parts + task * inner, last - first, inner);
  });
  for (int64_t o = 0; o < outer; ++o)
    ReduceColumns(range, JoinOf(part_op), parts + o * kRowParts * inner, y + o * inner, kRowParts,
                  inner);
  if (op != ReduceOp::kMean) return;
  for (int64_t i = 0; i < outer * inner; ++i) y[i] /= static_cast<T>(extent);
}

template <typename T, typename Range>
void ReduceWith(const Range& range, ReduceOp op, const T* x, T* y, int64_t outer, int64_t extent,
                int64_t inner, ThreadPool& pool) {
  if (GoesByRows(op, outer, extent, inner))
    return ReduceByRows(range, op, x, y, outer, extent, inner, pool);
  ForEachSlice(outer, extent, inner, CostOf(op), pool, [=](int64_t i, int64_t begin, int64_t end) {
    range(op, x + i * extent * inner, y + i * inner, extent, inner, begin, end);
  });
}

}  // namespace

void Reduce(ReduceOp op, const float* x, float* y, int64_t outer, int64_t extent, int64_t inner,
            ThreadPool& pool) {
  ReduceWith(WEFT_DISPATCH(ReduceRange), op, x, y, outer, extent, inner, pool);
}

template <typename T>
void ReduceNumbers(ReduceOp op, const T* x, T* y, int64_t outer, int64_t extent, int64_t inner,
                   ThreadPool& pool) {
  ReduceWith(WEFT_DISPATCH(ReduceNumberRange<T>), op, x, y, outer, extent, inner, pool);
}

#define WEFT_REDUCE_NUMBERS(T) \
  template void ReduceNumbers<T>(ReduceOp, const T*, T*, int64_t, int64_t, int64_t, ThreadPool&)
WEFT_REDUCE_NUMBERS(double);
WEFT_REDUCE_NUMBERS(int8_t);
WEFT_REDUCE_NUMBERS(uint8_t);
WEFT_REDUCE_NUMBERS(int16_t);
WEFT_REDUCE_NUMBERS(uint16_t);
WEFT_REDUCE_NUMBERS(int32_t);
WEFT_REDUCE_NUMBERS(uint32_t);
WEFT_REDUCE_NUMBERS(int64_t);
WEFT_REDUCE_NUMBERS(uint64_t);
#undef WEFT_REDUCE_NUMBERS

}  // namespace weft::kernels::simd
