// Sampling at the places of a grid, and the grids of affine maps.
#include <algorithm>

#include "ir/dialects/onnx/nn/sampling.h"
#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Attrs = AttrsOf<ops::GridSample>;

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

struct Tap {
  int64_t index;  // of the dimension; -1: outside, where there are zeros
  double weight;
};

class Sampler {
 public:
  Sampler(const Attrs& attrs, std::span<const int64_t> dims) : attrs_(attrs), dims_(dims) {}

  // What a place along one axis, from -1 to 1, reads.
  std::vector<Tap> TapsAt(size_t axis, double place) const {
    const auto size = static_cast<double>(dims_[axis]);
    double at =
        attrs_.align_corners != 0 ? (place + 1) / 2 * (size - 1) : ((place + 1) * size - 1) / 2;
    // Places are numbers of f32 to ONNX, where halves decide.
    at = static_cast<float>(at);
    if (attrs_.mode == ops::SampleMode::kNearest) at = std::nearbyint(at);
    at = Inside(at, size);
    if (std::isnan(at)) return {};
    if (attrs_.mode == ops::SampleMode::kNearest) return {{Index(at, axis), 1}};
    const bool cubic = attrs_.mode == ops::SampleMode::kCubic;
    const double left = std::floor(at);
    std::vector<Tap> taps;
    for (int i = cubic ? -1 : 0; i <= (cubic ? 2 : 1); ++i) {
      const double distance = at - (left + i);
      const double weight = cubic ? CubicWeight(distance) : 1 - std::fabs(distance);
      if (weight != 0) taps.push_back({Index(left + i, axis), weight});
    }
    return taps;
  }

 private:
  double Low() const { return attrs_.align_corners != 0 ? 0 : -0.5; }
  double High(double size) const { return attrs_.align_corners != 0 ? size - 1 : size - 0.5; }
  double Inside(double at, double size) const {
    if (at >= Low() && at <= High(size)) return at;
    switch (attrs_.padding_mode) {
      case ops::SamplePadding::kZeros:
        return at;
      case ops::SamplePadding::kBorder:
        return std::isnan(at) ? at : std::clamp(at, 0.0, size - 1);
      case ops::SamplePadding::kReflection:
        break;
    }
    return std::isnan(at) ? at : Reflect(at, Low(), High(size));
  }
  int64_t Index(double index, size_t axis) const {
    const auto size = static_cast<double>(dims_[axis]);
    if (index >= 0 && index < size) return static_cast<int64_t>(index);
    if (attrs_.padding_mode == ops::SamplePadding::kZeros) return -1;
    if (attrs_.padding_mode == ops::SamplePadding::kReflection)
      index = std::trunc(Reflect(index, Low(), High(size)));
    return static_cast<int64_t>(std::clamp(index, 0.0, size - 1));
  }

  const Attrs& attrs_;
  std::span<const int64_t> dims_;
};

using Taps = std::vector<std::vector<Tap>>;  // of each axis

// The sum over all combinations of taps of the axes from `axis` on.
double Sum(const double* x, std::span<const int64_t> dims, const Taps& taps, size_t axis,
           int64_t offset) {
  if (axis == dims.size()) return x[offset];
  double sum = 0;
  for (const Tap& tap : taps[axis])
    if (tap.index >= 0)
      sum += tap.weight * Sum(x, dims, taps, axis + 1, offset * dims[axis] + tap.index);
  return sum;
}

absl::Status GridSample(const Attrs& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::span<const int64_t> image = x.dims.subspan(2);
  const size_t axes = image.size();
  const int64_t places = NumElements(y.dims.subspan(2)), size = NumElements(image);
  const int64_t channels = x.dims[1];
  if (size == 0 && y.NumElements() > 0) return ir::InvalidArgument("nothing to sample in x");
  const std::vector<double> in = ReadDoubles(x), grid = ReadDoubles(args.inputs[1]);
  const Sampler sampler(attrs, image);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t at = 0; at < y.dims[0] * places; ++at) {
    const int64_t first = at / places * channels, o = at % places;
    Taps taps(axes);  // the grid has the last axis first
    for (size_t i = 0; i < axes; ++i)
      taps[i] = sampler.TapsAt(i, grid[static_cast<size_t>(at) * axes + (axes - 1 - i)]);
    for (int64_t c = first; c < first + channels; ++c)
      out[c * places + o] = Sum(in.data() + c * size, image, taps, 0, 0);
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckGridSample(const KernelContext& context) {
  if (!VisitNumber(context.input_type(0).dtype(), [](auto) {}))
    return context.Unsupported("these element types");
  return CheckInferredFloats(context, {1});
}
const RegisterReference<ops::GridSample> kGridSample(&GridSample, &CheckGridSample);

// The place of element i of n, from -1 to 1.
double PlaceOf(bool align_corners, int64_t i, int64_t n) {
  const auto at = static_cast<double>(i), size = static_cast<double>(n);
  if (!align_corners) return (2 * at + 1) / size - 1;
  return n > 1 ? 2 * at / (size - 1) - 1 : -1;
}

absl::Status AffineGrid(const AttrsOf<ops::AffineGrid>& attrs, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  const std::vector<double> theta = ReadDoubles(args.inputs[0]);
  const std::span<const int64_t> image = y.dims.subspan(1, y.dims.size() - 2);
  const auto axes = static_cast<int64_t>(image.size());
  const int64_t places = NumElements(image);
  std::vector<double> out;
  for (int64_t at = 0; at < y.dims[0] * places; ++at) {
    std::vector<double> place(image.size() + 1, 1.0);  // the last axis first, then 1
    int64_t rest = at % places;
    for (int64_t i = axes - 1; i >= 0; --i) {
      place[axes - 1 - i] = PlaceOf(attrs.align_corners != 0, rest % image[i], image[i]);
      rest /= image[i];
    }
    const double* row = theta.data() + at / places * axes * (axes + 1);
    for (int64_t i = 0; i < axes; ++i, row += axes + 1) {
      double sum = 0;
      for (int64_t j = 0; j <= axes; ++j) sum += row[j] * place[j];
      out.push_back(sum);
    }
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckAffineGrid(const KernelContext& context) {
  return CheckInferredFloats(context, {0});
}
const RegisterReference<ops::AffineGrid> kAffineGrid(&AffineGrid, &CheckAffineGrid);

}  // namespace
}  // namespace weft::kernels::reference
