// fused.conv2d with constant weights, as XNNPACK's NHWC convolution (which picks GEMM, indirect
// GEMM or depthwise kernels itself).
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "kernels/native/native.h"
#include "kernels/xnnpack/epilogue.h"
#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {
namespace {

// OIHW to the OHWI that XNNPACK packs.
std::vector<float> ToOhwi(ir::Attribute weights) {
  const std::span<const int64_t> dims = weights.dense_type().dims();
  const int64_t inputs = dims[1], size = dims[2] * dims[3];
  const std::vector<float> from = native::ConstantFloats(weights);
  std::vector<float> to(from.size());
  for (int64_t o = 0; o < dims[0]; ++o)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t k = 0; k < size; ++k)
        to[(o * size + k) * inputs + i] = from[(o * inputs + i) * size + k];
  return to;
}

std::string Key(const ir::fused::Conv2d::Attrs<ir::Plain>& attrs, const Epilogue& epilogue) {
  return "xnnpack conv strides=" + ir::ToString(attrs.strides) +
         " pads=" + ir::ToString(attrs.pads) + " dilations=" + ir::ToString(attrs.dilations) +
         " group=" + std::to_string(attrs.group) + epilogue.Key();
}

absl::StatusOr<SharedOperator> MakeOperator(const KernelContext& context,
                                            const ir::fused::Conv2d::Attrs<ir::Plain>& attrs,
                                            const Epilogue& e) {
  const ir::Attribute weights = context.constant(1);
  const std::span<const int64_t> w = context.dims(1);
  const auto at = [](const ir::Ints& list, size_t i) { return static_cast<uint32_t>(list[i]); };
  const auto inputs = static_cast<size_t>(context.dims(0)[3]);
  const auto outputs = static_cast<size_t>(w[0]), group = static_cast<size_t>(attrs.group);
  return context.packed().Get<Operator>(Key(attrs, e), {weights, e.bias_constant()}, [&] {
    const std::vector<float> kernel = ToOhwi(weights);
    return CreateOperator("convolution", [&](xnn_operator_t* op) {
      return CreateWeighted(&xnn_create_convolution2d_nhwc_f32, op, at(attrs.pads, 0),
                            at(attrs.pads, 3), at(attrs.pads, 2), at(attrs.pads, 1), w[2], w[3],
                            at(attrs.strides, 0), at(attrs.strides, 1), at(attrs.dilations, 0),
                            at(attrs.dilations, 1), group, inputs / group, outputs / group, inputs,
                            outputs, kernel.data(), e.bias(), e.min(), e.max(), 0);
    });
  });
}

Made MakeConv2d(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  if (!context.constant(1)) return context.Unsupported("weights that are not constant");
  const auto attrs = context.attrs_of<ir::fused::Conv2d>();
  if (attrs.x_channels_first) return context.Unsupported("an image in NCHW");
  const std::span<const int64_t> x = context.dims(0);
  if (attrs.group < 1 || context.dims(1)[0] % attrs.group != 0 ||
      context.dims(1)[1] * attrs.group != x[3])
    return context.InvalidArgument("channels and groups do not fit");
  WEFT_ASSIGN_OR_RETURN(const Epilogue epilogue,
                        Epilogue::Make(context, 2, 3, attrs.activation, attrs.activation_params));
  WEFT_ASSIGN_OR_RETURN(SharedOperator op, MakeOperator(context, attrs, epilogue));
  return MakeXnn("xnnpack convolution", std::move(op), {.packed = 1u << 1 | 1u << 2},
                 WithSizes(WEFT_XNN(convolution2d_nhwc_f32), x[0], x[1], x[2]),
                 [epilogue](const KernelArgs& args) { epilogue.Finish(args); });
}
const RegisterKernel<ir::fused::Conv2d> kConv2d("xnnpack", &MakeConv2d, kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack
