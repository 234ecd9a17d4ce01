// fused.qconv2d, fused.qlinear, onnx.MatMulInteger and onnx.ConvInteger with constant weights, on products of bytes
// that are exact in 32 bits.
#include <optional>
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/nhwc.h"
#include "kernels/native/quantized/quantized.h"
#include "kernels/native/simd/int8/conv2d.h"
#include "kernels/native/simd/strided_copy.h"
#include "kernels/window.h"

namespace weft::kernels::native {
namespace {

namespace fused = ir::fused;
namespace ops = ir::ops;
using ir::DataType;

int ByteAt(const std::byte* data, DataType dtype, int64_t i) {
  const auto byte = static_cast<uint8_t>(data[i]);
  return dtype == DataType::kI8 ? static_cast<int8_t>(byte) : byte;
}

// A zero point given at run time, or 0.
int ZeroAt(const KernelArgs& args, size_t operand, DataType dtype) {
  return args.HasInput(operand) ? ByteAt(args.inputs[operand].data, dtype, 0) : 0;
}

// A zero point of weights for each of their outputs, or one, or none.
std::vector<int> ZerosOf(ir::Attribute dense) {
  std::vector<int> zeros(dense ? dense.num_bytes() : 0);
  for (size_t i = 0; i < zeros.size(); ++i)
    zeros[i] = ByteAt(dense.bytes().data(), dense.dense_type().dtype(), static_cast<int64_t>(i));
  return zeros;
}

// What packed weights depend on beside the weights and their zero points.
std::string WeightsKey(const KernelContext& context) {
  return std::string("native int8") +
         (context.input_type(0).dtype() == DataType::kI8 ? " i8" : " u8");
}

// Weights [k, n], or [n, k] if transposed.
absl::StatusOr<std::shared_ptr<simd::Int8Matrix>> PackMatrix(const KernelContext& context, size_t w,
                                                             size_t zero, bool transposed) {
  const ir::Attribute weights = context.constant(w);
  const std::span<const int64_t> dims = weights.dense_type().dims();
  const std::vector<int> zeros = ZerosOf(context.constant(zero));
  return context.packed().Get<simd::Int8Matrix>(
      WeightsKey(context) + (transposed ? " transposed" : ""), {weights, context.constant(zero)},
      [&]() -> absl::StatusOr<std::shared_ptr<simd::Int8Matrix>> {
        return std::make_shared<simd::Int8Matrix>(
            simd::Int8Matrix::Pack({.b = weights.bytes().data(),
                                    .row_stride = transposed ? 1 : dims[1],
                                    .column_stride = transposed ? dims[1] : 1,
                                    .k = dims[transposed ? 1 : 0],
                                    .n = dims[transposed ? 0 : 1],
                                    .b_signed = weights.dense_type().dtype() == DataType::kI8,
                                    .a_signed = context.input_type(0).dtype() == DataType::kI8,
                                    .zeros = zeros},
                                   context.pool()));
      });
}

// --- MatMulInteger ----------------------------------------------------------------------

Made MakeMatMulInteger(const KernelContext& context) {
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1);
  if (a.empty() || b.size() != 2 || !context.constant(1))
    return context.Unsupported("other than constant weights of rank 2");
  if (context.HasInput(2) && context.input_type(2).NumElements() != 1)
    return context.Unsupported("a zero point for each row");
  const int64_t k = b[0], n = b[1], m = CountElements(a.first(a.size() - 1));
  if (context.HasInput(3) && (!context.constant(3) || (context.input_type(3).NumElements() != 1 &&
                                                       context.input_type(3).NumElements() != n)))
    return context.Unsupported("zero points of the weights that are not constant");
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<simd::Int8Matrix> weights,
                        PackMatrix(context, 1, 3, false));
  const DataType dtype = context.input_type(0).dtype();
  const NativeOptions options = {.packed = 1u << 1 | 1u << 3, .reads_past_end = true};
  return MakeNative("int8 gemm", options, [=](const KernelArgs& args) {
    simd::Int8Gemm({.m = m,
                    .a = args.inputs[0].data,
                    .a_stride = k,
                    .a_zero = ZeroAt(args, 2, dtype),
                    .b = weights.get(),
                    .result = {.c = args.output<int32_t>(0), .c_stride = n}},
                   *args.pool);
  });
}
const RegisterKernel<ops::MatMulInteger> kMatMulInteger("native", &MakeMatMulInteger);

// --- rounded to 8 bits ------------------------------------------------------------------

enum Operand : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

constexpr NativeOptions kReadsOnlyX = {.packed = ~(1u << kX), .reads_past_end = true};

// What is known of a product before it runs.
struct Rounding {
  int x_zero;
  std::vector<float> scales;  // of the outputs
  std::vector<int32_t> bias;  // or none
  simd::Int8Result result;

  simd::Int8Result To(const KernelArgs& args) const {
    simd::Int8Result to = result;
    to.c = args.outputs[0].data;
    to.scales = scales.data();
    return to;
  }
  const int32_t* bias_or_null() const { return bias.empty() ? nullptr : bias.data(); }
};

absl::StatusOr<Rounding> MakeRounding(const KernelContext& context, int64_t outputs,
                                      const ir::Ints& clamp) {
  for (size_t i = kXScale; i <= kBias; ++i)
    if (context.HasInput(i) && !context.constant(i))
      return context.Unsupported("operand " + std::to_string(i) + ", which is not constant");
  WEFT_ASSIGN_OR_RETURN(const Quantization x, ReadQuantization(context, kXScale, kXZero));
  WEFT_ASSIGN_OR_RETURN(const Quantization y, ReadQuantization(context, kYScale, kYZero));
  const std::vector<float> w = ConstantFloats(context.constant(kWScale));
  Rounding r = {.x_zero = x.zero, .scales = {}, .bias = {}, .result = {}};
  for (int64_t i = 0; i < outputs; ++i)
    r.scales.push_back(static_cast<float>(static_cast<double>(x.scale) *
                                          w[w.size() == 1 ? 0 : static_cast<size_t>(i)] / y.scale));
  if (context.HasInput(kBias)) {
    r.bias.resize(static_cast<size_t>(outputs));
    std::memcpy(r.bias.data(), context.constant(kBias).bytes().data(), r.bias.size() * 4);
  }
  const bool is_signed = context.result_type(0).dtype() == DataType::kI8;
  r.result = {.kind = simd::Int8Result::Kind::kByte,
              .c_stride = outputs,
              .zero = y.zero,
              .low = is_signed ? -128 : 0,
              .high = is_signed ? 127 : 255};
  if (!clamp.empty()) {
    r.result.low = static_cast<int>(clamp[0]);
    r.result.high = static_cast<int>(clamp[1]);
  }
  return r;
}

Made MakeQLinear(const KernelContext& context) {
  const auto attrs = context.attrs_of<fused::QLinear>();
  const std::span<const int64_t> x = context.dims(kX), w = context.dims(kW);
  const int64_t k = w[attrs.transpose_w ? 1 : 0], n = w[attrs.transpose_w ? 0 : 1];
  if (!context.constant(kW)) return context.Unsupported("weights that are not constant");
  if (x.empty() || x.back() != k) return context.InvalidArgument("x and w have different depths");
  WEFT_ASSIGN_OR_RETURN(const Rounding rounding, MakeRounding(context, n, attrs.clamp));
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<simd::Int8Matrix> weights,
                        PackMatrix(context, kW, kWZero, attrs.transpose_w));
  const int64_t m = CountElements(x.first(x.size() - 1));
  return MakeNative("int8 gemm", kReadsOnlyX, [=](const KernelArgs& args) {
    simd::Int8Gemm({.m = m,
                    .a = args.inputs[kX].data,
                    .a_stride = k,
                    .a_zero = rounding.x_zero,
                    .b = weights.get(),
                    .bias = rounding.bias_or_null(),
                    .result = rounding.To(args)},
                   *args.pool);
  });
}
const RegisterKernel<fused::QLinear> kQLinear("native", &MakeQLinear);

// --- convolutions -----------------------------------------------------------------------

// Weights of all groups: those of groups with an input and an output each by themselves.
struct PackedConv {
  simd::Conv2dShape shape;  // of one group; of all, if depthwise
  bool x_signed;
  std::shared_ptr<const std::vector<simd::Int8Matrix>> groups;
  std::shared_ptr<const simd::Int8DepthwiseWeights> depthwise;  // or null

  std::string_view name() const { return depthwise ? "int8 depthwise" : "int8 convolution"; }
};

// Operands `w` and `zero`. `shape` of all groups.
absl::StatusOr<PackedConv> PackConv(const KernelContext& context, simd::Conv2dShape shape,
                                    int64_t num_groups, size_t w, size_t zero) {
  using Groups = std::vector<simd::Int8Matrix>;
  using Depthwise = simd::Int8DepthwiseWeights;
  const ir::Attribute constant = context.constant(w);
  if (!constant) return context.Unsupported("weights that are not constant");
  const ir::Type type = constant.dense_type();
  if (num_groups < 1 || shape.out_channels % num_groups != 0 ||
      type.dim(1) * num_groups != shape.in_channels)
    return context.InvalidArgument("channels and groups do not fit");
  const bool x_signed = context.input_type(0).dtype() == DataType::kI8;
  const std::vector<int> zeros = ZerosOf(context.constant(zero));
  // Of outputs [first, first + count).
  const auto weights = [&](int64_t first, int64_t count) {
    const std::span<const int> all(zeros);
    return simd::Int8ConvWeights{
        .data = constant.bytes().data() + first * (type.NumElements() / shape.out_channels),
        .is_signed = type.dtype() == DataType::kI8,
        .x_signed = x_signed,
        .zeros = zeros.size() <= 1 ? all : all.subspan(first, count)};
  };
  const std::string key = WeightsKey(context);
  const std::vector<ir::Attribute> constants = {constant, context.constant(zero)};
  PackedConv packed = {shape, x_signed, nullptr, nullptr};
  if (num_groups > 1 && num_groups == shape.in_channels && num_groups == shape.out_channels) {
    const auto pack = [&]() -> absl::StatusOr<std::shared_ptr<Depthwise>> {
      return std::make_shared<Depthwise>(
          simd::PackInt8DepthwiseWeights(weights(0, num_groups), shape));
    };
    WEFT_ASSIGN_OR_RETURN(packed.depthwise,
                          context.packed().Get<Depthwise>(key + " depthwise", constants, pack));
    return packed;
  }
  packed.shape.in_channels /= num_groups;
  packed.shape.out_channels /= num_groups;
  const auto pack = [&]() -> absl::StatusOr<std::shared_ptr<Groups>> {
    auto groups = std::make_shared<Groups>();
    const int64_t outputs = packed.shape.out_channels;
    for (int64_t g = 0; g < num_groups; ++g)
      groups->push_back(
          simd::PackInt8Conv2dWeights(weights(g * outputs, outputs), packed.shape, context.pool()));
    return groups;
  };
  WEFT_ASSIGN_OR_RETURN(
      packed.groups,
      context.packed().Get<Groups>(key + " group=" + std::to_string(num_groups), constants, pack));
  return packed;
}

// On pixels x [batch, in_height, in_width, channels]. Group g reads and writes its channels among those of the others.
void RunConv(const PackedConv& conv, const std::byte* x, int x_zero, const int32_t* bias,
             const simd::Int8Result& result, ThreadPool& pool) {
  if (conv.depthwise != nullptr) {
    return simd::Int8Depthwise({.shape = conv.shape,
                                .x = x,
                                .x_signed = conv.x_signed,
                                .x_zero = x_zero,
                                .weights = conv.depthwise.get(),
                                .bias = bias,
                                .result = result},
                               pool);
  }
  const auto num_groups = static_cast<int64_t>(conv.groups->size());
  for (int64_t g = 0; g < num_groups; ++g) {
    const int64_t first = g * conv.shape.out_channels;
    simd::Int8Result of_group = result;
    of_group.c = static_cast<std::byte*>(result.c) + first * result.element_bytes();
    if (result.scales != nullptr) of_group.scales += first;
    simd::Int8Conv2d({.shape = conv.shape,
                      .x = x + g * conv.shape.in_channels,
                      .x_stride = num_groups * conv.shape.in_channels,
                      .x_zero = x_zero,
                      .weights = &(*conv.groups)[static_cast<size_t>(g)],
                      .bias = bias == nullptr ? nullptr : bias + first,
                      .result = of_group},
                     pool);
  }
}

Made MakeQConv2d(const KernelContext& context) {
  const auto attrs = context.attrs_of<fused::QConv2d>();
  const simd::Conv2dShape shape = Conv2dShapeOf(attrs, context.dims(kX), context.dims(kW));
  WEFT_ASSIGN_OR_RETURN(const PackedConv conv, PackConv(context, shape, attrs.group, kW, kWZero));
  WEFT_ASSIGN_OR_RETURN(const Rounding rounding,
                        MakeRounding(context, shape.out_channels, attrs.clamp));
  return MakeNative(conv.name(), kReadsOnlyX, [=](const KernelArgs& args) {
    RunConv(conv, args.inputs[kX].data, rounding.x_zero, rounding.bias_or_null(), rounding.To(args),
            *args.pool);
  });
}
const RegisterKernel<fused::QConv2d> kQConv2d("native", &MakeQConv2d);

// One or two spatial dimensions, between transposes.
Made MakeConvInteger(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::ConvInteger>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1),
                                 y = context.result_dims(0);
  if (x.size() > 4) return context.Unsupported("more than two spatial dimensions");
  if (context.HasInput(3) && !context.constant(3))
    return context.Unsupported("zero points of the weights that are not constant");
  WEFT_ASSIGN_OR_RETURN(const Window window, MakeWindow(attrs, x, w.subspan(2), y));
  const fused::QConv2d::Attrs<ir::Plain> nhwc = {.strides = LastTwo(window.stride),
                                                 .pads = Pads(window),
                                                 .dilations = LastTwo(window.dilation)};
  const simd::Conv2dShape shape =
      Conv2dShapeOf(nhwc, Dims{x[0], window.in[1], window.in[2], x[1]},
                    Dims{w[0], w[1], window.kernel[1], window.kernel[2]});
  if (shape.out_height() != window.out[1] || shape.out_width() != window.out[2])
    return context.InvalidArgument("the operands and the result do not fit together");
  WEFT_ASSIGN_OR_RETURN(const PackedConv conv, PackConv(context, shape, attrs.group, 1, 3));
  const DataType dtype = context.input_type(0).dtype();
  const int64_t in_pixels = window.InSize(), out_pixels = window.OutSize();
  const int64_t sums_bytes = x[0] * out_pixels * w[0] * static_cast<int64_t>(sizeof(int32_t));
  const int64_t image_bytes = x[0] * in_pixels * x[1] + simd::kInt8ReadsPast;
  return MakeNative(
      conv.name(),
      {.packed = 1u << 1 | 1u << 3, .scratch_bytes = static_cast<size_t>(sums_bytes + image_bytes)},
      [=](const KernelArgs& args) {
        const Dims to_last = {0, 2, 1};
        std::byte *sums = args.scratch, *image = args.scratch + sums_bytes;
        simd::Transpose(args.inputs[0].data, Dims{shape.batch, shape.in_channels, in_pixels},
                        to_last, image, 1, *args.pool);
        RunConv(conv, image, ZeroAt(args, 2, dtype), nullptr,
                {.c = sums, .c_stride = shape.out_channels}, *args.pool);
        simd::Transpose(sums, Dims{shape.batch, out_pixels, shape.out_channels}, to_last,
                        args.output<int32_t>(0), sizeof(int32_t), *args.pool);
      });
}
const RegisterKernel<ops::ConvInteger> kConvInteger("native", &MakeConvInteger);

}  // namespace
}  // namespace weft::kernels::native
