#include "kernels/native/simd/search/extremum.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace weft::kernels::simd {
namespace {

constexpr int64_t kColumns = 1024;  // that one task takes of an inner axis

}  // namespace
}  // namespace weft::kernels::simd

#define WEFT_ISA_BODY "kernels/native/simd/search/extremum_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

template <class T>
void FindExtremum(const T* x, int64_t outer, int64_t extent, int64_t inner, ExtremumOptions options,
                  int64_t* y, ThreadPool& pool) {
  if (inner == 1) {
    const auto row = WEFT_DISPATCH(FindInRow<T>);
    pool.ParallelFor(outer, TileFor(outer, extent), [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) y[i] = row(x + i * extent, extent, options);
    });
    return;
  }
  const auto columns =
      options.last ? WEFT_DISPATCH(FindLastInColumns<T>) : WEFT_DISPATCH(FindFirstInColumns<T>);
  const int64_t pieces = (inner + kColumns - 1) / kColumns, tasks = outer * pieces;
  const int64_t cost = extent * std::min(inner, kColumns);
  pool.ParallelFor(tasks, TileFor(tasks, cost), [=](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t i = task / pieces, first = task % pieces * kColumns;
      columns(x + i * extent * inner + first, extent, inner, std::min(kColumns, inner - first),
              options.smallest, y + i * inner + first);
    }
  });
}
#define WEFT_EXTREMUM(T)                                                                     \
  template void FindExtremum(const T*, int64_t, int64_t, int64_t, ExtremumOptions, int64_t*, \
                             ThreadPool&)
WEFT_EXTREMUM(float);
WEFT_EXTREMUM(double);
WEFT_EXTREMUM(int8_t);
WEFT_EXTREMUM(uint8_t);
WEFT_EXTREMUM(int32_t);
WEFT_EXTREMUM(int64_t);
#undef WEFT_EXTREMUM

}  // namespace weft::kernels::simd
