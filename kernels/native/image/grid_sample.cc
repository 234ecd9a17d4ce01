// onnx.GridSample of rows, images and volumes: what a place reads is found once for all channels.
#include <algorithm>
#include <vector>

#include "ir/dialects/onnx/nn/sampling.h"
#include "kernels/grid_sampling.h"
#include "kernels/native/image/sample.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

constexpr int64_t kMostAxes = 3;
constexpr int64_t kMostPlaces = 256;    // of a task
constexpr int64_t kMostEntries = 2048;  // taps of all of them, which stay in an L1 cache

struct Sampling {
  std::vector<GridAxis> axes;
  Dims image;
  int64_t images, channels, places;
  int64_t taps;         // of a place
  int64_t task_places;  // a multiple of simd::kPlacesMultiple

  int64_t tasks_of_image() const { return (places + task_places - 1) / task_places; }
};

struct Taps {
  alignas(64) int32_t indices[kMostEntries];
  alignas(64) float weights[kMostEntries];

  simd::PlaceTaps From(const Sampling& s, int64_t place) const {
    return {indices + place, weights + place, s.task_places, s.taps};
  }
};

// Place i of a task, which `grid` names, the last axis first.
void AddPlace(const Sampling& s, const float* grid, int64_t i, Taps* taps) {
  const int count = s.image.size();
  GridTaps along[kMostAxes];
  int64_t combinations = 1;
  for (int axis = 0; axis < count; ++axis) {
    along[axis] = s.axes[static_cast<size_t>(axis)].At(grid[count - 1 - axis]);
    combinations *= along[axis].count;
  }
  for (int64_t combination = 0; combination < combinations; ++combination) {
    int64_t rest = combination, index = 0, stride = 1;
    double weight = 1;
    bool is_inside = true;
    for (int axis = count - 1; axis >= 0; --axis) {
      const auto tap = rest % along[axis].count;
      rest /= along[axis].count;
      is_inside &= along[axis].index[tap] >= 0;
      index += along[axis].index[tap] * stride;
      stride *= s.image[axis];
      weight *= along[axis].weight[tap];
    }
    if (!is_inside) continue;
    const int64_t at = combination * s.task_places + i;
    taps->indices[at] = static_cast<int32_t>(index);
    taps->weights[at] = static_cast<float>(weight);
  }
}

void RunTask(const Sampling& s, const KernelArgs& args, int64_t task) {
  const int64_t image = task / s.tasks_of_image();
  const int64_t first = task % s.tasks_of_image() * s.task_places;
  const int64_t count = std::min(s.task_places, s.places - first);
  const int64_t whole = count / simd::kPlacesMultiple * simd::kPlacesMultiple;
  Taps taps;
  std::fill_n(taps.indices, s.taps * s.task_places, -1);
  std::fill_n(taps.weights, s.taps * s.task_places, 0.0f);
  const float* const grid = args.input<float>(1) + (image * s.places + first) * s.image.size();
  for (int64_t i = 0; i < count; ++i) AddPlace(s, grid + i * s.image.size(), i, &taps);
  const simd::SampleFunction sample = simd::SampleFor();
  const int64_t size = NumElements(s.image);
  for (int64_t c = image * s.channels; c < (image + 1) * s.channels; ++c) {
    const float* const x = args.input<float>(0) + c * size;
    float* const y = args.output<float>(0) + c * s.places + first;
    sample(x, taps.From(s, 0), nullptr, y, whole);
    if (whole == count) continue;
    float last[simd::kPlacesMultiple];
    sample(x, taps.From(s, whole), nullptr, last, simd::kPlacesMultiple);
    std::copy_n(last, count - whole, y + whole);
  }
}

Made MakeGridSample(const KernelContext& context) {
  constexpr int64_t kTasks = 32;  // where there are places enough
  const int64_t axes = static_cast<int64_t>(context.dims(0).size()) - 2;
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (axes < 1 || axes > kMostAxes || context.dims(1).size() != context.dims(0).size())
    return context.Unsupported("other than one to three spatial dimensions");
  const std::span<const int64_t> x = context.dims(0), grid = context.dims(1),
                                 y = context.result_dims(0);
  const auto attrs = context.attrs_of<ops::GridSample>();
  Sampling s = {.axes = {},
                .image = Dims(x.subspan(2)),
                .images = x[0],
                .channels = x[1],
                .places = NumElements(grid.subspan(1, static_cast<size_t>(axes))),
                .taps = 1,
                .task_places = 0};
  if (grid[0] != x[0] || grid.back() != axes || y.size() != x.size() || y[0] != x[0] ||
      y[1] != x[1] || !std::ranges::equal(y.subspan(2), grid.subspan(1, static_cast<size_t>(axes))))
    return context.Unsupported("operands that do not fit each other");
  if (NumElements(s.image) > INT32_MAX) return context.Unsupported("so large an image");
  for (const int64_t extent : s.image) {
    s.axes.emplace_back(attrs, extent);
    s.taps *= GridAxis::MostTaps(attrs.mode);
  }
  const int64_t multiple = simd::kPlacesMultiple;
  const int64_t share = (s.images * s.places / kTasks + multiple - 1) / multiple * multiple;
  s.task_places = std::clamp(share, multiple, std::min(kMostPlaces, kMostEntries / s.taps));
  return MakeNative("grid sampling", {}, [s = std::move(s)](const KernelArgs& args) {
    args.pool->ParallelFor(s.images * s.tasks_of_image(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) RunTask(s, args, task);
    });
  });
}
const RegisterKernel<ops::GridSample> kGridSample("native", &MakeGridSample);

}  // namespace
}  // namespace weft::kernels::native
