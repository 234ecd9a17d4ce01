// What each activation computes, written out in double: the one place that a test of kernels which
// fuse them asks.
#pragma once

#include <cmath>
#include <vector>

#include "ir/dialects/fused/activation_kind.h"

namespace weft::kernels {

// a and b are the parameters of those that have any.
inline double ActivationInDouble(ir::fused::Activation activation, double a, double b, double x) {
  using ir::fused::Activation;
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return std::fmax(0, x);
    case Activation::kClip:
      return std::fmin(b, std::fmax(a, x));
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0));
    case Activation::kHardSigmoid:
      return std::fmin(1, std::fmax(0, a * x + b));
    case Activation::kHardSwish:
      return x * std::fmin(1, std::fmax(0, x / 6 + 0.5));
    case Activation::kLeakyRelu:
      return x < 0 ? a * x : x;
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
    case Activation::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  }
  return NAN;
}

inline std::vector<ir::fused::Activation> AllActivations() {
  std::vector<ir::fused::Activation> all;
  for (size_t i = 0; i < EnumNames(ir::fused::Activation()).size(); ++i)
    all.push_back(static_cast<ir::fused::Activation>(i));
  return all;
}

}  // namespace weft::kernels
