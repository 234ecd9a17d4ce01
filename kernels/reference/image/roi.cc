// Pools over regions of images.
#include <algorithm>
#include <limits>

#include "ir/dialects/onnx/nn/sampling.h"
#include "kernels/reference/inferred.h"
#include "kernels/roi_sampling.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

double SumAt(const RoiPoint& point, const double* image) {
  double sum = 0;
  for (int i = 0; i < 4; ++i) sum += point.weight[i] * image[point.index[i]];
  return sum;
}
double MaxAt(const RoiPoint& point, const double* image) {
  double largest = point.weight[0] * image[point.index[0]];
  for (int i = 1; i < 4; ++i) largest = std::max(largest, point.weight[i] * image[point.index[i]]);
  return largest;
}

// The points of one bin.
std::vector<RoiPoint> PointsOf(const RoiSide& rows, const RoiSide& columns, int64_t row,
                               int64_t column, std::span<const int64_t> x) {
  std::vector<RoiPoint> points;
  for (int64_t i = 0; i < rows.points; ++i)
    for (int64_t j = 0; j < columns.points; ++j)
      points.emplace_back(rows.At(row, i), columns.At(column, j), x[2], x[3]);
  return points;
}

double PoolPoints(ops::RoiMode mode, const std::vector<RoiPoint>& points, const double* image) {
  if (points.empty()) return 0;
  if (mode == ops::RoiMode::kMax) {
    double largest = MaxAt(points[0], image);
    for (const RoiPoint& point : points) largest = std::max(largest, MaxAt(point, image));
    return largest;
  }
  double sum = 0;
  for (const RoiPoint& point : points) sum += SumAt(point, image);
  return sum / static_cast<double>(points.size());
}

absl::Status RoiAlign(const AttrsOf<ops::RoiAlign>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<double> in = ReadDoubles(x), rois = ReadDoubles(args.inputs[1]);
  const std::vector<int64_t> images = ReadInts(args.inputs[2]);
  const int64_t channels = x.dims[1], size = x.dims[2] * x.dims[3], bins = y.dims[2] * y.dims[3];
  if (size == 0 && y.NumElements() > 0) return ir::InvalidArgument("x has no elements");
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t r = 0; r < y.dims[0] && bins > 0; ++r) {
    if (images[r] < 0 || images[r] >= x.dims[0])
      return ir::InvalidArgument("there is no image " + std::to_string(images[r]));
    const double* roi = rois.data() + 4 * r;
    WEFT_ASSIGN_OR_RETURN(const RoiSide columns, RoiSide::Make(attrs, roi[0], roi[2], y.dims[3]));
    WEFT_ASSIGN_OR_RETURN(const RoiSide rows, RoiSide::Make(attrs, roi[1], roi[3], y.dims[2]));
    for (int64_t bin = 0; bin < bins; ++bin) {
      const auto points = PointsOf(rows, columns, bin / y.dims[3], bin % y.dims[3], x.dims);
      for (int64_t c = 0; c < channels; ++c)
        out[(r * channels + c) * bins + bin] =
            PoolPoints(attrs.mode, points, in.data() + (images[r] * channels + c) * size);
    }
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckRoiAlign(const KernelContext& context) {
  return CheckInferredFloats(context, {0, 1});
}
const RegisterReference<ops::RoiAlign> kRoiAlign(&RoiAlign, &CheckRoiAlign);

// The largest number of a part of an image; 0 of nothing.
double LargestIn(const double* image, int64_t width, std::pair<int64_t, int64_t> rows,
                 std::pair<int64_t, int64_t> columns) {
  if (rows.first >= rows.second || columns.first >= columns.second) return 0;
  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t i = rows.first; i < rows.second; ++i)
    for (int64_t j = columns.first; j < columns.second; ++j)
      largest = std::fmax(largest, image[i * width + j]);
  return largest;
}

absl::Status MaxRoiPool(const AttrsOf<ops::MaxRoiPool>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  const std::vector<double> in = ReadDoubles(x), rois = ReadDoubles(args.inputs[1]);
  const int64_t channels = x.dims[1], size = x.dims[2] * x.dims[3], bins = y.dims[2] * y.dims[3];
  std::vector<double> out(static_cast<size_t>(y.NumElements()));
  for (int64_t r = 0; r < y.dims[0]; ++r) {
    const double* roi = rois.data() + 5 * r;
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(x.dims[0])))
      return ir::InvalidArgument("a region is of an image that x does not have");
    double corners[4];
    for (int i = 0; i < 4; ++i) {
      corners[i] = std::round(roi[i + 1] * attrs.spatial_scale);
      if (!std::isfinite(corners[i])) return ir::InvalidArgument("a region is not finite");
    }
    for (int64_t i = 0; i < channels * bins; ++i) {
      const int64_t c = i / bins, row = i % bins / y.dims[3], column = i % y.dims[3];
      const auto image = static_cast<int64_t>(roi[0]) * channels + c;
      out[r * channels * bins + i] =
          LargestIn(in.data() + image * size, x.dims[3],
                    RoiBinRange(corners[1], corners[3], row, y.dims[2], x.dims[2]),
                    RoiBinRange(corners[0], corners[2], column, y.dims[3], x.dims[3]));
    }
  }
  WriteDoubles(out, y);
  return absl::OkStatus();
}
absl::Status CheckMaxRoiPool(const KernelContext& context) {
  return CheckInferredFloats(context, {0, 1});
}
const RegisterReference<ops::MaxRoiPool> kMaxRoiPool(&MaxRoiPool, &CheckMaxRoiPool);

}  // namespace
}  // namespace weft::kernels::reference
