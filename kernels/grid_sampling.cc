#include "kernels/grid_sampling.h"

#include <algorithm>
#include <cmath>

namespace weft::kernels {
namespace {

using ir::ops::SampleMode;
using ir::ops::SamplePadding;

// x reflected at `low` and `high` until it lies between them.
double Reflect(double x, double low, double high) {
  const double range = high - low;
  if (range <= 0 || !std::isfinite(x)) return low;
  const double distance = std::fmod(std::fabs(x - low), 2 * range);
  return low + (distance <= range ? distance : 2 * range - distance);
}

// Weights of the elements from floor(at) - 1 on, for Keys' cubic convolution with a = -0.75.
double CubicWeight(double distance) {
  constexpr double kA = -0.75;
  const double d = std::fabs(distance);
  if (d <= 1) return ((kA + 2) * d - (kA + 3)) * d * d + 1;
  return d < 2 ? ((kA * d - 5 * kA) * d + 8 * kA) * d - 4 * kA : 0;
}

}  // namespace

GridAxis::GridAxis(const ir::ops::GridSample::Attrs<ir::Plain>& attrs, int64_t size)
    : mode_(attrs.mode),
      padding_(attrs.padding_mode),
      aligns_corners_(attrs.align_corners != 0),
      size_(static_cast<double>(size)),
      low_(aligns_corners_ ? 0 : -0.5),
      high_(aligns_corners_ ? size_ - 1 : size_ - 0.5) {}

int GridAxis::MostTaps(SampleMode mode) {
  return mode == SampleMode::kNearest ? 1 : mode == SampleMode::kLinear ? 2 : 4;
}

GridTaps GridAxis::At(double place) const {
  double at = aligns_corners_ ? (place + 1) / 2 * (size_ - 1) : ((place + 1) * size_ - 1) / 2;
  // Places are numbers of f32 to ONNX, where halves decide.
  at = static_cast<float>(at);
  if (mode_ == SampleMode::kNearest) at = std::nearbyint(at);
  at = Inside(at);
  GridTaps taps;
  const auto add = [&](double index, double weight) {
    if (weight == 0) return;
    taps.index[taps.count] = Index(index);
    taps.weight[taps.count++] = weight;
  };
  if (std::isnan(at)) return taps;
  if (mode_ == SampleMode::kNearest) {
    add(at, 1);
    return taps;
  }
  const bool is_cubic = mode_ == SampleMode::kCubic;
  const double left = std::floor(at);
  for (int i = is_cubic ? -1 : 0; i <= (is_cubic ? 2 : 1); ++i) {
    const double distance = at - (left + i);
    add(left + i, is_cubic ? CubicWeight(distance) : 1 - std::fabs(distance));
  }
  return taps;
}

double GridAxis::Inside(double at) const {
  if ((at >= low_ && at <= high_) || std::isnan(at)) return at;
  switch (padding_) {
    case SamplePadding::kZeros:
      return at;
    case SamplePadding::kBorder:
      return std::clamp(at, 0.0, size_ - 1);
    case SamplePadding::kReflection:
      break;
  }
  return Reflect(at, low_, high_);
}

int64_t GridAxis::Index(double index) const {
  if (index >= 0 && index < size_) return static_cast<int64_t>(index);
  if (padding_ == SamplePadding::kZeros) return -1;
  if (padding_ == SamplePadding::kReflection) index = std::trunc(Reflect(index, low_, high_));
  return static_cast<int64_t>(std::clamp(index, 0.0, size_ - 1));
}

}  // namespace weft::kernels
