// fused.conv2d without groups and with constant weights: an indirect matrix product over NHWC.
// Grouped and depthwise convolutions are XNNPACK's.
#include "kernels/native/simd/conv2d.h"

#include <cstring>
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "kernels/native/activation.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

absl::StatusOr<std::shared_ptr<simd::PackedMatrix>> PackWeights(const KernelContext& context,
                                                                const simd::Conv2dShape& shape) {
  const ir::Attribute weights = context.constant(1);
  const std::string key = "native conv w=" + std::to_string(weights.id());
  return context.packed().Get<simd::PackedMatrix>(
      key, [&]() -> absl::StatusOr<std::shared_ptr<simd::PackedMatrix>> {
        const std::vector<float> floats = ConstantFloats(weights);
        return std::make_shared<simd::PackedMatrix>(
            simd::PackConv2dWeights(floats.data(), shape, context.pool()));
      });
}

absl::StatusOr<simd::Conv2dShape> MakeShape(const KernelContext& context) {
  const auto attrs = context.attrs_of<ir::fused::Conv2d>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1);
  if (attrs.group != 1) return context.Unsupported("groups");
  const simd::Conv2dShape shape = {.batch = x[0],
                                   .in_height = x[1],
                                   .in_width = x[2],
                                   .in_channels = x[3],
                                   .out_channels = w[0],
                                   .kernel_height = w[2],
                                   .kernel_width = w[3],
                                   .stride_height = attrs.strides[0],
                                   .stride_width = attrs.strides[1],
                                   .dilation_height = attrs.dilations[0],
                                   .dilation_width = attrs.dilations[1],
                                   .pad_top = attrs.pads[0],
                                   .pad_left = attrs.pads[1],
                                   .pad_bottom = attrs.pads[2],
                                   .pad_right = attrs.pads[3]};
  const std::span<const int64_t> y = context.result_dims(0);
  if (w[1] != x[3] || y[1] != shape.out_height() || y[2] != shape.out_width() || y[3] != w[0])
    return context.InvalidArgument("the operands and the result do not fit together");
  return shape;
}

Made MakeConv2d(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (!context.constant(1)) return context.Unsupported("weights that are not constant");
  WEFT_ASSIGN_OR_RETURN(const simd::Conv2dShape shape, MakeShape(context));
  if (context.HasInput(2) && context.input_type(2).NumElements() != shape.out_channels)
    return context.InvalidArgument("the bias has not one element per channel");
  if (context.HasInput(3) && context.input_type(3) != context.result_type(0))
    return context.Unsupported("a residual that is broadcast");
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<simd::PackedMatrix> weights,
                        PackWeights(context, shape));
  const auto attrs = context.attrs_of<ir::fused::Conv2d>();
  return MakeNative(
      "convolution", {.may_overwrite = 1u << 3},
      [shape, weights, activation = MakeActivation(attrs.activation, attrs.activation_params)](
          const KernelArgs& args) {
        simd::Conv2d({.shape = shape,
                      .x = args.input<float>(0),
                      .weights = weights.get(),
                      .bias = args.input<float>(2),
                      .residual = args.input<float>(3),
                      .y = args.output<float>(0),
                      .activation = activation},
                     *args.pool);
      });
}
const RegisterKernel<ir::fused::Conv2d> kConv2d("native", &MakeConv2d);

}  // namespace
}  // namespace weft::kernels::native
