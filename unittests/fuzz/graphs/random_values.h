// Random numbers for graphs and their inputs: the same for the same seed, on every platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <random>

#include "ir/base/status.h"
#include "kernels/tensor.h"

namespace weft::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : bits_(seed) {}
  size_t Below(size_t n) { return n <= 1 ? 0 : static_cast<size_t>(bits_() % n); }
  bool Chance(unsigned percent) { return bits_() % 100 < percent; }
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }  // in [0, 1)
  template <class List>
  const auto& Pick(const List& list) {
    return *(std::begin(list) + static_cast<std::ptrdiff_t>(Below(std::size(list))));
  }

 private:
  std::mt19937_64 bits_;
};

enum class Contents {
  kTame,     // floats in [-2, 2), integers 0 or 1 (indices and axes, too)
  kLattice,  // floats that are small integers, on which sums and products are exact
  kSpecial,  // one in four is NaN, infinite, -0, denormal or huge; integers: the extremes
};

// Unsupported for element types without numbers.
absl::StatusOr<kernels::Tensor> MakeTensor(ir::DataType dtype, ir::Shape dims, Contents contents,
                                           Random& random);

// The same numbers a few units in the last place away, those of float tensors.
kernels::Tensor Perturbed(const kernels::Tensor& tensor, Random& random);

}  // namespace weft::fuzz
