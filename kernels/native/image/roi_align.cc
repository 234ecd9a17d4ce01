// onnx.RoiAlign: what the bins of a region read is found once for all channels.
#include <algorithm>
#include <cfloat>
#include <string>
#include <vector>

#include "ir/dialects/onnx/nn/sampling.h"
#include "kernels/native/image/sample.h"
#include "kernels/native/native.h"
#include "kernels/roi_sampling.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using Attrs = ops::RoiAlign::Attrs<ir::Plain>;

constexpr int64_t kMostBins = 64;    // of a task
constexpr int64_t kMostPoints = 16;  // of each of them, that are read at once

struct Pooling {
  Attrs attrs;
  int64_t images, channels, height, width;  // of x
  int64_t regions, rows, columns;           // of the result
  int64_t task_channels;

  int64_t bins() const { return rows * columns; }
  int64_t bin_tasks() const { return (bins() + kMostBins - 1) / kMostBins; }
  int64_t channel_tasks() const { return (channels + task_channels - 1) / task_channels; }
  int64_t tasks() const { return regions * bin_tasks() * channel_tasks(); }
};

struct Region {
  int64_t image;
  RoiSide rows, columns;
};

absl::StatusOr<std::vector<Region>> RegionsOf(const Pooling& p, const KernelArgs& args) {
  const auto* const images = args.input<int64_t>(2);
  std::vector<Region> regions;
  for (int64_t r = 0; r < p.regions; ++r) {
    if (images[r] < 0 || images[r] >= p.images)
      return ir::InvalidArgument("onnx.RoiAlign: there is no image " + std::to_string(images[r]));
    const float* const roi = args.input<float>(1) + 4 * r;
    const auto columns = RoiSide::Make(p.attrs, roi[0], roi[2], p.columns);
    if (!columns.ok()) return ir::Annotate(columns.status(), "onnx.RoiAlign");
    const auto rows = RoiSide::Make(p.attrs, roi[1], roi[3], p.rows);
    if (!rows.ok()) return ir::Annotate(rows.status(), "onnx.RoiAlign");
    regions.push_back({images[r], *rows, *columns});
  }
  return regions;
}

// Some bins of a region, in some channels.
class Task {
 public:
  Task(const Pooling& p, const KernelArgs& args, const std::vector<Region>& regions, int64_t index)
      : p_(p),
        args_(args),
        region_(index / (p.bin_tasks() * p.channel_tasks())),
        at_(regions[static_cast<size_t>(region_)]),
        first_(index / p.channel_tasks() % p.bin_tasks() * kMostBins),
        count_(std::min(kMostBins, p.bins() - first_)),
        first_channel_(index % p.channel_tasks() * p.task_channels),
        last_channel_(std::min(p.channels, first_channel_ + p.task_channels)) {}

  void Run() {
    const int64_t points = at_.rows.points * at_.columns.points;
    for (int64_t first = 0; first < std::max<int64_t>(points, 1); first += kMostPoints) {
      const int64_t count = std::min(kMostPoints, points - first);
      for (int64_t bin = 0; bin < count_; ++bin) AddPoints(bin, first, count);
      for (int64_t channel = first_channel_; channel < last_channel_; ++channel)
        Pool(channel, 4 * count, first == 0);
    }
  }

 private:
  void AddPoints(int64_t bin, int64_t first, int64_t count) {
    const int64_t row = (first_ + bin) / p_.columns, column = (first_ + bin) % p_.columns;
    const int64_t across = at_.columns.points;
    const bool is_mean = p_.attrs.mode == ops::RoiMode::kAvg;
    const double share = is_mean ? 1 / static_cast<double>(at_.rows.points * across) : 1;
    for (int64_t i = 0; i < count; ++i) {
      const RoiPoint point(at_.rows.At(row, (first + i) / across),
                           at_.columns.At(column, (first + i) % across), p_.height, p_.width);
      for (int64_t tap = 0; tap < 4; ++tap) {
        const int64_t at = (4 * i + tap) * kMostBins + bin;
        indices_[at] = static_cast<int32_t>(point.index[tap]);
        // One that is too small is none of 0, which would make NaN of an infinity.
        const double weight = point.weight[tap] * share;
        weights_[at] = weight == 0 ? 0 : std::max(static_cast<float>(weight), FLT_MIN);
      }
    }
  }

  // With what is there unless `is_first`.
  void Pool(int64_t channel, int64_t taps, bool is_first) const {
    const float* const x =
        args_.input<float>(0) + (at_.image * p_.channels + channel) * p_.height * p_.width;
    float* const y =
        args_.output<float>(0) + (region_ * p_.channels + channel) * p_.bins() + first_;
    const bool is_mean = p_.attrs.mode == ops::RoiMode::kAvg;
    const simd::PlaceTaps of_bins = {indices_, weights_, kMostBins, taps};
    const int64_t padded =
        (count_ + simd::kPlacesMultiple - 1) / simd::kPlacesMultiple * simd::kPlacesMultiple;
    float pooled[kMostBins];
    if (is_mean)
      simd::SampleFor()(x, of_bins, nullptr, pooled, padded);
    else
      simd::SampleLargestFor()(x, of_bins, pooled, padded);
    for (int64_t i = 0; i < count_; ++i)
      y[i] = is_first ? pooled[i] : is_mean ? y[i] + pooled[i] : std::max(y[i], pooled[i]);
  }

  const Pooling& p_;
  const KernelArgs& args_;
  const int64_t region_;
  const Region& at_;
  const int64_t first_, count_;  // bins
  const int64_t first_channel_, last_channel_;
  alignas(64) int32_t indices_[4 * kMostPoints * kMostBins] = {};
  alignas(64) float weights_[4 * kMostPoints * kMostBins] = {};
};

Made MakeRoiAlign(const KernelContext& context) {
  constexpr int64_t kTasks = 32, kFewChannels = 16;
  const auto is = [&](size_t i, ir::DataType dtype, size_t rank) {
    return context.input_type(i).dtype() == dtype && context.dims(i).size() == rank;
  };
  if (!is(0, ir::DataType::kF32, 4) || !is(1, ir::DataType::kF32, 2) ||
      !is(2, ir::DataType::kI64, 1) || context.result_type(0).dtype() != ir::DataType::kF32)
    return context.Unsupported("other than f32 and indices of i64");
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  if (y.size() != 4 || y[1] != x[1] || context.dims(1)[0] != y[0] || context.dims(1)[1] != 4 ||
      context.dims(2)[0] != y[0])
    return context.Unsupported("operands that do not fit each other");
  if (context.HasEmptyTensor()) return context.Unsupported("tensors without elements");
  if (x[2] > INT32_MAX / x[3]) return context.Unsupported("so large an image");
  Pooling p = {.attrs = context.attrs_of<ops::RoiAlign>(),
               .images = x[0],
               .channels = x[1],
               .height = x[2],
               .width = x[3],
               .regions = y[0],
               .rows = y[2],
               .columns = y[3],
               .task_channels = x[1]};
  // Of few regions every thread gets some channels.
  const int64_t parts = std::max<int64_t>(kTasks / p.tasks(), 1);
  p.task_channels = std::max((p.channels + parts - 1) / parts, std::min(p.channels, kFewChannels));
  return MakeNative("region alignment", {}, [p](const KernelArgs& args) -> absl::Status {
    const auto regions = RegionsOf(p, args);
    if (!regions.ok()) return regions.status();
    args.pool->ParallelFor(p.tasks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Task(p, args, *regions, i).Run();
    });
    return absl::OkStatus();
  });
}
const RegisterKernel<ops::RoiAlign> kRoiAlign("native", &MakeRoiAlign);

}  // namespace
}  // namespace weft::kernels::native
