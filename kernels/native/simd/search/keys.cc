#include "kernels/native/simd/search/keys.h"

#include <limits>

#define WEFT_ISA_BODY "kernels/native/simd/search/keys_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

template <class T>
void OrderedKeys(const T* x, int64_t stride, int64_t n, int64_t columns, bool reversed,
                 KeyOf<T>* keys, int64_t keys_stride) {
  WEFT_DISPATCH(OrderedKeysOf<T>)(x, stride, n, columns, reversed, keys, keys_stride);
}
#define WEFT_KEYS(T) \
  template void OrderedKeys(const T*, int64_t, int64_t, int64_t, bool, KeyOf<T>*, int64_t)
WEFT_KEYS(float);
WEFT_KEYS(double);
WEFT_KEYS(Half);
WEFT_KEYS(BFloat);
WEFT_KEYS(int8_t);
WEFT_KEYS(uint8_t);
WEFT_KEYS(int16_t);
WEFT_KEYS(uint16_t);
WEFT_KEYS(int32_t);
WEFT_KEYS(uint32_t);
WEFT_KEYS(int64_t);
WEFT_KEYS(uint64_t);
#undef WEFT_KEYS

int64_t FindAbove(const int32_t* keys, int64_t n, int32_t limit, int32_t* found) {
  return WEFT_DISPATCH(FindNarrowAbove)(keys, n, limit, found);
}
int64_t FindAbove(const int64_t* keys, int64_t n, int64_t limit, int32_t* found) {
  return WEFT_DISPATCH(FindWideAbove)(keys, n, limit, found);
}

template <class T>
void BestOfColumns(const T* x, int64_t stride, int64_t n, int64_t columns, bool reversed, int64_t k,
                   int32_t* indices) {
  WEFT_DISPATCH(BestOfFewColumns<T>)(x, stride, n, columns, reversed, k, indices);
}
template void BestOfColumns(const float*, int64_t, int64_t, int64_t, bool, int64_t, int32_t*);
template void BestOfColumns(const int32_t*, int64_t, int64_t, int64_t, bool, int64_t, int32_t*);

}  // namespace weft::kernels::simd
