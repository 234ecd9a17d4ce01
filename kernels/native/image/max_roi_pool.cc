// onnx.MaxRoiPool: the parts of a region are found once for all channels.
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ir/dialects/onnx/nn/sampling.h"
#include "kernels/native/native.h"
#include "kernels/roi_sampling.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

struct Pooling {
  double scale;
  int64_t images, channels, height, width;  // of x
  int64_t regions, rows, columns;           // of the result
};

using Ranges = std::vector<std::pair<int64_t, int64_t>>;
struct Region {
  int64_t image;
  Ranges rows, columns;  // of each row and column of bins
};

absl::StatusOr<std::vector<Region>> RegionsOf(const Pooling& p, const KernelArgs& args) {
  std::vector<Region> regions;
  for (int64_t r = 0; r < p.regions; ++r) {
    const float* const roi = args.input<float>(1) + 5 * r;
    if (!(roi[0] >= 0 && static_cast<double>(roi[0]) < static_cast<double>(p.images)))
      return ir::InvalidArgument("onnx.MaxRoiPool: a region is of an image that x does not have");
    std::array<double, 4> corners;
    for (size_t i = 0; i < corners.size(); ++i) {
      corners[i] = std::round(static_cast<double>(roi[i + 1]) * p.scale);
      if (!std::isfinite(corners[i]))
        return ir::InvalidArgument("onnx.MaxRoiPool: a region is not finite");
    }
    Region region = {.image = static_cast<int64_t>(roi[0]), .rows = {}, .columns = {}};
    for (int64_t i = 0; i < p.rows; ++i)
      region.rows.push_back(RoiBinRange(corners[1], corners[3], i, p.rows, p.height));
    for (int64_t i = 0; i < p.columns; ++i)
      region.columns.push_back(RoiBinRange(corners[0], corners[2], i, p.columns, p.width));
    regions.push_back(std::move(region));
  }
  return regions;
}

// NaN is passed over. 0 of nothing.
float LargestIn(const float* image, int64_t width, std::pair<int64_t, int64_t> rows,
                std::pair<int64_t, int64_t> columns) {
  if (rows.first >= rows.second || columns.first >= columns.second) return 0;
  float largest = -std::numeric_limits<float>::infinity();
  for (int64_t i = rows.first; i < rows.second; ++i)
    for (int64_t j = columns.first; j < columns.second; ++j) {
      const float value = image[i * width + j];
      largest = value > largest ? value : largest;
    }
  return largest;
}

Made MakeMaxRoiPool(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> x = context.dims(0), rois = context.dims(1),
                                 y = context.result_dims(0);
  if (x.size() != 4 || rois.size() != 2 || y.size() != 4 || y[1] != x[1] || rois[0] != y[0] ||
      rois[1] != 5)
    return context.Unsupported("operands that do not fit each other");
  const Pooling p = {.scale = context.attrs_of<ops::MaxRoiPool>().spatial_scale,
                     .images = x[0],
                     .channels = x[1],
                     .height = x[2],
                     .width = x[3],
                     .regions = y[0],
                     .rows = y[2],
                     .columns = y[3]};
  return MakeNative("regions' maxima", {}, [p](const KernelArgs& args) -> absl::Status {
    const auto regions = RegionsOf(p, args);
    if (!regions.ok()) return regions.status();
    const int64_t count = p.regions * p.channels, bins = p.rows * p.columns;
    constexpr int64_t kCostOfBin = 16;
    args.pool->ParallelFor(count, TileFor(count, kCostOfBin * bins), [&](int64_t i, int64_t end) {
      for (; i < end; ++i) {
        const Region& region = (*regions)[static_cast<size_t>(i / p.channels)];
        const float* const image =
            args.input<float>(0) +
            (region.image * p.channels + i % p.channels) * p.height * p.width;
        float* y = args.output<float>(0) + i * bins;
        for (const auto& rows : region.rows)
          for (const auto& columns : region.columns)
            *y++ = LargestIn(image, p.width, rows, columns);
      }
    });
    return absl::OkStatus();
  });
}
const RegisterKernel<ops::MaxRoiPool> kMaxRoiPool("native", &MakeMaxRoiPool);

}  // namespace
}  // namespace weft::kernels::native
