#include "kernels/native/simd/pooling/taps.h"

#include <type_traits>

#define WEFT_ISA_BODY "kernels/native/simd/pooling/taps_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

template <class T>
void JoinLargest(const Tap<T>& tap, T* largest) {
  WEFT_DISPATCH(LargestOfTap<T>)(tap, largest);
}
template <class T>
void JoinLargest(const Tap<T>& tap, T* largest, int32_t first, int32_t* places) {
  WEFT_DISPATCH(PlacesOfTap<T>)(tap, largest, first, places);
}
#define WEFT_LARGEST(T)                         \
  template void JoinLargest(const Tap<T>&, T*); \
  template void JoinLargest(const Tap<T>&, T*, int32_t, int32_t*)
WEFT_LARGEST(float);
WEFT_LARGEST(double);
WEFT_LARGEST(int8_t);
WEFT_LARGEST(uint8_t);
#undef WEFT_LARGEST

void AddTerms(const Tap<float>& tap, TapTerm term, double* sums) {
  WEFT_DISPATCH(AddTermsOfTap)(tap, term, sums);
}

void LargestOfRows(const float* x, int64_t rows, int64_t n, float* y, ThreadPool& pool) {
  const auto largest = WEFT_DISPATCH(LargestOfRow);
  pool.ParallelFor(rows, TileFor(rows, n), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) y[row] = largest(x + row * n, n);
  });
}

}  // namespace weft::kernels::simd
