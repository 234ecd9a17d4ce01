#include "kernels/native/simd/signal/fft.h"

#include <algorithm>
#include <cmath>
#include <complex>

#define WEFT_ISA_BODY "kernels/native/simd/signal/fft_body.inc"
#include "kernels/native/simd/foreach_isa.inc"

namespace weft::kernels::simd {
namespace {

using Complex = std::complex<double>;

// exp(-2 pi i k / n), for 0 <= k < n.
Complex Root(int64_t k, int64_t n) {
  return std::polar(1.0, -2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
}

int64_t WithoutFactors(int64_t n) {  // 2, 3 and 5
  for (const int64_t factor : {2, 3, 5})
    while (n % factor == 0) n /= factor;
  return n;
}

}  // namespace

// X[k] = c[k] * sum over i of (x[i] c[i]) / c[k - i], where c[k] = exp(-pi i k^2 / n), as 2 i k = i^2 + k^2 - (k - i)^2.
template <class T>
struct Fft<T>::Convolution {
  Fft<T> fft;
  std::vector<T> chirp_re, chirp_im;  // c
  std::vector<T> spectrum_re,
      spectrum_im;  // the transform of 1 / c, over the length of the convolution

  explicit Convolution(int64_t n) : fft(LengthFor(n)) {
    const int64_t m = fft.n();
    std::vector<double> re(static_cast<size_t>(m)), im(re.size()), scratch;
    for (int64_t k = 0; k < n; ++k) {
      const Complex c = Root(k * k % (2 * n), 2 * n);
      chirp_re.push_back(static_cast<T>(c.real()));
      chirp_im.push_back(static_cast<T>(c.imag()));
      for (const int64_t at : {k, (m - k) % m}) re[at] = c.real(), im[at] = -c.imag();
    }
    const Fft<double> in_double(m);
    scratch.resize(static_cast<size_t>(in_double.ScratchFor(1)));
    const Complexes<double> spectrum = in_double.Run({re.data(), im.data()}, scratch.data(), 1);
    for (int64_t k = 0; k < m; ++k) {
      spectrum_re.push_back(static_cast<T>(spectrum.re[k] / static_cast<double>(m)));
      spectrum_im.push_back(static_cast<T>(spectrum.im[k] / static_cast<double>(m)));
    }
  }

  static int64_t LengthFor(int64_t n) {
    int64_t m = 2 * n - 1;
    while (WithoutFactors(m) != 1) ++m;
    return m;
  }

  // x is [n, batch], and scratch has two tensors of [m, batch] numbers.
  Complexes<T> Run(Complexes<T> x, T* scratch, int64_t batch) const {
    const auto n = static_cast<int64_t>(chirp_re.size());
    const int64_t size = fft.n() * batch;
    const Complexes<T> padded = {scratch, scratch + size};
    Multiply(x, chirp_re, chirp_im, batch, padded);
    std::fill(padded.re + n * batch, padded.re + size, T(0));
    std::fill(padded.im + n * batch, padded.im + size, T(0));
    const Complexes<T> spectrum = fft.Run(padded, scratch + 2 * size, batch);
    Multiply(spectrum, spectrum_re, spectrum_im, batch, spectrum);
    // Back, without its factor, which spectrum_re and spectrum_im have.
    T* const other = spectrum.re == padded.re ? scratch + 2 * size : scratch;
    const Complexes<T> sum = fft.Run({spectrum.im, spectrum.re}, other, batch);
    Multiply({sum.im, sum.re}, chirp_re, chirp_im, batch, x);
    return x;
  }

 private:
  static void Multiply(Complexes<T> x, const std::vector<T>& re, const std::vector<T>& im,
                       int64_t batch, Complexes<T> y) {
    for (size_t k = 0; k < re.size(); ++k) {
      const T a = re[k], b = im[k];
      const auto first = static_cast<int64_t>(k) * batch;
      for (int64_t i = first; i < first + batch; ++i) {
        const T x_re = x.re[i], x_im = x.im[i];
        y.re[i] = x_re * a - x_im * b;
        y.im[i] = x_re * b + x_im * a;
      }
    }
  }
};

template <class T>
Fft<T>::Fft(int64_t n) : n_(n) {
  if (WithoutFactors(n) == 1)
    AddStages(n);
  else
    convolution_ = std::make_shared<const Convolution>(n);
}

template <class T>
void Fft<T>::AddStages(int64_t n) {
  std::vector<size_t> starts;
  while (n > 1) {
    const int radix = n % 5 == 0 ? 5 : n % 3 == 0 ? 3 : n % 4 == 0 ? 4 : 2;
    const int64_t groups = n / radix;
    starts.push_back(factors_.size());
    for (int64_t q = 0; q < groups; ++q)
      for (int64_t i = 1; i < radix; ++i) {
        const Complex factor = Root(q * i, n);
        factors_.push_back(static_cast<T>(factor.real()));
        factors_.push_back(static_cast<T>(factor.imag()));
      }
    stages_.push_back({radix, groups, nullptr});
    n = groups;
  }
  for (size_t i = 0; i < stages_.size(); ++i) stages_[i].factors = factors_.data() + starts[i];
}

template <class T>
int64_t Fft<T>::ScratchFor(int64_t batch) const {
  return convolution_ == nullptr ? 2 * n_ * batch : 4 * convolution_->fft.n() * batch;
}

template <class T>
Complexes<T> Fft<T>::Run(Complexes<T> x, T* scratch, int64_t batch) const {
  if (convolution_ != nullptr) return convolution_->Run(x, scratch, batch);
  const FftStageFunction<T> run_stage = WEFT_DISPATCH(RunStage<T>);
  Complexes<T> y = {scratch, scratch + n_ * batch};
  int64_t stride = batch;
  for (const FftStage<T>& stage : stages_) {
    run_stage(stage, stride, x, y);
    stride *= stage.radix;
    std::swap(x, y);
  }
  return x;
}

template <class T>
bool AreFinite(const T* x, int64_t n) {
  constexpr int64_t kSums = 16;  // of zeros, unless something is not finite
  T sums[kSums] = {};
  int64_t i = 0;
  for (; i + kSums <= n; i += kSums)
    for (int64_t k = 0; k < kSums; ++k) sums[k] += x[i + k] * T(0);
  for (; i < n; ++i) sums[0] += x[i] * T(0);
  return std::ranges::all_of(sums, [](T sum) { return sum == 0; });
}

template class Fft<float>;
template class Fft<double>;
template bool AreFinite(const float*, int64_t);
template bool AreFinite(const double*, int64_t);

}  // namespace weft::kernels::simd
