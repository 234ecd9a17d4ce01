// Fourier transforms of many signals that lie anywhere in memory: some at a time, side by side, go through simd::Fft.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/native/simd/signal/fft.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::native {

// What is the same for all signals. Strides are from element to element, in parts of numbers.
struct SpectrumShape {
  int64_t n;      // of the transform
  int64_t given;  // elements that are read, at most n; zeros follow
  int64_t parts;  // of an element that is read: 1 where it is real, else 2
  int64_t stride;
  bool inverse;          // with a factor of 1 / n
  bool completes;        // what is read is the first half of the spectrum of real numbers
  int64_t numbers;       // that are written, from the first on
  int64_t result_parts;  // of each: 1 where the imaginary part is dropped
  int64_t result_stride;
};

template <class T>
struct Signal {
  const T* x;
  T* y;
};

template <class T>  // float or double
class Spectrum {
 public:
  Spectrum(const SpectrumShape& shape, int64_t signals);

  size_t ScratchBytes(int num_threads) const {
    return static_cast<size_t>(num_threads) * static_cast<size_t>(FloatsOfTask()) * sizeof(T);
  }
  // Element i of every signal is multiplied by window[i] first, unless that is null. signal(i) says where one lies.
  template <class Place>
  void Run(const T* window, const Place& signal, void* scratch, ThreadPool& pool) const {
    pool.ParallelForSlots(
        (signals_ + batch_ - 1) / batch_, 1, [&](int slot, int64_t begin, int64_t end) {
          std::vector<Signal<T>> some;
          T* const mine = static_cast<T*>(scratch) + slot * FloatsOfTask();
          for (; begin < end; ++begin) {
            some.clear();
            for (int64_t i = begin * batch_; i < std::min(signals_, (begin + 1) * batch_); ++i)
              some.push_back(signal(i));
            RunSome(window, some, mine);
          }
        });
  }

 private:
  using Signals = std::vector<Signal<T>>;

  int64_t FloatsOfTask() const;
  void RunSome(const T* window, const Signals& signals, T* scratch) const;
  void Load(const T* window, const Signals& signals, T scale, simd::Complexes<T> to) const;
  simd::Complexes<T> Transform(simd::Complexes<T> x, T* scratch, int64_t count) const;
  void Store(simd::Complexes<T> x, int64_t at, int64_t count, T scale, T* y) const;
  void RunScaled(const T* window, const Signal<T>& signal, T* scratch) const;
  bool HasOnlyFinite(const T* window, const Signal<T>& signal) const;
  void SumOfWhatIsNotFinite(const T* window, const Signal<T>& signal) const;

  const SpectrumShape shape_;
  const int64_t signals_, batch_;
  const simd::Fft<T> fft_;
};

}  // namespace weft::kernels::native
