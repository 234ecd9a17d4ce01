#include "kernels/native/signal/spectrum.h"

#include <algorithm>
#include <cmath>
#include <complex>

namespace weft::kernels::native {
namespace {

using Complex = std::complex<double>;

// Signals that go through a transform together: enough for whole vectors, so few that they stay in an L1 cache or not far
// from it, and every thread gets some.
int64_t BatchFor(int64_t n, int64_t signals) {
  constexpr int64_t kMost = 16, kMostElements = 4096;
  int64_t batch = kMost;
  while (batch > 1 && (batch * n > kMostElements || batch * 2 > signals)) batch /= 2;
  return batch;
}

template <class T>
Complex ElementAt(const SpectrumShape& shape, const T* window, const T* x, int64_t i) {
  const T* const at = x + i * shape.stride;
  return Complex(at[0], shape.parts > 1 ? at[1] : 0) * (window == nullptr ? 1.0 : window[i]);
}

bool IsFinite(const Complex& x) { return std::isfinite(x.real()) && std::isfinite(x.imag()); }

}  // namespace

template <class T>
Spectrum<T>::Spectrum(const SpectrumShape& shape, int64_t signals)
    : shape_(shape), signals_(signals), batch_(BatchFor(shape.n, signals)), fft_(shape.n) {}

template <class T>
int64_t Spectrum<T>::FloatsOfTask() const {
  constexpr int64_t kLine = 64 / sizeof(T);
  return (2 * shape_.n * batch_ + fft_.ScratchFor(batch_) + kLine - 1) / kLine * kLine;
}

template <class T>
void Spectrum<T>::RunSome(const T* window, const Signals& signals, T* scratch) const {
  const auto count = static_cast<int64_t>(signals.size());
  const simd::Complexes<T> x = {scratch, scratch + shape_.n * count};
  Load(window, signals, T(1), x);
  const simd::Complexes<T> y = Transform(x, scratch + 2 * shape_.n * count, count);
  // Every number sums all elements, so that what is not finite shows.
  const bool are_finite =
      simd::AreFinite(y.re, shape_.n * count) && simd::AreFinite(y.im, shape_.n * count);
  std::vector<int64_t> others;
  for (int64_t i = 0; i < count; ++i) {
    bool is_finite = true;
    for (int64_t k = i; k < shape_.n * count && !are_finite; k += count)
      is_finite &= std::isfinite(y.re[k]) && std::isfinite(y.im[k]);
    if (is_finite)
      Store(y, i, count, T(1), signals[i].y);
    else
      others.push_back(i);
  }
  for (const int64_t i : others) {
    if (HasOnlyFinite(window, signals[i]))
      RunScaled(window, signals[i], scratch);
    else
      SumOfWhatIsNotFinite(window, signals[i]);
  }
}

// Times `scale`.
template <class T>
void Spectrum<T>::Load(const T* window, const Signals& signals, T scale,
                       simd::Complexes<T> to) const {
  const auto count = static_cast<int64_t>(signals.size());
  const bool is_complex = shape_.parts > 1;
  std::fill(to.re + shape_.given * count, to.re + shape_.n * count, T(0));
  std::fill(to.im + (is_complex ? shape_.given * count : 0), to.im + shape_.n * count, T(0));
  for (int64_t i = 0; i < shape_.given; ++i) {
    const T factor = window == nullptr ? scale : scale * window[i];
    for (int64_t b = 0; b < count; ++b) {
      const T* const x = signals[b].x + i * shape_.stride;
      to.re[i * count + b] = x[0] * factor;
      if (is_complex) to.im[i * count + b] = x[1] * factor;
    }
  }
  if (!shape_.completes) return;
  for (int64_t i = shape_.n / 2 + 1; i < shape_.n; ++i) {
    for (int64_t b = 0; b < count; ++b) {
      to.re[i * count + b] = to.re[(shape_.n - i) * count + b];
      to.im[i * count + b] = -to.im[(shape_.n - i) * count + b];
    }
  }
}

template <class T>
simd::Complexes<T> Spectrum<T>::Transform(simd::Complexes<T> x, T* scratch, int64_t count) const {
  if (!shape_.inverse) return fft_.Run(x, scratch, count);
  const simd::Complexes<T> y = fft_.Run({x.im, x.re}, scratch, count);
  return {y.im, y.re};
}

// Signal `at` of `count`, times `scale`.
template <class T>
void Spectrum<T>::Store(simd::Complexes<T> x, int64_t at, int64_t count, T scale, T* y) const {
  const T factor = shape_.inverse ? scale / static_cast<T>(shape_.n) : scale;
  for (int64_t k = 0; k < shape_.numbers; ++k, y += shape_.result_stride) {
    y[0] = x.re[k * count + at] * factor + T(0);  // a sum is no -0
    if (shape_.result_parts > 1) y[1] = x.im[k * count + at] * factor + T(0);
  }
}

// Numbers so large that sums on the way are none: as small ones.
template <class T>
void Spectrum<T>::RunScaled(const T* window, const Signal<T>& signal, T* scratch) const {
  const T scale = std::ldexp(T(1), std::is_same_v<T, float> ? -64 : -512);
  const simd::Complexes<T> x = {scratch, scratch + shape_.n};
  Load(window, {signal}, scale, x);
  Store(Transform(x, scratch + 2 * shape_.n, 1), 0, 1, 1 / scale, signal.y);
}

template <class T>
bool Spectrum<T>::HasOnlyFinite(const T* window, const Signal<T>& signal) const {
  for (int64_t i = 0; i < shape_.given; ++i)
    if (!IsFinite(ElementAt(shape_, window, signal.x, i))) return false;
  return true;
}

// By the definition, where what is finite changes nothing: a product of what is not finite is so in both parts.
template <class T>
void Spectrum<T>::SumOfWhatIsNotFinite(const T* window, const Signal<T>& signal) const {
  const int64_t n = shape_.n;
  std::vector<std::pair<int64_t, Complex>> elements;
  for (int64_t i = 0; i < n; ++i) {
    const bool is_second_half = shape_.completes && i > n / 2;
    const int64_t from = is_second_half ? n - i : i;
    if (from >= shape_.given) continue;
    const Complex element = ElementAt(shape_, window, signal.x, from);
    if (!IsFinite(element)) elements.emplace_back(i, is_second_half ? std::conj(element) : element);
  }
  const double turn = (shape_.inverse ? 2 : -2) * M_PI / static_cast<double>(n);
  T* y = signal.y;
  for (int64_t k = 0; k < shape_.numbers; ++k, y += shape_.result_stride) {
    Complex sum = 0;
    for (const auto& [i, element] : elements) {
      sum += element * std::polar(1.0, turn * static_cast<double>(i * k % n));
      if (std::isnan(sum.real()) && std::isnan(sum.imag())) break;
    }
    y[0] = static_cast<T>(sum.real());
    if (shape_.result_parts > 1) y[1] = static_cast<T>(sum.imag());
  }
}

template class Spectrum<float>;
template class Spectrum<double>;

}  // namespace weft::kernels::native
