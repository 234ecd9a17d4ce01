// onnx.ConvTranspose with constant weights, as a convolution: https://arxiv.org/abs/1609.05158. Elements of the
// result that are `stride` apart read the same elements of the kernel, so each of the stride * stride kinds is a
// channel of a convolution of stride 1 with a kernel as much smaller, whose channels are laid between each other.
#include <algorithm>
#include <vector>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::Ints;

constexpr size_t kMostPhases = 256;

// Along one spatial dimension. Result o is of phase (o + begin) % stride and of place (o + begin) / stride, and reads
// as many elements of x as it has taps, the last one at its place.
struct Along {
  int64_t size, kernel, stride, begin, out;

  int64_t places() const { return std::max(size, (out - 1 + begin) / stride + 1); }
  int64_t Taps(int64_t phase) const { return (kernel - phase + stride - 1) / stride; }
  int64_t KernelAt(int64_t phase, int64_t tap) const {
    return phase + stride * (Taps(phase) - 1 - tap);
  }
};

// All indices into a tensor of these sizes, in row order.
std::vector<Ints> IndicesOf(const Ints& sizes) {
  std::vector<Ints> indices(1);
  for (const int64_t size : sizes) {
    std::vector<Ints> longer;
    for (const Ints& index : indices)
      for (int64_t i = 0; i < size; ++i) {
        longer.push_back(index);
        longer.back().push_back(i);
      }
    indices = std::move(longer);
  }
  return indices;
}

Ints TapsOf(const std::vector<Along>& axes, const Ints& phase) {
  Ints taps;
  for (size_t i = 0; i < axes.size(); ++i) taps.push_back(axes[i].Taps(phase[i]));
  return taps;
}

// [outputs * phases, inputs of a group, taps...] of weights [inputs, outputs of a group, kernel...], for phases that
// have as many taps.
std::vector<float> WeightsOf(const std::vector<float>& weights, const std::vector<Along>& axes,
                             const std::vector<Ints>& phases, int64_t groups, int64_t inputs,
                             int64_t outputs) {
  const std::vector<Ints> taps = IndicesOf(TapsOf(axes, phases[0]));
  std::vector<float> result;
  for (int64_t channel = 0; channel < groups * outputs; ++channel)
    for (const Ints& phase : phases)
      for (int64_t input = 0; input < inputs; ++input) {
        const int64_t row = channel / outputs * inputs + input;
        for (const Ints& tap : taps) {
          int64_t at = row * outputs + channel % outputs;
          for (size_t i = 0; i < axes.size(); ++i)
            at = at * axes[i].kernel + axes[i].KernelAt(phase[i], tap[i]);
          result.push_back(weights[static_cast<size_t>(at)]);
        }
      }
  return result;
}

Made MakeConvTranspose(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const ir::Attribute weights = context.constant(1), bias = context.constant(2);
  if (!weights || (context.HasInput(2) && !bias))
    return context.Unsupported("weights that are not constant");
  const auto attrs = context.attrs_of<ops::ConvTranspose>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  const size_t rank = x.size() - 2;
  if (x.size() < 3 || x.size() > 4 || w.size() != x.size() || y.size() != x.size())
    return context.Unsupported("other than one or two spatial dimensions");
  if (attrs.group < 1 || x[1] % attrs.group != 0 || w[0] != x[1] || y[1] != w[1] * attrs.group)
    return context.Unsupported("channels that do not fit together");
  if (context.HasEmptyTensor()) return context.Unsupported("tensors without elements");
  std::vector<Along> axes;
  bool has_equal_phases = true;
  Ints strides;
  for (size_t i = 0; i < rank; ++i) {
    if (attrs.dilations && (*attrs.dilations)[i] != 1) return context.Unsupported("dilations");
    const int64_t size = x[i + 2], kernel = w[i + 2];
    strides.push_back(attrs.strides ? (*attrs.strides)[i] : 1);
    const int64_t begin = ops::ConvTranspose::ExtentAlong(attrs, i, size, kernel).begin;
    if (begin < 0) return context.Unsupported("a result that begins before the first block");
    if (kernel < strides[i]) return context.Unsupported("gaps between blocks");
    has_equal_phases &= kernel % strides[i] == 0;
    axes.push_back({size, kernel, strides[i], begin, y[i + 2]});
  }
  const std::vector<Ints> phases = IndicesOf(strides);
  if (phases.size() > kMostPhases) return context.Unsupported("such large strides");
  // Elements of kernels that are not there must not meet infinities, so other phases are convolutions of their own.
  std::vector<std::vector<Ints>> convolutions = {phases};
  if (!has_equal_phases) {
    convolutions.clear();
    for (const Ints& phase : phases) convolutions.push_back({phase});
  }
  return MakeFromBody(
      context, "transposed convolution by phases", {"native", "xnnpack", "reference"},
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        // [batch, channels, phases, places...]
        const auto convolve = [&](const std::vector<Ints>& of) {
          const auto count = static_cast<int64_t>(of.size());
          const Ints taps = TapsOf(axes, of[0]);
          Ints pads(2 * rank), shape = {y[1] * count, x[1] / attrs.group},
                               split = {x[0], y[1], count};
          for (size_t i = 0; i < rank; ++i) {
            pads[i] = taps[i] - 1;
            pads[i + rank] = axes[i].places() - axes[i].size;
            shape.push_back(taps[i]);
            split.push_back(axes[i].places());
          }
          const std::vector<float> floats =
              WeightsOf(ConstantFloats(weights), axes, of, attrs.group, x[1] / attrs.group, w[1]);
          std::vector<ir::Value> given = {operands[0], b.ConstantFloats(floats, shape)};
          if (bias) {
            std::vector<float> repeated;
            for (const float number : ConstantFloats(bias))
              repeated.insert(repeated.end(), of.size(), number);
            given.push_back(b.ConstantFloats(repeated, Ints{y[1] * count}));
          }
          const ir::Value conv = b.Make<ops::Conv>(given, {.group = attrs.group, .pads = pads});
          return b.Make<ops::Reshape>({conv, b.ConstantInts(split)});
        };
        std::vector<ir::Value> parts;
        for (const std::vector<Ints>& of : convolutions) parts.push_back(convolve(of));
        const ir::Value all =
            parts.size() == 1 ? parts[0] : b.Make<ops::Concat>(parts, {.axis = 2});
        // Phases between places.
        Ints split = {x[0], y[1]}, joined = split, order = {0, 1}, begins, ends, spatial;
        split.insert(split.end(), strides.begin(), strides.end());
        for (size_t i = 0; i < rank; ++i) {
          const Along& a = axes[i];
          split.push_back(a.places());
          joined.push_back(a.places() * a.stride);
          order.push_back(static_cast<int64_t>(2 + rank + i));
          order.push_back(static_cast<int64_t>(2 + i));
          begins.push_back(a.begin);
          ends.push_back(a.begin + a.out);
          spatial.push_back(static_cast<int64_t>(2 + i));
        }
        const ir::Value cut = b.Make<ops::Reshape>({all, b.ConstantInts(split)});
        const ir::Value image = b.Make<ops::Reshape>(
            {b.Make<ops::Transpose>({cut}, {.perm = order}), b.ConstantInts(joined)});
        if (std::equal(joined.begin(), joined.end(), y.begin(), y.end()) &&
            std::ranges::count(begins, 0) == static_cast<int64_t>(rank))
          return std::vector<ir::Value>{image};
        return std::vector<ir::Value>{b.Make<ops::Slice>(
            {image, b.ConstantInts(begins), b.ConstantInts(ends), b.ConstantInts(spatial)})};
      });
}
const RegisterKernel<ops::ConvTranspose> kConvTranspose("native", &MakeConvTranspose);

}  // namespace
}  // namespace weft::kernels::native
