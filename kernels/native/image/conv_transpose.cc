// onnx.ConvTranspose with constant weights, as a convolution: https://arxiv.org/abs/1609.05158. Elements of the
// result that are `stride` apart read the same elements of the kernel, so each of the stride * stride phases is a
// convolution of stride 1 with a kernel as much smaller, and the results of all are laid between each other.
#include <algorithm>
#include <array>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
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
  // [phases * outputs, inputs of a group, taps...] of weights [inputs, outputs of a group, kernel...].
  std::vector<float> Weights(const Axes& axes, const std::vector<float>& weights, int64_t groups,
                             int64_t inputs, int64_t outputs) const {
    std::vector<float> result;
    for (const Phase& phase : phases)
      for (int64_t channel = 0; channel < groups * outputs; ++channel)
        for (int64_t input = 0; input < inputs; ++input) {
          const int64_t from = (channel / outputs * inputs + input) * outputs + channel % outputs;
          for (int64_t row = 0; row < Taps(axes, 0); ++row)
            for (int64_t column = 0; column < Taps(axes, 1); ++column) {
              const int64_t at =
                  (from * axes[0].kernel + axes[0].KernelAt(phase[0], row)) * axes[1].kernel +
                  axes[1].KernelAt(phase[1], column);
              result.push_back(weights[static_cast<size_t>(at)]);
            }
        }
    return result;
  }
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

// Of an op that is cut into phases; else Unsupported.
absl::StatusOr<Axes> AxesOf(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (!context.constant(1) || (context.HasInput(2) && !context.constant(2)))
    return context.Unsupported("weights that are not constant");
  const auto attrs = context.attrs_of<ops::ConvTranspose>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  if (x.size() < 3 || x.size() > 4 || w.size() != x.size() || y.size() != x.size())
    return context.Unsupported("other than one or two spatial dimensions");
  if (attrs.group < 1 || x[1] % attrs.group != 0 || w[0] != x[1] || y[1] != w[1] * attrs.group)
    return context.Unsupported("channels that do not fit together");
  Axes axes;
  for (size_t i = 0; i + 2 < x.size(); ++i) {
    if (attrs.dilations && (*attrs.dilations)[i] != 1) return context.Unsupported("dilations");
    const int64_t stride = attrs.strides ? (*attrs.strides)[i] : 1, kernel = w[i + 2];
    const int64_t begin = ops::ConvTranspose::ExtentAlong(attrs, i, x[i + 2], kernel).begin;
    if (begin < 0) return context.Unsupported("a result that begins before the first block");
    if (kernel < stride) return context.Unsupported("gaps between blocks");
    axes[i + 4 - x.size()] = {x[i + 2], kernel, stride, begin, y[i + 2]};
  }
  if (axes[0].stride > kMostPhases || axes[0].stride * axes[1].stride > kMostPhases)
    return context.Unsupported("such large strides");
  return axes;
}

Made MakeConvTranspose(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const Axes axes, AxesOf(context));
  const ir::Attribute weights = context.constant(1), bias = context.constant(2);
  const auto attrs = context.attrs_of<ops::ConvTranspose>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  return MakeFromBody(
      context, "transposed convolution by phases", {"native", "xnnpack", "reference"},
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        const auto reshape = [&](ir::Value v, const Ints& shape) {
          return b.Make<ops::Reshape>({v, b.ConstantInts(shape)});
        };
        const Along &rows = axes[0], &columns = axes[1];
        const ir::Value image =
            ToNhwc(b, reshape(operands[0], {x[0], x[1], rows.size, columns.size}));
        std::vector<ir::Value> parts;  // [batch, rows, columns, phases * channels]
        for (const Convolution& c : ConvolutionsOf(axes, attrs.group)) {
          const auto count = static_cast<int64_t>(c.phases.size());
          const int64_t down = c.Taps(axes, 0), across = c.Taps(axes, 1);
          const std::vector<float> floats =
              c.Weights(axes, ConstantFloats(weights), attrs.group, x[1] / attrs.group, w[1]);
          std::vector<ir::Value> given = {
              image,
              b.ConstantFloats(floats, Ints{y[1] * count, x[1] / attrs.group, down, across})};
          if (bias) {
            std::vector<float> repeated;
            for (int64_t i = 0; i < count; ++i)
              for (const float number : ConstantFloats(bias)) repeated.push_back(number);
            given.push_back(b.ConstantFloats(repeated, Ints{y[1] * count}));
          }
          parts.push_back(b.Make<fused::Conv2d>(
              given, {.pads = Ints{down - 1, across - 1, rows.places() - rows.size,
                                   columns.places() - columns.size},
                      .group = attrs.group}));
        }
        const ir::Value all =
            parts.size() == 1 ? parts[0] : b.Make<ops::Concat>(parts, {.axis = 3});
        const ir::Value cut = reshape(
            all, {x[0], rows.places(), columns.places(), rows.stride, columns.stride, y[1]});
        const int64_t height = rows.places() * rows.stride,
                      width = columns.places() * columns.stride;
        const ir::Value whole =
            reshape(b.Make<ops::Transpose>({cut}, {.perm = Ints{0, 5, 1, 3, 2, 4}}),
                    {x[0], y[1], height, width});
        const bool is_cut = height != rows.out || width != columns.out;
        const ir::Value wanted =
            !is_cut ? whole
                    : b.Make<ops::Slice>(
                          {whole, b.ConstantInts({rows.begin, columns.begin}),
                           b.ConstantInts({rows.begin + rows.out, columns.begin + columns.out}),
                           b.ConstantInts({2, 3})});
        return std::vector<ir::Value>{x.size() == 4 ? wanted
                                                    : reshape(wanted, Ints(y.begin(), y.end()))};
      });
}
const RegisterKernel<ops::ConvTranspose> kConvTranspose("native", &MakeConvTranspose);

}  // namespace
}  // namespace weft::kernels::native
