// Shared by the tests of kernels/native/simd: random data, and loops over instruction sets and thread
// counts.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/isa.h"
#include "kernels/thread_pool.h"

namespace weft::kernels::simd {

// Those of this machine, and tiles in plain code, which every machine has.
inline std::vector<Isa> IsasOfProducts() {
  std::vector<Isa> isas(SupportedIsas().begin(), SupportedIsas().end());
  isas.push_back(Isa::kEmulatedAmx);
  return isas;
}

// Calls body(pool) for every instruction set of this machine, with one thread and with two.
template <typename Body>
void ForEachVariant(const Body& body, std::span<const Isa> isas = SupportedIsas()) {
  const Isa before = CurrentIsa();
  for (int threads : {1, 2}) {
    ThreadPool pool(threads);
    for (Isa isa : isas) {
      SetIsa(isa);
      SCOPED_TRACE(std::string(IsaName(isa)) + ", threads: " + std::to_string(threads));
      body(pool);
      if (::testing::Test::HasFatalFailure()) break;
    }
  }
  SetIsa(before);
}

// Likewise, for what is made of matrix products.
template <typename Body>
void ForEachProductVariant(const Body& body) {
  ForEachVariant(body, IsasOfProducts());
}

// Uniform in [low, high), the same for the same seed.
inline std::vector<float> RandomFloats(int64_t n, uint32_t seed, float low = -1, float high = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(low, high);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = distribution(engine);
  return values;
}

// The largest |actual - expected|, over the largest |expected|. Infinite where one is NaN and the
// other is not.
inline double RelativeError(const std::vector<float>& actual, const std::vector<double>& expected) {
  if (actual.size() != expected.size()) return INFINITY;
  double largest = 0, difference = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    if (std::isnan(actual[i]) != std::isnan(expected[i])) return INFINITY;
    if (std::isnan(expected[i])) continue;
    largest = std::max(largest, std::fabs(expected[i]));
    difference = std::max(difference, std::fabs(actual[i] - expected[i]));
  }
  return difference == 0 ? 0 : difference / largest;
}

// What single-precision kernels must stay below at usual sizes.
inline constexpr double kTolerance = 5e-7;

}  // namespace weft::kernels::simd
