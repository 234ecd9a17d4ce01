// Random numbers: a seed gives the same ones in every run, with every compiler.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>

namespace weft::kernels::reference {

// The standard library's engine is the same everywhere, its distributions are not.
class Generator {
 public:
  explicit Generator(std::optional<float> seed)
      : engine_(std::bit_cast<uint32_t>(seed.value_or(0.0f))) {}
  explicit Generator(int64_t seed) : engine_(static_cast<uint64_t>(seed)) {}
  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }  // 0 <= it < 1
  double Normal() {  // Box and Muller: two independent ones at a time
    if (has_next_) {
      has_next_ = false;
      return next_;
    }
    constexpr double kTwoPi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(1 - Uniform())), angle = kTwoPi * Uniform();
    next_ = radius * std::sin(angle);
    has_next_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::mt19937_64 engine_;
  double next_ = 0;
  bool has_next_ = false;
};

}  // namespace weft::kernels::reference
