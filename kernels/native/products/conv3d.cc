// Convolution in three spatial dimensions. A frame of the result is a sum of convolutions of frames of the image in two
// dimensions, run as one product, or one after the other where they are depthwise: the image is transposed to have channels
// last, every frame of the result back.
#include "kernels/native/products/conv3d.h"

#include <memory>
#include <string>
#include <vector>

#include "ir/dialects/onnx/nn/conv.h"
#include "kernels/native/simd/conv2d.h"
#include "kernels/native/simd/depthwise.h"
#include "kernels/native/simd/strided_copy.h"
#include "kernels/window.h"

namespace weft::kernels::native {
namespace {

using Frame = simd::Conv2dArguments::Frame;

// Of every group; in one vector where the convolution is depthwise.
struct Weights {
  std::vector<simd::PackedMatrix> groups;
  std::vector<float> depthwise;
  const float* taps = nullptr;  // of `depthwise`, or of scratch memory
};

constexpr int64_t kFloat = sizeof(float);

int64_t ToLines(int64_t floats) { return (floats + 15) / 16 * 16; }

struct Conv3d {
  Window window;
  int64_t batch, channels, out_channels, groups;
  simd::Conv2dShape frame;           // of a group
  std::shared_ptr<Weights> weights;  // null: packed in every run

  bool IsDepthwise() const { return groups == channels && groups == out_channels; }
  int64_t InFrame() const { return window.in[1] * window.in[2]; }  // pixels
  int64_t OutFrame() const { return window.out[1] * window.out[2]; }
  int64_t Depth() const { return channels / groups * window.KernelSize(); }  // of a product

  // Of scratch memory, in floats, one after the other.
  int64_t FloatsOfX() const { return ToLines(batch * channels * window.InSize()); }
  int64_t FloatsOfWeights() const {
    if (weights != nullptr) return 0;
    if (IsDepthwise()) return ToLines(channels * Depth());
    return groups * simd::PackedMatrix::BytesOf(Depth(), out_channels / groups) / kFloat;
  }
  int64_t FloatsOfFrame() const { return ToLines(OutFrame() * out_channels); }  // per thread
  bool RunsFramesApart(int threads) const { return batch * window.out[0] >= 2 * threads; }
  int64_t ScratchBytes(int threads) const {
    const int64_t frames = RunsFramesApart(threads) ? threads : 1;
    return (FloatsOfX() + FloatsOfWeights() + frames * FloatsOfFrame()) * kFloat;
  }
};

// What PackConv2dWeights and PackDepthwiseWeights see: frames of a kernel are rows of a higher one.
simd::Conv2dShape ShapeOfWeights(const Conv3d& c) {
  simd::Conv2dShape shape = c.frame;
  shape.kernel_height *= c.window.kernel[0];
  if (c.IsDepthwise()) shape.in_channels = c.channels;
  return shape;
}

// `memory`: as of PackedMatrix::Pack, for all.
Weights PackWeights(const Conv3d& c, const simd::WeightSource& source, ThreadPool& pool,
                    float* memory) {
  Weights weights;
  if (c.IsDepthwise()) {
    const int64_t count = c.channels * c.Depth();
    if (memory == nullptr) {
      weights.depthwise.resize(static_cast<size_t>(count));
      memory = weights.depthwise.data();
    }
    simd::PackDepthwiseWeights(source.At(0, count), ShapeOfWeights(c), memory);
    weights.taps = memory;
    return weights;
  }
  for (int64_t g = 0; g < c.groups; ++g) {
    const int64_t from = c.out_channels / c.groups * g * c.Depth();
    weights.groups.push_back(simd::PackConv2dWeights(source.From(from), ShapeOfWeights(c), pool,
                                                     /*x_channels_first=*/false, memory));
    if (memory != nullptr) memory += weights.groups.back().bytes() / kFloat;
  }
  return weights;
}

// The frames of the image that a frame of the result sees, and their weights.
std::vector<Frame> FramesOf(const Conv3d& c, int64_t at) {
  std::vector<Frame> frames;
  const int64_t rows = c.Depth() / c.window.kernel[0];
  for (int64_t k = 0; k < c.window.kernel[0]; ++k) {
    const int64_t in = c.window.At(0, at, k);
    if (in >= 0 && in < c.window.in[0]) frames.push_back({in * c.InFrame() * c.channels, k * rows});
  }
  return frames;
}

// `x` and `y` are of one image and of one frame, and have channels last.
void RunProducts(const Conv3d& c, const Weights& weights, const std::vector<Frame>& frames,
                 const float* x, const float* bias, float* y, ThreadPool& pool) {
  const simd::Conv2dShape& s = c.frame;
  for (int64_t g = 0; g < c.groups; ++g)
    simd::Conv2d({.shape = s,
                  .x = x + g * s.in_channels,
                  .weights = &weights.groups[static_cast<size_t>(g)],
                  .frames = &frames,
                  .bias = bias == nullptr ? nullptr : bias + g * s.out_channels,
                  .y = y + g * s.out_channels,
                  .x_stride = c.channels,
                  .y_stride = c.out_channels},
                 pool);
}

void RunDepthwise(const Conv3d& c, const Weights& weights, const std::vector<Frame>& frames,
                  const float* x, const float* bias, float* y, ThreadPool& pool) {
  simd::DepthwiseArguments arguments = {.shape = c.frame, .bias = bias, .y = y};
  arguments.shape.in_channels = arguments.shape.out_channels = c.channels;
  if (frames.empty()) {
    for (int64_t i = 0; i < c.OutFrame() * c.channels; ++i)
      y[i] = bias == nullptr ? 0.0f : bias[i % c.channels];
  }
  for (const Frame& frame : frames) {
    arguments.x = x + frame.x_offset;
    arguments.weights = weights.taps + frame.weights_row * c.channels;
    simd::Depthwise(arguments, pool);
    arguments.bias = nullptr;
    arguments.residual = y;
  }
}

// Frame `index` of those of all results. `x` has channels last.
void RunFrame(const Conv3d& c, const Weights& weights, int64_t index, const float* x,
              const float* bias, float* scratch, float* y, ThreadPool& pool) {
  const int64_t image = index / c.window.out[0], at = index % c.window.out[0];
  const std::vector<Frame> frames = FramesOf(c, at);
  const auto run = c.IsDepthwise() ? &RunDepthwise : &RunProducts;
  run(c, weights, frames, x + image * c.window.InSize() * c.channels, bias, scratch, pool);
  simd::CopyStrided(scratch, Dims{1, c.out_channels},
                    y + (image * c.out_channels * c.window.out[0] + at) * c.OutFrame(),
                    Dims{c.window.OutSize(), 1}, Dims{c.out_channels, c.OutFrame()}, kFloat, pool);
}

void Run(const Conv3d& c, const KernelArgs& args) {
  auto* const x = reinterpret_cast<float*>(args.scratch);
  simd::Transpose(args.input<float>(0), Dims{c.batch, c.channels, c.window.InSize()}, Dims{0, 2, 1},
                  x, kFloat, *args.pool);
  float* const memory = x + c.FloatsOfX();
  const Weights packed =
      c.weights == nullptr ? PackWeights(c, args.input<float>(1), *args.pool, memory) : Weights();
  const Weights& weights = c.weights == nullptr ? packed : *c.weights;
  float* const frames = memory + c.FloatsOfWeights();
  const auto run = [&](int64_t index, int slot, ThreadPool& pool) {
    RunFrame(c, weights, index, x, args.input<float>(2), frames + slot * c.FloatsOfFrame(),
             args.output<float>(0), pool);
  };
  const int64_t count = c.batch * c.window.out[0];
  if (!c.RunsFramesApart(args.pool->num_threads())) {
    for (int64_t i = 0; i < count; ++i) run(i, 0, *args.pool);
    return;
  }
  args.pool->ParallelForSlots(count, 1, [&](int slot, int64_t begin, int64_t end) {
    ThreadPool this_thread(1);
    for (int64_t i = begin; i < end; ++i) run(i, slot, this_thread);
  });
}

}  // namespace

Made MakeConv3d(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::ops::Conv>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  if (x.size() != 5 || w.size() != 5 || y.size() != 5)
    return context.Unsupported("a window of another rank than x");
  WEFT_ASSIGN_OR_RETURN(const Window window, MakeWindow(attrs, x, w.subspan(2), y));
  if (attrs.group < 1 || w[1] * attrs.group != x[1] || w[0] % attrs.group != 0 || y[1] != w[0] ||
      y[0] != x[0])
    return context.InvalidArgument("the operands and the result do not fit together");
  if (context.HasInput(2) && context.input_type(2).NumElements() != w[0])
    return context.InvalidArgument("the bias has not one element per channel");
  Conv3d c = {.window = window,
              .batch = x[0],
              .channels = x[1],
              .out_channels = w[0],
              .groups = attrs.group,
              .frame = {.in_height = window.in[1],
                        .in_width = window.in[2],
                        .in_channels = w[1],
                        .out_channels = w[0] / attrs.group,
                        .kernel_height = window.kernel[1],
                        .kernel_width = window.kernel[2],
                        .stride_height = window.stride[1],
                        .stride_width = window.stride[2],
                        .dilation_height = window.dilation[1],
                        .dilation_width = window.dilation[2],
                        .pad_top = window.pad_before[1],
                        .pad_left = window.pad_before[2],
                        .pad_bottom = window.pad_after[1],
                        .pad_right = window.pad_after[2]},
              .weights = nullptr};
  if (c.frame.out_height() != window.out[1] || c.frame.out_width() != window.out[2])
    return context.InvalidArgument("the operands and the result do not fit together");
  NativeOptions options;
  if (const ir::Attribute weights = context.constant(1)) {
    options.packed = 1u << 1;
    const std::string key = "native conv3d group=" + std::to_string(c.groups);
    const auto pack = [&]() -> absl::StatusOr<std::shared_ptr<Weights>> {
      return std::make_shared<Weights>(
          PackWeights(c, SourceOf(weights), context.pool(), /*memory=*/nullptr));
    };
    WEFT_ASSIGN_OR_RETURN(c.weights, context.packed().Get<Weights>(key, {weights}, pack));
  }
  options.scratch_bytes = static_cast<size_t>(c.ScratchBytes(context.pool().num_threads()));
  return MakeNative("convolution by frames", options,
                    [c](const KernelArgs& args) { Run(c, args); });
}

}  // namespace weft::kernels::native
