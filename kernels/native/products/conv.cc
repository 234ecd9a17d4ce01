// Convolution. Over NHWC it is an indirect matrix product, one per group, or depthwise; onnx.Conv, over NCHW, stands
// between transposes. One spatial dimension is the width of an image of height 1. Constant weights are packed once,
// others in every run.
#include <cstring>
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/activation.h"
#include "kernels/native/native.h"
#include "kernels/native/nhwc.h"
#include "kernels/native/products/conv3d.h"
#include "kernels/native/simd/conv2d.h"
#include "kernels/native/simd/depthwise.h"
#include "kernels/native/simd/winograd.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

// Of an op that our kernels take.
absl::StatusOr<simd::Conv2dShape> MakeShape(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ir::fused::Conv2d>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1);
  const simd::Conv2dShape shape = Conv2dShapeOf(attrs, x, w, attrs.x_channels_first);
  const std::span<const int64_t> y = context.result_dims(0);
  if (attrs.group < 1 || w[1] * attrs.group != shape.in_channels || w[0] % attrs.group != 0 ||
      y[1] != shape.out_height() || y[2] != shape.out_width() || y[3] != w[0])
    return context.InvalidArgument("the operands and the result do not fit together");
  if (context.HasInput(2) && context.input_type(2).NumElements() != shape.out_channels)
    return context.InvalidArgument("the bias has not one element per channel");
  if (context.HasInput(3) && context.input_type(3) != context.result_type(0))
    return context.Unsupported("a residual that is broadcast");
  return shape;
}

simd::Activation ActivationOf(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::Conv2d>();
  return MakeActivation(attrs.activation, attrs.activation_params);
}

// The channels of a pixel may be a part of a wider image's.
NativeOptions::RowLimits RowsOfPixels(const simd::Conv2dShape& shape) {
  return {.least = shape.in_channels, .most = shape.in_channels};
}

// --- depthwise --------------------------------------------------------------------

// Null where they are computed at run time.
using DepthwiseWeights = std::shared_ptr<std::vector<float>>;

absl::StatusOr<DepthwiseWeights> PackDepthwise(const KernelContext& context,
                                               const simd::Conv2dShape& shape) {
  const ir::Attribute weights = context.constant(1);
  if (!weights) return nullptr;
  using Packed = std::vector<float>;
  return context.packed().Get<Packed>(
      "native depthwise", {weights}, [&]() -> absl::StatusOr<DepthwiseWeights> {
        const Packed floats = ConstantFloats(weights);
        return std::make_shared<Packed>(simd::PackDepthwiseWeights(floats.data(), shape));
      });
}

Made MakeDepthwise(const KernelContext& context, const simd::Conv2dShape& shape) {
  WEFT_ASSIGN_OR_RETURN(const DepthwiseWeights packed, PackDepthwise(context, shape));
  NativeOptions options = {.may_overwrite = 1u << 3};
  if (packed != nullptr) {
    options.packed = 1u << 1;
  } else {
    options.scratch_bytes = context.input_type(1).NumElements() * sizeof(float);
  }
  return MakeNative("depthwise convolution", options,
                    [shape, packed, activation = ActivationOf(context)](const KernelArgs& args) {
                      auto* const scratch = reinterpret_cast<float*>(args.scratch);
                      if (packed == nullptr)
                        simd::PackDepthwiseWeights(args.input<float>(1), shape, scratch);
                      simd::Depthwise({.shape = shape,
                                       .x = args.input<float>(0),
                                       .weights = packed != nullptr ? packed->data() : scratch,
                                       .bias = args.input<float>(2),
                                       .residual = args.input<float>(3),
                                       .y = args.output<float>(0),
                                       .activation = activation},
                                      *args.pool);
                    });
}

// --- products ---------------------------------------------------------------------

// Of every group.
using PackedGroups = std::vector<simd::PackedMatrix>;

// `weights` has `elements`. `memory`: as of PackedMatrix::Pack, for all groups, one after the other.
PackedGroups PackEachGroup(const simd::WeightSource& weights, int64_t elements,
                           const simd::Conv2dShape& group, int64_t groups, bool channels_first,
                           ThreadPool& pool, float* memory = nullptr) {
  PackedGroups packed;
  for (int64_t g = 0; g < groups; ++g) {
    packed.push_back(simd::PackConv2dWeights(weights.From(elements / groups * g), group, pool,
                                             channels_first, memory));
    if (memory != nullptr) memory += packed.back().bytes() / sizeof(float);
  }
  return packed;
}

absl::StatusOr<std::shared_ptr<PackedGroups>> PackGroups(const KernelContext& context,
                                                         const simd::Conv2dShape& group,
                                                         int64_t groups) {
  const ir::Attribute weights = context.constant(1);
  const bool channels_first = context.attrs_of<ir::fused::Conv2d>().x_channels_first;
  const std::string key =
      "native conv group=" + std::to_string(groups) + (channels_first ? " nchw" : "");
  return context.packed().Get<PackedGroups>(
      key, {weights}, [&]() -> absl::StatusOr<std::shared_ptr<PackedGroups>> {
        return std::make_shared<PackedGroups>(PackEachGroup(
            SourceOf(weights), static_cast<int64_t>(weights.dense_type().NumElements()), group,
            groups, channels_first, context.pool()));
      });
}

// Group g reads and writes its channels among those of the others. Groups run next to each other
// where there are enough for all threads, else each on all of them.
void RunGroups(const simd::Conv2dArguments& whole, const PackedGroups& weights, ThreadPool& pool) {
  const auto groups = static_cast<int64_t>(weights.size());
  const auto run = [&](int64_t g, ThreadPool& threads) {
    simd::Conv2dArguments a = whole;
    a.weights = &weights[g];
    a.x += g * a.shape.in_channels;
    a.y += g * a.shape.out_channels;
    if (a.bias != nullptr) a.bias += g * a.shape.out_channels;
    if (a.residual != nullptr) a.residual += g * a.shape.out_channels;
    simd::Conv2d(a, threads);
  };
  if (groups < 2 * pool.num_threads()) {
    for (int64_t g = 0; g < groups; ++g) run(g, pool);
    return;
  }
  pool.ParallelFor(groups, 1, [&](int64_t begin, int64_t end) {
    ThreadPool this_thread(1);
    for (int64_t g = begin; g < end; ++g) run(g, this_thread);
  });
}

// What a run needs besides its operands.
struct Products {
  simd::Conv2dArguments arguments;  // of a group
  int64_t groups = 1;
  bool gathers = false;       // pixels that the stride does not skip, to scratch memory; then
  simd::Conv2dShape strided;  // is the shape over all pixels
  std::shared_ptr<PackedGroups>
      weights;  // null: packed in every run, to scratch memory behind the pixels

  size_t GatheredBytes() const {
    if (!gathers) return 0;
    const int64_t pixels = strided.batch * strided.out_height() * strided.out_width();
    const auto bytes = static_cast<size_t>(pixels * strided.in_channels) * sizeof(float);
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  size_t PackedBytes() const {
    const simd::Conv2dShape& s = arguments.shape;
    const int64_t k = s.kernel_height * s.kernel_width * s.in_channels;
    return static_cast<size_t>(groups * simd::PackedMatrix::BytesOf(k, s.out_channels));
  }
};

void RunProducts(const Products& p, const KernelArgs& args) {
  simd::Conv2dArguments a = p.arguments;
  a.x = args.input<float>(0);
  a.x_stride = args.InputStrideOr(0, a.x_stride);
  if (p.gathers) {
    auto* pixels = reinterpret_cast<float*>(args.scratch);
    simd::GatherPixels(p.strided, a.x, pixels, *args.pool);
    a.x = pixels;
  }
  a.bias = args.input<float>(2);
  a.residual = args.input<float>(3);
  a.y = args.output<float>(0);
  a.y_stride = args.ResultStrideOr(a.y_stride);
  if (p.weights != nullptr) return RunGroups(a, *p.weights, *args.pool);
  auto* const memory = reinterpret_cast<float*>(args.scratch + p.GatheredBytes());
  const PackedGroups packed =
      PackEachGroup(args.input<float>(1), NumElements(args.inputs[1].dims), a.shape, p.groups,
                    a.x_channels_first, *args.pool, memory);
  RunGroups(a, packed, *args.pool);
}

Made MakeProducts(const KernelContext& context, const simd::Conv2dShape& shape, int64_t groups) {
  Products p = {.groups = groups};
  simd::Conv2dArguments& arguments = p.arguments;
  arguments.shape = shape;
  arguments.shape.in_channels /= groups;
  arguments.shape.out_channels /= groups;
  arguments.x_stride = shape.in_channels;
  arguments.y_stride = arguments.residual_stride = shape.out_channels;
  arguments.activation = ActivationOf(context);
  // Then one product over all pixels is left, whose tiles need not end where a row does.
  arguments.x_channels_first = context.attrs_of<ir::fused::Conv2d>().x_channels_first;
  p.gathers = groups == 1 && !arguments.x_channels_first && simd::SkipsPixels(shape);
  p.strided = arguments.shape;
  if (p.gathers) arguments.shape = simd::WithoutSkippedPixels(p.strided);
  NativeOptions options = {
      .may_overwrite = 1u << 3,
      .scratch_bytes = p.GatheredBytes(),
      .spaces_rows = true,
      .spaced_rows = {p.gathers || arguments.x_channels_first ? NativeOptions::RowLimits()
                                                              : RowsOfPixels(shape)}};
  if (context.constant(1)) {
    options.packed = 1u << 1;
    WEFT_ASSIGN_OR_RETURN(p.weights, PackGroups(context, arguments.shape, groups));
  } else {
    options.scratch_bytes += p.PackedBytes();
  }
  return MakeNative("convolution", options, [p](const KernelArgs& args) { RunProducts(p, args); });
}

Made MakeConv2d(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const simd::Conv2dShape shape, MakeShape(context));
  const int64_t groups = context.attrs_of<ir::fused::Conv2d>().group;
  const bool channels_first = context.attrs_of<ir::fused::Conv2d>().x_channels_first;
  if (channels_first && groups > 1) return context.Unsupported("groups of an image in NCHW");
  const bool depthwise =
      !channels_first && groups == shape.in_channels && groups == shape.out_channels;
  return depthwise ? MakeDepthwise(context, shape) : MakeProducts(context, shape, groups);
}
const RegisterKernel<ir::fused::Conv2d> kConv2d("native", &MakeConv2d);

// --- Winograd's products ----------------------------------------------------------

// The weights of the definition too, for outputs that are not finite.
struct WinogradWeights {
  std::shared_ptr<PackedGroups> direct;
  std::shared_ptr<simd::PackedMatrix> squares;
};

absl::StatusOr<WinogradWeights> PackSquares(const KernelContext& context,
                                            const simd::Conv2dShape& shape) {
  WinogradWeights weights;
  WEFT_ASSIGN_OR_RETURN(weights.direct, PackGroups(context, shape, 1));
  const ir::Attribute constant = context.constant(1);
  WEFT_ASSIGN_OR_RETURN(
      weights.squares,
      context.packed().Get<simd::PackedMatrix>(
          "winograd", {constant}, [&]() -> absl::StatusOr<std::shared_ptr<simd::PackedMatrix>> {
            return std::make_shared<simd::PackedMatrix>(
                simd::PackWinogradWeights(SourceOf(constant), shape, context.pool()));
          }));
  return weights;
}

Made MakeWinograd(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(const simd::Conv2dShape shape, MakeShape(context));
  const auto attrs = context.attrs_of<ir::fused::Conv2d>();
  if (!context.constant(1) || attrs.group != 1 || attrs.x_channels_first ||
      !simd::ConvolvesFasterByWinograd(shape, CurrentIsa()))
    return context.Unsupported("convolutions for which it is not faster");
  WEFT_ASSIGN_OR_RETURN(const WinogradWeights weights, PackSquares(context, shape));
  return MakeNative("convolution by Winograd",
                    {.may_overwrite = 1u << 3,
                     .packed = 1u << 1,
                     .spaces_rows = true,
                     .spaced_rows = {RowsOfPixels(shape)}},
                    [shape, weights, activation = ActivationOf(context)](const KernelArgs& args) {
                      simd::Conv2d({.shape = shape,
                                    .x = args.input<float>(0),
                                    .weights = &weights.direct->front(),
                                    .winograd_weights = weights.squares.get(),
                                    .bias = args.input<float>(2),
                                    .residual = args.input<float>(3),
                                    .y = args.output<float>(0),
                                    .x_stride = args.InputStrideOr(0, 0),
                                    .y_stride = args.result_stride,
                                    .activation = activation},
                                   *args.pool);
                    });
}
const RegisterKernel<ir::fused::Conv2d> kWinograd("winograd", &MakeWinograd);

// --- NCHW -------------------------------------------------------------------------

Made MakeConv1d(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::ops::Conv>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  // Where the type of x says no rank, nothing has compared these.
  if (x.size() != 3 || y.size() != 3) return context.Unsupported("a window of another rank than x");
  WEFT_ASSIGN_OR_RETURN(const Window window, MakeWindow(attrs, x, w.subspan(2), y));
  std::vector<std::string> providers(kBodyProviders);
  providers.emplace_back("reference");  // for views, which run nothing
  return MakeFromBody(
      context, "convolution between transposes", std::move(providers),
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        std::vector<ir::Value> inputs(operands.begin(), operands.end());
        const ir::Value rows = b.Make<ir::ops::Transpose>({operands[0]}, {.perm = {0, 2, 1}});
        inputs[0] = b.Make<ir::ops::Reshape>({rows, b.ConstantInts({x[0], 1, x[2], x[1]})});
        const ir::Ints kernel = {w[0], w[1], 1, w[2]};
        inputs[1] = context.constant(1)
                        ? b.Constant(context.packed().WithDims(context.constant(1), kernel))
                        : b.Make<ir::ops::Reshape>({operands[1], b.ConstantInts(kernel)});
        const ir::Value image =
            b.Make<ir::fused::Conv2d>(inputs, {.strides = LastTwo(window.stride),
                                               .pads = Pads(window),
                                               .dilations = LastTwo(window.dilation),
                                               .group = attrs.group});
        const ir::Value line =
            b.Make<ir::ops::Reshape>({image, b.ConstantInts({y[0], y[2], y[1]})});
        return std::vector<ir::Value>{b.Make<ir::ops::Transpose>({line}, {.perm = {0, 2, 1}})};
      });
}

Made MakeConv(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ir::ops::Conv>();
  if (context.dims(1).size() == 3) return MakeConv1d(context);
  if (context.dims(1).size() == 5) return MakeConv3d(context);
  if (context.dims(1).size() != 4) return context.Unsupported("more than three spatial dimensions");
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow2d(context, attrs, context.dims(1).subspan(2)));
  return MakeFromBody(context, "convolution between transposes", kBodyProviders,
                      [&](ir::Builder& b, std::span<const ir::Value> operands) {
                        std::vector<ir::Value> inputs(operands.begin(), operands.end());
                        inputs[0] = ToNhwc(b, operands[0]);
                        return std::vector<ir::Value>{ToNchw(
                            b, b.Make<ir::fused::Conv2d>(inputs, {.strides = LastTwo(w.stride),
                                                                  .pads = Pads(w),
                                                                  .dilations = LastTwo(w.dilation),
                                                                  .group = attrs.group}))};
                      });
}
const RegisterKernel<ir::ops::Conv> kConv("native", &MakeConv);

}  // namespace
}  // namespace weft::kernels::native
