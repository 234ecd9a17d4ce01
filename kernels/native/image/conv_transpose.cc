// Transposed convolutions with constant weights, as convolutions: https://arxiv.org/abs/1609.05158. Elements of the
// result that are `stride` apart read the same elements of the kernel, so each of the stride * stride phases is a
// convolution of stride 1 with a kernel as much smaller, and the results of all are laid between each other.
// onnx.ConvTranspose, over NCHW, stands between transposes; what is not cut into phases is a product (conv_transpose_blocks).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/image/conv_transpose_blocks.h"
#include "kernels/native/native.h"
#include "kernels/native/nhwc.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;
using ir::Ints;

constexpr int64_t kMostPhases = 256;

// Along one spatial dimension. Result o is of phase (o + begin) % stride and of place (o + begin) / stride, and reads
// as many elements of x as it has taps, the last one at its place.
struct Along {
  int64_t size = 1, kernel = 1, stride = 1, begin = 0, out = 1;

  int64_t places() const { return std::max(size, (out - 1 + begin) / stride + 1); }
  int64_t Taps(int64_t phase) const { return (kernel - phase + stride - 1) / stride; }
  int64_t KernelAt(int64_t phase, int64_t tap) const {
    return phase + stride * (Taps(phase) - 1 - tap);
  }
  bool has_equal_phases() const { return kernel % stride == 0; }
};
// Rows, one where there is but one spatial dimension, and columns.
using Axes = std::array<Along, 2>;
using Phase = std::array<int64_t, 2>;

// Phases that have as many taps, as one convolution.
struct Convolution {
  std::vector<Phase> phases;

  int64_t Taps(const Axes& axes, size_t axis) const { return axes[axis].Taps(phases[0][axis]); }
};

// Elements of a kernel that are not there must not meet infinities, so phases that have fewer are convolutions of
// their own; and those of groups, whose channels lie apart.
std::vector<Convolution> ConvolutionsOf(const Axes& axes, int64_t groups) {
  std::vector<Phase> phases;
  for (int64_t row = 0; row < axes[0].stride; ++row)
    for (int64_t column = 0; column < axes[1].stride; ++column) phases.push_back({row, column});
  if (groups == 1 && axes[0].has_equal_phases() && axes[1].has_equal_phases()) return {{phases}};
  std::vector<Convolution> convolutions;
  convolutions.reserve(phases.size());
  for (const Phase& phase : phases) convolutions.push_back({{phase}});
  return convolutions;
}

// A transposed convolution and its sizes: x and y NHWC, w [inputs, outputs of a group, rows, columns].
struct Sizes {
  fused::ConvTranspose2d::Attrs<ir::Plain> attrs;
  Ints x, w, y;
};

// Of one that is cut into phases; else Unsupported.
absl::StatusOr<Axes> AxesOf(const KernelContext& context, const Sizes& s) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (!context.constant(1) || (context.HasInput(2) && !context.constant(2)))
    return context.Unsupported("weights that are not constant");
  const int64_t group = s.attrs.group;
  if (group < 1 || s.x[3] % group != 0 || s.w[0] != s.x[3] || s.y[3] != s.w[1] * group)
    return context.Unsupported("channels that do not fit together");
  Axes axes;
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i] = {s.x[i + 1], s.w[i + 2], s.attrs.strides[i], s.attrs.pads[i], s.y[i + 1]};
    if (axes[i].kernel < axes[i].stride) return context.Unsupported("gaps between blocks");
  }
  if (axes[0].stride > kMostPhases || axes[0].stride * axes[1].stride > kMostPhases)
    return context.Unsupported("such large strides");
  return axes;
}

// The weights of a convolution, [phases * outputs, inputs of a group, taps...], as they lie in those of the whole,
// [inputs, outputs of a group, kernel...].
struct PhaseWeights {
  Convolution convolution;
  Axes axes;
  ir::Attribute whole;
  int64_t groups, inputs, outputs;

  ir::Shape Dims() const {
    return {static_cast<int64_t>(convolution.phases.size()) * groups * outputs, inputs,
            convolution.Taps(axes, 0), convolution.Taps(axes, 1)};
  }
  // Of the elements from byte `first` on, as IrContext::ComputedDenseAttr asks for them.
  void operator()(size_t first, std::span<std::byte> to) const {
    const int64_t across = convolution.Taps(axes, 1), taps = convolution.Taps(axes, 0) * across;
    std::vector<float> kernel(static_cast<size_t>(axes[0].kernel * axes[1].kernel));
    auto at = static_cast<int64_t>(first / sizeof(float));
    for (std::byte* out = to.data(); out < to.data() + to.size();) {
      const int64_t row = at / taps, channel = row / inputs % (groups * outputs);
      const Phase& phase =
          convolution.phases[static_cast<size_t>(row / inputs / (groups * outputs))];
      const int64_t input = channel / outputs * inputs + row % inputs;
      ReadKernel(input * outputs + channel % outputs, kernel);
      for (int64_t tap = at % taps; tap < taps && out < to.data() + to.size(); ++tap, ++at) {
        const int64_t from = axes[0].KernelAt(phase[0], tap / across) * axes[1].kernel +
                             axes[1].KernelAt(phase[1], tap % across);
        std::memcpy(out, &kernel[static_cast<size_t>(from)], sizeof(float));
        out += sizeof(float);
      }
    }
  }

 private:
  void ReadKernel(int64_t number, std::span<float> to) const {
    const size_t offset = static_cast<size_t>(number) * to.size_bytes();
    if (whole.storage()->computed != nullptr) return whole.Read(offset, std::as_writable_bytes(to));
    std::memcpy(to.data(), whole.bytes().data() + offset, to.size_bytes());
  }
};

ir::Attribute WeightsOf(const KernelContext& context, const PhaseWeights& weights) {
  const auto& [rows, columns] = weights.axes;
  const Phase& first = weights.convolution.phases[0];
  const std::string how =
      fmt::format("phases strides={},{} group={} {} from {},{}", rows.stride, columns.stride,
                  weights.groups, weights.convolution.phases.size(), first[0], first[1]);
  return context.packed().Derive(how, weights.whole, [&] {
    ir::IrContext& ir = *context.op().context();
    return ir.ComputedDenseAttr(ir.TensorType(ir::DataType::kF32, weights.Dims()), weights);
  });
}

// The bias once for each phase.
ir::Attribute RepeatedBias(const KernelContext& context, size_t times) {
  const ir::Attribute bias = context.constant(2);
  return context.packed().Derive(fmt::format("{} times", times), bias, [&] {
    const std::vector<float> once = ConstantFloats(bias);
    std::vector<float> repeated;
    for (size_t i = 0; i < times; ++i) repeated.insert(repeated.end(), once.begin(), once.end());
    ir::IrContext& ir = *context.op().context();
    const ir::Shape dims = {static_cast<int64_t>(repeated.size())};
    return ir.DenseAttrOf<float>(ir.TensorType(ir::DataType::kF32, dims), repeated);
  });
}

// Of all phases: [batch, rows, columns, phases * outputs].
ir::Value Phases(const KernelContext& context, ir::Builder& b, const Axes& axes, const Sizes& s,
                 ir::Value image) {
  std::vector<ir::Value> parts;
  for (const Convolution& c : ConvolutionsOf(axes, s.attrs.group)) {
    const int64_t down = c.Taps(axes, 0), across = c.Taps(axes, 1);
    std::vector<ir::Value> operands = {
        image, b.Constant(WeightsOf(context, {c, axes, context.constant(1), s.attrs.group,
                                              s.x[3] / s.attrs.group, s.w[1]}))};
    if (context.HasInput(2)) operands.push_back(b.Constant(RepeatedBias(context, c.phases.size())));
    parts.push_back(b.Make<fused::Conv2d>(
        operands, {.pads = Ints{down - 1, across - 1, axes[0].places() - axes[0].size,
                                axes[1].places() - axes[1].size},
                   .group = s.attrs.group,
                   .activation = s.attrs.activation,
                   .activation_params = s.attrs.activation_params}));
  }
  return parts.size() == 1 ? parts[0] : b.Make<ops::Concat>(parts, {.axis = 3});
}

const std::vector<std::string> kProviders = {"native", "xnnpack", "reference"};

ir::Value Reshape(ir::Builder& b, ir::Value x, const Ints& shape) {
  return b.Make<ops::Reshape>({x, b.ConstantInts(shape)});
}

Made MakeConvTranspose2d(const KernelContext& context) {
  const auto ints = [](std::span<const int64_t> dims) { return Ints(dims.begin(), dims.end()); };
  const Sizes s = {context.attrs_of<fused::ConvTranspose2d>(), ints(context.dims(0)),
                   ints(context.dims(1)), ints(context.result_dims(0))};
  const absl::StatusOr<Axes> found = AxesOf(context, s);
  if (!found.ok()) {
    if (!context.AllFloat32()) return found.status();
    return MakeFromBody(context, "transposed convolution between transposes", kProviders,
                        [&](ir::Builder& b, std::span<const ir::Value> operands) {
                          return fused::ConvTranspose2d::Decompose(b, operands, s.attrs);
                        });
  }
  const Axes& axes = *found;
  return MakeFromBody(
      context, "transposed convolution by phases", kProviders,
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        const auto& [rows, columns] = axes;
        const ir::Value phases = Phases(context, b, axes, s, operands[0]);
        const ir::Value cut =
            Reshape(b, phases,
                    {s.x[0], rows.places(), columns.places(), rows.stride, columns.stride, s.y[3]});
        const int64_t height = rows.places() * rows.stride,
                      width = columns.places() * columns.stride;
        const ir::Value whole =
            Reshape(b, b.Make<ops::Transpose>({cut}, {.perm = Ints{0, 1, 3, 2, 4, 5}}),
                    {s.x[0], height, width, s.y[3]});
        if (height == rows.out && width == columns.out) return std::vector{whole};
        return std::vector<ir::Value>{b.Make<ops::Slice>(
            {whole, b.ConstantInts({rows.begin, columns.begin}),
             b.ConstantInts({rows.begin + rows.out, columns.begin + columns.out}),
             b.ConstantInts({1, 2})})};
      });
}
const RegisterKernel<fused::ConvTranspose2d> kConvTranspose2d("native", &MakeConvTranspose2d);

// Of onnx.ConvTranspose. One spatial dimension is the width of an image of height 1.
absl::StatusOr<Sizes> SizesOverNhwc(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::ConvTranspose>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  if (x.size() < 3 || x.size() > 4 || w.size() != x.size() || y.size() != x.size())
    return context.Unsupported("other than one or two spatial dimensions");
  Sizes s = {.attrs = {.strides = {1, 1},
                       .pads = {0, 0, 0, 0},
                       .output_padding = {0, 0},
                       .group = attrs.group},
             .x = {x[0], 1, 1, x[1]},
             .w = {w[0], w[1], 1, 1},
             .y = {y[0], 1, 1, y[1]}};
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    if (attrs.dilations && (*attrs.dilations)[i] != 1) return context.Unsupported("dilations");
    const size_t axis = i + 4 - x.size();
    const int64_t stride = attrs.strides ? (*attrs.strides)[i] : 1, kernel = w[i + 2];
    const int64_t begin = ops::ConvTranspose::ExtentAlong(attrs, i, x[i + 2], kernel).begin;
    if (begin < 0) return context.Unsupported("a result that begins before the first block");
    const int64_t end = stride * (x[i + 2] - 1) + kernel - begin - y[i + 2];
    s.x[axis + 1] = x[i + 2], s.w[axis + 2] = kernel, s.y[axis + 1] = y[i + 2];
    s.attrs.strides[axis] = stride;
    s.attrs.pads[axis] = begin, s.attrs.pads[axis + 2] = std::max<int64_t>(end, 0);
    s.attrs.output_padding[axis] = std::max<int64_t>(-end, 0);
  }
  return s;
}

Made MakeConvTransposeByPhases(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const Sizes s, SizesOverNhwc(context));
  WEFT_RETURN_IF_ERROR(AxesOf(context, s).status());
  const std::span<const int64_t> y = context.result_dims(0);
  return MakeFromBody(
      context, "transposed convolution over NHWC", kProviders,
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        std::vector<ir::Value> inputs = {
            ToNhwc(b, Reshape(b, operands[0], {s.x[0], s.x[3], s.x[1], s.x[2]})),
            b.Constant(context.packed().WithDims(context.constant(1), s.w))};
        if (context.HasInput(2)) inputs.push_back(operands[2]);
        const ir::Value image = ToNchw(
            b, b.Make<fused::ConvTranspose2d>(inputs, {.strides = s.attrs.strides,
                                                       .pads = s.attrs.pads,
                                                       .output_padding = s.attrs.output_padding,
                                                       .group = s.attrs.group}));
        return std::vector<ir::Value>{Reshape(b, image, Ints(y.begin(), y.end()))};
      });
}

Made MakeConvTranspose(const KernelContext& context) {
  auto phases = MakeConvTransposeByPhases(context);
  return phases.ok() ? std::move(phases) : MakeConvTransposeOfBlocks(context);
}
const RegisterKernel<ops::ConvTranspose> kConvTranspose("native", &MakeConvTranspose);

}  // namespace
}  // namespace weft::kernels::native
