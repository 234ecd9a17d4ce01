// fused.qconv2d, fused.qlinear and onnx.MatMulInteger with constant weights, on products of bytes that are
// exact in 32 bits.
#include <optional>
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/nhwc.h"
#include "kernels/native/quantized.h"
#include "kernels/native/simd/int8/conv2d.h"

namespace weft::kernels::native {
namespace {

namespace fused = ir::fused;
namespace ops = ir::ops;
using ir::DataType;

int ByteAt(const std::byte* data, DataType dtype, int64_t i) {
  const auto byte = static_cast<uint8_t>(data[i]);
  return dtype == DataType::kI8 ? static_cast<int8_t>(byte) : byte;
}

// A zero point of weights for each of their outputs, or one, or none.
std::vector<int> ZerosOf(ir::Attribute dense) {
  std::vector<int> zeros(dense ? dense.bytes().size() : 0);
  for (size_t i = 0; i < zeros.size(); ++i)
    zeros[i] = ByteAt(dense.bytes().data(), dense.dense_type().dtype(), static_cast<int64_t>(i));
  return zeros;
}

// What packed weights depend on: operands `w` and `zero`, and whether x is signed.
std::string WeightsKey(const KernelContext& context, size_t w, size_t zero) {
  return "native int8 w=" + std::to_string(context.constant(w).id()) +
         " zero=" + (context.constant(zero) ? std::to_string(context.constant(zero).id()) : "-") +
         (context.input_type(0).dtype() == DataType::kI8 ? " i8" : " u8");
}

// Weights [k, n], or [n, k] if transposed.
absl::StatusOr<std::shared_ptr<simd::Int8Matrix>> PackMatrix(const KernelContext& context, size_t w,
                                                             size_t zero, bool transposed) {
  const ir::Attribute weights = context.constant(w);
  const std::span<const int64_t> dims = weights.dense_type().dims();
  const std::vector<int> zeros = ZerosOf(context.constant(zero));
  return context.packed().Get<simd::Int8Matrix>(
      WeightsKey(context, w, zero) + (transposed ? " transposed" : ""),
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
  return MakeNative("int8 gemm", {.reads_past_end = true}, [=](const KernelArgs& args) {
    simd::Int8Gemm({.m = m,
                    .a = args.inputs[0].data,
                    .a_stride = k,
                    .a_zero = args.HasInput(2) ? ByteAt(args.inputs[2].data, dtype, 0) : 0,
                    .b = weights.get(),
                    .result = {.c = args.output<int32_t>(0), .c_stride = n}},
                   *args.pool);
  });
}
const RegisterKernel<ops::MatMulInteger> kMatMulInteger("native", &MakeMatMulInteger);

// --- rounded to 8 bits ------------------------------------------------------------------

enum Operand : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

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
  return MakeNative("int8 gemm", {.reads_past_end = true}, [=](const KernelArgs& args) {
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

simd::Conv2dShape ShapeOf(const KernelContext& context) {
  return Conv2dShapeOf(context.attrs_of<fused::QConv2d>(), context.dims(kX), context.dims(kW));
}

// Of outputs [first, first + count).
simd::Int8ConvWeights WeightsOf(const KernelContext& context, const std::vector<int>& zeros,
                                int64_t first, int64_t count) {
  const ir::Attribute w = context.constant(kW);
  const std::span<const int> all(zeros);
  const std::span<const int64_t> dims = w.dense_type().dims();
  return {.data = w.bytes().data() + first * dims[1] * dims[2] * dims[3],
          .is_signed = w.dense_type().dtype() == DataType::kI8,
          .x_signed = context.input_type(kX).dtype() == DataType::kI8,
          .zeros = zeros.size() <= 1 ? all : all.subspan(first, count)};
}

Made MakeDepthwise(const KernelContext& context, const simd::Conv2dShape& shape,
                   const Rounding& rounding) {
  using Weights = simd::Int8DepthwiseWeights;
  const std::vector<int> zeros = ZerosOf(context.constant(kWZero));
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<Weights> weights,
                        context.packed().Get<Weights>(
                            WeightsKey(context, kW, kWZero) + " depthwise",
                            [&]() -> absl::StatusOr<std::shared_ptr<Weights>> {
                              return std::make_shared<Weights>(simd::PackInt8DepthwiseWeights(
                                  WeightsOf(context, zeros, 0, shape.out_channels), shape));
                            }));
  const bool x_signed = context.input_type(kX).dtype() == DataType::kI8;
  return MakeNative("int8 depthwise", {.reads_past_end = true}, [=](const KernelArgs& args) {
    simd::Int8Depthwise({.shape = shape,
                         .x = args.inputs[kX].data,
                         .x_signed = x_signed,
                         .x_zero = rounding.x_zero,
                         .weights = weights.get(),
                         .bias = rounding.bias_or_null(),
                         .result = rounding.To(args)},
                        *args.pool);
  });
}

using PackedGroups = std::vector<simd::Int8Matrix>;

absl::StatusOr<std::shared_ptr<PackedGroups>> PackGroups(const KernelContext& context,
                                                         const simd::Conv2dShape& group,
                                                         int64_t groups) {
  return context.packed().Get<PackedGroups>(
      WeightsKey(context, kW, kWZero) + " group=" + std::to_string(groups),
      [&]() -> absl::StatusOr<std::shared_ptr<PackedGroups>> {
        const std::vector<int> zeros = ZerosOf(context.constant(kWZero));
        auto packed = std::make_shared<PackedGroups>();
        for (int64_t g = 0; g < groups; ++g)
          packed->push_back(simd::PackInt8Conv2dWeights(
              WeightsOf(context, zeros, g * group.out_channels, group.out_channels), group,
              context.pool()));
        return packed;
      });
}

// Group g reads and writes its channels among those of the others.
void RunGroups(const KernelArgs& args, const simd::Conv2dShape& group, const Rounding& rounding,
               const PackedGroups& weights) {
  const auto groups = static_cast<int64_t>(weights.size());
  for (int64_t g = 0; g < groups; ++g) {
    simd::Int8Result result = rounding.To(args);
    const int64_t first = g * group.out_channels;
    result.c = args.outputs[0].data + first;
    result.scales += first;
    simd::Int8Conv2d({.shape = group,
                      .x = args.inputs[kX].data + g * group.in_channels,
                      .x_stride = groups * group.in_channels,
                      .x_zero = rounding.x_zero,
                      .weights = &weights[static_cast<size_t>(g)],
                      .bias = rounding.bias.empty() ? nullptr : rounding.bias.data() + first,
                      .result = result},
                     *args.pool);
  }
}

Made MakeQConv2d(const KernelContext& context) {
  const auto attrs = context.attrs_of<fused::QConv2d>();
  const std::span<const int64_t> x = context.dims(kX), w = context.dims(kW);
  if (attrs.group < 1 || w[0] % attrs.group != 0 || w[1] * attrs.group != x[3])
    return context.InvalidArgument("channels and groups do not fit");
  if (!context.constant(kW)) return context.Unsupported("weights that are not constant");
  simd::Conv2dShape shape = ShapeOf(context);
  WEFT_ASSIGN_OR_RETURN(const Rounding rounding, MakeRounding(context, w[0], attrs.clamp));
  if (attrs.group > 1 && attrs.group == x[3] && attrs.group == w[0])
    return MakeDepthwise(context, shape, rounding);
  shape.in_channels /= attrs.group;
  shape.out_channels /= attrs.group;
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<PackedGroups> weights,
                        PackGroups(context, shape, attrs.group));
  return MakeNative("int8 convolution", {.reads_past_end = true},
                    [=](const KernelArgs& args) { RunGroups(args, shape, rounding, *weights); });
}
const RegisterKernel<fused::QConv2d> kQConv2d("native", &MakeQConv2d);

}  // namespace
}  // namespace weft::kernels::native
