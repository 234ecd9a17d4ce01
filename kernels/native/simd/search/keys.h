// Elements as integers of the same order, and which of them are above a limit: what searches for the largest elements
// work on.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weft::kernels::simd {

// Elements of f16 and bf16.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};

template <class T>
using KeyOf = std::conditional_t<sizeof(T) <= 4, int32_t, int64_t>;

// T is float, double, Half, BFloat, or an integer of 8 to 64 bits. keys[c * keys_stride + i] stands for element
// x[i * stride + c], for i < n and c < columns: the larger the element, the larger its key. Equal are the keys of equal
// numbers (0 and -0 too), and those of all NaN, which are above all numbers. `reversed`: the larger, the smaller.
template <class T>
void OrderedKeys(const T* x, int64_t stride, int64_t n, int64_t columns, bool reversed,
                 KeyOf<T>* keys, int64_t keys_stride);

// Writes to `found` which of n keys are above `limit`, in their order, and returns how many. There is room for n.
int64_t FindAbove(const int32_t* keys, int64_t n, int32_t limit, int32_t* found);
int64_t FindAbove(const int64_t* keys, int64_t n, int64_t limit, int32_t* found);

// T is float or int32_t. Of lists x[i * stride + c], i < n, one for each c < columns <= kBestColumns:
// indices[j * kBestColumns + c] is the index of the best but j in list c, for j < k <= kMostOfColumns and k <= n. The
// larger its key the better is an element, and of equal ones the one of the lower index.
inline constexpr int64_t kBestColumns = 16, kMostOfColumns = 24;
template <class T>
void BestOfColumns(const T* x, int64_t stride, int64_t n, int64_t columns, bool reversed, int64_t k,
                   int32_t* indices);

}  // namespace weft::kernels::simd
