// onnx.DeformConv of images: what the kernel's elements read is interpolated into packed panels, a few columns at a time,
// and the weights multiply these.
#include <algorithm>
#include <array>
#include <vector>

#include "ir/dialects/onnx/nn/conv.h"
#include "kernels/native/image/sample.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/gemm_tile.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using Attrs = ops::DeformConv::Attrs<ir::Plain>;

constexpr int64_t kMostPlaces = 2 * simd::kPanel;  // of a task

// One of two spatial dimensions. No extent and no distance is above kMostExtent.
constexpr int64_t kMostExtent = 1 << 28;
struct Axis {
  int64_t in, kernel, out, stride, dilation, pad;
  bool Fits() const {
    int64_t last;
    return in <= kMostExtent && pad <= kMostExtent && !__builtin_mul_overflow(out, stride, &last) &&
           last <= kMostExtent && !__builtin_mul_overflow(kernel, dilation, &last) &&
           last <= kMostExtent;
  }
};
Axis AxisOf(const Attrs& attrs, const KernelContext& context, size_t i) {
  const auto entry = [i](const std::optional<ir::Ints>& list, int64_t fallback) {
    return list ? (*list)[i] : fallback;
  };
  return {context.dims(0)[i + 2],  context.dims(1)[i + 2],    context.result_dims(0)[i + 2],
          entry(attrs.strides, 1), entry(attrs.dilations, 1), entry(attrs.pads, 0)};
}

struct Convolution {
  Axis rows, columns;
  int64_t images, channels, results;  // of all groups
  int64_t groups, offset_groups;
  int64_t task_places;
  bool has_bias, has_mask;

  int64_t elements() const { return rows.kernel * columns.kernel; }
  int64_t places() const { return rows.out * columns.out; }
  int64_t depth() const { return channels / groups * elements(); }  // of the product
  int64_t tasks_of_image() const { return simd::CeilDiv(places(), task_places); }
  int64_t floats_of_task() const { return groups * depth() * task_places; }

  bool Fits(const KernelContext& context) const {
    const auto is = [&](size_t i, std::initializer_list<int64_t> dims) {
      return std::ranges::equal(context.dims(i), dims);
    };
    return channels % groups == 0 && results % groups == 0 && channels % offset_groups == 0 &&
           is(1, {results, channels / groups, rows.kernel, columns.kernel}) &&
           is(2, {images, offset_groups * elements() * 2, rows.out, columns.out}) &&
           (!has_bias || is(3, {results})) &&
           (!has_mask || is(4, {images, offset_groups * elements(), rows.out, columns.out})) &&
           std::ranges::equal(context.result_dims(0), std::initializer_list<int64_t>{
                                                          images, results, rows.out, columns.out});
  }
};

// Of the output places from `first` on, of which there are `count`; the others, up to `padded`, are outside.
struct Places {
  alignas(64) std::array<int32_t, kMostPlaces> rows, columns;
  int64_t first, count, padded;

  Places(const Convolution& c, int64_t task)
      : first(task * c.task_places),
        count(std::min(c.task_places, c.places() - first)),
        padded(simd::PackedColumns(count)) {
    for (int64_t i = 0; i < padded; ++i) {
      const int64_t row = (first + i) / c.columns.out, column = (first + i) % c.columns.out;
      const bool is_outside = i >= count;
      rows[i] = static_cast<int32_t>(is_outside ? -kMostExtent : row * c.rows.stride - c.rows.pad);
      columns[i] = static_cast<int32_t>(is_outside ? -kMostExtent
                                                   : column * c.columns.stride - c.columns.pad);
    }
  }
};

// One task: some places of an image.
class Task {
 public:
  Task(const Convolution& c, const KernelArgs& args, int64_t index, float* panels)
      : c_(c),
        args_(args),
        image_(index / c.tasks_of_image()),
        places_(c, index % c.tasks_of_image()),
        panels_(panels) {}

  void Run() {
    for (int64_t group = 0; group < c_.offset_groups; ++group)
      for (int64_t k = 0; k < c_.elements(); ++k) FillRows(group, k);
    for (int64_t group = 0; group < c_.groups; ++group) Multiply(group);
  }

 private:
  using Floats = std::array<float, kMostPlaces>;

  // What belongs to the places of row `row` of operand i, which has `rows` of them for each image.
  Floats RowOf(size_t i, int64_t rows, int64_t row) const {
    Floats values = {};
    const float* const from =
        args_.input<float>(i) + (image_ * rows + row) * c_.places() + places_.first;
    std::copy_n(from, places_.count, values.begin());
    return values;
  }

  // What kernel element k reads of all channels of an offset group.
  void FillRows(int64_t offset_group, int64_t k) {
    const int64_t row = offset_group * c_.elements() + k, rows = c_.offset_groups * c_.elements();
    const Floats down = RowOf(2, 2 * rows, 2 * row), across = RowOf(2, 2 * rows, 2 * row + 1);
    const Floats mask = c_.has_mask ? RowOf(4, rows, row) : Floats();
    alignas(64) std::array<int32_t, 4 * kMostPlaces> indices;
    alignas(64) std::array<float, 4 * kMostPlaces> weights;
    moved_taps_({.rows = places_.rows.data(),
                 .columns = places_.columns.data(),
                 .row = static_cast<int32_t>(k / c_.columns.kernel * c_.rows.dilation),
                 .column = static_cast<int32_t>(k % c_.columns.kernel * c_.columns.dilation),
                 .row_offsets = down.data(),
                 .column_offsets = across.data(),
                 .height = static_cast<int32_t>(c_.rows.in),
                 .width = static_cast<int32_t>(c_.columns.in)},
                places_.padded, indices.data(), weights.data());
    const int64_t size = c_.rows.in * c_.columns.in, count = c_.channels / c_.offset_groups;
    for (int64_t channel = offset_group * count; channel < (offset_group + 1) * count; ++channel) {
      const float* const x = args_.input<float>(0) + (image_ * c_.channels + channel) * size;
      for (int64_t at = 0; at < places_.padded; at += simd::kPanel) {
        const int64_t width = std::min(simd::kPanel, places_.padded - at);
        sample_(x, {indices.data() + at, weights.data() + at, places_.padded, 4},
                c_.has_mask ? mask.data() + at : nullptr, RowOfPanel(channel, k, at, width), width);
      }
    }
  }

  float* RowOfPanel(int64_t channel, int64_t k, int64_t column, int64_t width) const {
    const int64_t in_group = c_.channels / c_.groups;
    return PanelsOf(channel / in_group) + column * c_.depth() +
           (channel % in_group * c_.elements() + k) * width;
  }
  float* PanelsOf(int64_t group) const { return panels_ + group * c_.depth() * c_.task_places; }

  void Multiply(int64_t group) {
    const int64_t rows = c_.results / c_.groups, places = c_.places();
    float* const y =
        args_.output<float>(0) + (image_ * c_.results + group * rows) * places + places_.first;
    simd::Block block;
    block.tile.a = args_.input<float>(1) + group * rows * c_.depth();
    block.tile.a_stride = c_.depth();
    block.tile.depth = c_.depth();
    block.tile.c = y;
    block.tile.c_stride = places;
    block.b = simd::Panels::Packed(PanelsOf(group), c_.depth(), places_.count);
    simd::RunBlock(simd::TilesFor(CurrentIsa()), block, rows, 0, places_.count);
    if (!c_.has_bias) return;
    for (int64_t row = 0; row < rows; ++row) {
      const float bias = args_.input<float>(3)[group * rows + row];
      for (int64_t i = 0; i < places_.count; ++i) y[row * places + i] += bias;
    }
  }

  const Convolution& c_;
  const KernelArgs& args_;
  const int64_t image_;
  const Places places_;
  float* const panels_;
  const simd::SampleFunction sample_ = simd::SampleFor();
  const simd::MovedTapsFunction moved_taps_ = simd::MovedTapsFor();
};

Made MakeDeformConv(const KernelContext& context) {
  constexpr int64_t kFewPlaces = 512;
  constexpr int64_t kMostFloats = 8 << 20;  // of the scratch memory of a thread
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (context.input_type(0).rank() != 4 || context.input_type(1).rank() != 4 ||
      context.result_type(0).rank() != 4)
    return context.Unsupported("other than two spatial dimensions");
  const auto attrs = context.attrs_of<ops::DeformConv>();
  Convolution c = {.rows = AxisOf(attrs, context, 0),
                   .columns = AxisOf(attrs, context, 1),
                   .images = context.dims(0)[0],
                   .channels = context.dims(0)[1],
                   .results = context.result_dims(0)[1],
                   .groups = attrs.group,
                   .offset_groups = attrs.offset_group,
                   .task_places = simd::kPanel,
                   .has_bias = context.HasInput(3),
                   .has_mask = context.HasInput(4)};
  if (!c.Fits(context)) return context.Unsupported("operands that do not fit each other");
  if (!c.rows.Fits() || !c.columns.Fits() || c.rows.in * c.columns.in > INT32_MAX)
    return context.Unsupported("so large an image");
  if (c.floats_of_task() > kMostFloats) return context.Unsupported("so deep a kernel");
  // Two panels share the taps, and the weights that pass; of few places every thread should get some.
  if (c.images * c.places() > kFewPlaces && 2 * c.floats_of_task() <= kMostFloats)
    c.task_places = kMostPlaces;
  const auto bytes = static_cast<size_t>(c.floats_of_task()) * sizeof(float);
  const auto threads = static_cast<size_t>(context.pool().num_threads());
  return MakeNative(
      "deformed convolution", {.scratch_bytes = threads * bytes}, [c](const KernelArgs& args) {
        args.pool->ParallelForSlots(
            c.images * c.tasks_of_image(), 1, [&](int slot, int64_t begin, int64_t end) {
              float* const panels =
                  reinterpret_cast<float*>(args.scratch) + slot * c.floats_of_task();
              for (int64_t i = begin; i < end; ++i) Task(c, args, i, panels).Run();
            });
      });
}
const RegisterKernel<ops::DeformConv> kDeformConv("native", &MakeDeformConv);

}  // namespace
}  // namespace weft::kernels::native
