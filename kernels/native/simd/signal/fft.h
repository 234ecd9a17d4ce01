// Fast Fourier transforms of any length, forward and without a factor: X[k] = sum over i of x[i] exp(-2 pi i k / n).
//
//   Fft<float> fft(n);
//   Complexes<float> result = fft.Run({re, im}, scratch, batch);
//
// For the inverse, let real and imaginary parts change places, in x and in the result. Lengths whose factors are 2, 3 and
// 5 take n log n steps of self-sorting butterflies (Stockham); others are a convolution of such a length (Bluestein).
// Factors are computed in double when the transform is made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace weft::kernels::simd {

template <class T>
struct Complexes {
  T *re, *im;
};

// Butterflies of one radix: element k < stride of number i < radix of group q < groups is at
// (q + groups * i) * stride + k, and goes to (radix * q + i) * stride + k.
template <class T>
struct FftStage {
  int radix;
  int64_t groups;
  const T* factors;  // of group q: radix - 1 complex ones, each real part before imaginary part
};
template <class T>
using FftStageFunction = void (*)(const FftStage<T>& stage, int64_t stride, Complexes<T> x,
                                  Complexes<T> y);

template <class T>  // float or double
class Fft {
 public:
  static constexpr int64_t kMostLength = 1 << 30;
  explicit Fft(int64_t n);  // in [1, kMostLength]
  Fft(Fft&&) = default;     // stages point to factors
  int64_t n() const { return n_; }

  // Elements of scratch memory for so many signals at once.
  int64_t ScratchFor(int64_t batch) const;
  // Of `batch` signals side by side: element i of signal b is at i * batch + b, in x, which is overwritten, and in the
  // result, which lies in x or in scratch. What becomes of a signal does not depend on the others.
  Complexes<T> Run(Complexes<T> x, T* scratch, int64_t batch) const;

 private:
  struct Convolution;

  void AddStages(int64_t n);

  const int64_t n_;
  std::vector<T> factors_;
  std::vector<FftStage<T>> stages_;
  std::shared_ptr<const Convolution> convolution_;  // null where there are stages
};

// Whether no element is infinite or NaN.
template <class T>
bool AreFinite(const T* x, int64_t n);

}  // namespace weft::kernels::simd
