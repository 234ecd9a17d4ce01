#include "kernels/native/image/resample.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#define WEFT_ISA_BODY "kernels/native/image/resample_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {

EvenTaps::EvenTaps(const AxisTaps& axis) : extent(static_cast<int64_t>(axis.size())) {
  for (const std::vector<Tap>& element : axis)
    taps = std::max(taps, static_cast<int64_t>(element.size()));
  const auto n = static_cast<size_t>(extent);
  indices.resize(n * static_cast<size_t>(taps));
  weights.resize(indices.size());
  floats.resize(indices.size());
  for (size_t i = 0; i < n; ++i) {
    const std::vector<Tap>& element = axis[i];
    const double repeats = static_cast<double>(taps) - static_cast<double>(element.size()) + 1;
    for (size_t t = 0; t < static_cast<size_t>(taps); ++t) {
      const Tap& tap = element[t < element.size() ? t : 0];
      const bool is_shared = t == 0 || t >= element.size();
      indices[t * n + i] = static_cast<int32_t>(tap.index);
      weights[t * n + i] = is_shared ? tap.weight / repeats : tap.weight;
      floats[t * n + i] = static_cast<float>(weights[t * n + i]);
    }
  }
}

namespace {

template <class T>
void CopyElements(const T* x, const int32_t* indices, T* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[indices[i]];
}

void CopyElements(const std::byte* x, const int32_t* indices, std::byte* y, int64_t n,
                  int64_t size) {
  const auto copy = [&](auto element) {
    using T = decltype(element);
    CopyElements(reinterpret_cast<const T*>(x), indices, reinterpret_cast<T*>(y), n);
  };
  switch (size) {
    case 1:
      return copy(uint8_t{});
    case 2:
      return copy(uint16_t{});
    case 4:
      return copy(uint32_t{});
    default:
      return copy(uint64_t{});
  }
}

// Rows and single elements of the sums by one of their functions each; `weights` are those of `taps`.
template <class W, class From, class To, class Rows, class Elements>
void ResampleBy(const EvenTaps& taps, const W* weights, const From* x, int64_t outer, int64_t in,
                int64_t inner, To* y, ThreadPool& pool, const Rows& add_rows,
                const Elements& add_elements) {
  const int64_t extent = taps.extent, count = taps.taps;
  const int32_t* indices = taps.indices.data();
  if (inner == 1) {
    pool.ParallelFor(outer, TileFor(outer, extent * (count + 1)), [=](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o)
        add_elements(x + o * in, indices, weights, count, y + o * extent, extent);
    });
    return;
  }
  const int64_t rows = outer * extent;
  pool.ParallelFor(rows, TileFor(rows, inner * (count + 1)), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t o = row / extent, i = row % extent;
      const From* sources[EvenTaps::kMost];
      for (int64_t t = 0; t < count; ++t)
        sources[t] = x + (o * in + indices[t * extent + i]) * inner;
      add_rows(sources, weights + i, extent, count, y + row * inner, inner);
    }
  });
}

template <class Run>
void VisitExactType(ExactType type, const Run& run) {
  switch (type) {
    case ExactType::kU8:
      return run(uint8_t{});
    case ExactType::kI8:
      return run(int8_t{});
    case ExactType::kDouble:
      return run(double{});
  }
}

}  // namespace

void Resample(const EvenTaps& taps, const float* x, int64_t outer, int64_t in, int64_t inner,
              float* y, ThreadPool& pool) {
  ResampleBy(taps, taps.floats.data(), x, outer, in, inner, y, pool, WEFT_DISPATCH(AddRows),
             WEFT_DISPATCH(AddElements));
}

void ResampleExactly(const EvenTaps& taps, ExactType from, const std::byte* x, int64_t outer,
                     int64_t in, int64_t inner, ExactType to, std::byte* y, ThreadPool& pool) {
  VisitExactType(from, [&](auto source) {
    VisitExactType(to, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      // Only from one type of elements to doubles and back.
      if constexpr (std::is_same_v<From, To> || std::is_same_v<From, double> ||
                    std::is_same_v<To, double>) {
        using Types = FromTo<From, To>;
        const auto rows = WEFT_DISPATCH(AddExactRows<Types>);
        const auto elements = WEFT_DISPATCH(AddExactElements<Types>);
        ResampleBy(taps, taps.weights.data(), reinterpret_cast<const From*>(x), outer, in, inner,
                   reinterpret_cast<To*>(y), pool, rows, elements);
      }
    });
  });
}

void CopyAlongAxis(const EvenTaps& taps, const std::byte* x, int64_t outer, int64_t in,
                   int64_t inner, int64_t size, std::byte* y, ThreadPool& pool) {
  const int64_t extent = taps.extent;
  const int32_t* indices = taps.indices.data();
  if (inner == 1) {
    pool.ParallelFor(outer, TileFor(outer, extent * 2), [=](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; ++o)
        CopyElements(x + o * in * size, indices, y + o * extent * size, extent, size);
    });
    return;
  }
  const int64_t rows = outer * extent, bytes = inner * size;
  pool.ParallelFor(rows, TileFor(rows, inner * 2), [=](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      std::memcpy(y + row * bytes, x + (row / extent * in + indices[row % extent]) * bytes,
                  static_cast<size_t>(bytes));
  });
}

}  // namespace weft::kernels::simd
