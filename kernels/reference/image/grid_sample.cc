// Sampling at the places of a grid, and the grids of affine maps.
#include <algorithm>

#include "ir/dialects/onnx/nn/sampling.h"
#include "kernels/grid_sampling.h"
#include "kernels/reference/inferred.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;
using Attrs = AttrsOf<ops::GridSample>;

using Taps = std::vector<GridTaps>;  // of each axis

// The sum over all combinations of taps of the axes from `axis` on.
double Sum(const double* x, std::span<const int64_t> dims, const Taps& taps, size_t axis,
           int64_t offset) {
  if (axis == dims.size()) return x[offset];
  double sum = 0;
  for (int i = 0; i < taps[axis].count; ++i)
    if (const int64_t index = taps[axis].index[i]; index >= 0)
      sum += taps[axis].weight[i] * Sum(x, dims, taps, axis + 1, offset * dims[axis] + index);
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
  std::vector<GridAxis> sampled;
  for (const int64_t extent : image) sampled.emplace_back(attrs, extent);
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t at = 0; at < y.dims[0] * places; ++at) {
    const int64_t first = at / places * channels, o = at % places;
    Taps taps(axes);  // the grid has the last axis first
    for (size_t i = 0; i < axes; ++i)
      taps[i] = sampled[i].At(grid[static_cast<size_t>(at) * axes + (axes - 1 - i)]);
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
