// The NCHW convolutions and pools of the onnx dialect: transposes around the NHWC kernel of the
// fused op. Layout rules (passes) let neighbours share transposes; this is for programs they have
// not seen.
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/runtime/decomposed.h"
#include "kernels/window.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;

const std::vector<std::string> kProviders = {"native", "xnnpack"};

// The two last of Window's axes.
ir::Ints LastTwo(const int64_t (&values)[Window::kSpatial]) { return {values[1], values[2]}; }
ir::Ints Pads(const Window& w) {
  return {w.pad_before[1], w.pad_before[2], w.pad_after[1], w.pad_after[2]};
}

// A window over NCHW with two spatial dimensions.
template <class Attrs>
absl::StatusOr<Window> MakeWindow2d(const KernelContext& context, const Attrs& attrs,
                                    std::span<const int64_t> kernel) {
  if (context.dims(0).size() != 4) return context.Unsupported("other than two spatial dimensions");
  if (context.num_results() > 1) return context.Unsupported("a second result");
  return MakeWindow(attrs, context.dims(0), kernel, context.result_dims(0));
}

ir::Value ToNhwc(ir::Builder& b, ir::Value x) {
  return b.Make<ops::Transpose>({x}, {.perm = ir::Ints{0, 2, 3, 1}});
}
ir::Value ToNchw(ir::Builder& b, ir::Value x) {
  return b.Make<ops::Transpose>({x}, {.perm = ir::Ints{0, 3, 1, 2}});
}

Made MakeConv(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::Conv>();
  if (context.dims(1).size() != 4) return context.Unsupported("other than two spatial dimensions");
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow2d(context, attrs, context.dims(1).subspan(2)));
  return MakeFromBody(context, "convolution between transposes", kProviders,
                      [&](ir::Builder& b, std::span<const ir::Value> operands) {
                        std::vector<ir::Value> inputs(operands.begin(), operands.end());
                        inputs[0] = ToNhwc(b, operands[0]);
                        return std::vector<ir::Value>{ToNchw(
                            b, b.Make<fused::Conv2d>(inputs, {.strides = LastTwo(w.stride),
                                                              .pads = Pads(w),
                                                              .dilations = LastTwo(w.dilation),
                                                              .group = attrs.group}))};
                      });
}
const RegisterKernel<ops::Conv> kConv("native", &MakeConv);

Made MakeMaxPool(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::MaxPool>();
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow2d(context, attrs, attrs.kernel_shape));
  return MakeFromBody(context, "max pooling between transposes", kProviders,
                      [&](ir::Builder& b, std::span<const ir::Value> operands) {
                        return std::vector<ir::Value>{ToNchw(
                            b, b.Make<fused::MaxPool2d>({ToNhwc(b, operands[0])},
                                                        {.kernel_shape = LastTwo(w.kernel),
                                                         .strides = LastTwo(w.stride),
                                                         .pads = Pads(w),
                                                         .dilations = LastTwo(w.dilation),
                                                         .ceil_mode = attrs.ceil_mode != 0}))};
                      });
}
const RegisterKernel<ops::MaxPool> kMaxPool("native", &MakeMaxPool);

Made MakeAveragePool(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::AveragePool>();
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow2d(context, attrs, attrs.kernel_shape));
  return MakeFromBody(
      context, "average pooling between transposes", kProviders,
      [&](ir::Builder& b, std::span<const ir::Value> operands) {
        return std::vector<ir::Value>{ToNchw(
            b, b.Make<fused::AveragePool2d>({ToNhwc(b, operands[0])},
                                            {.kernel_shape = LastTwo(w.kernel),
                                             .strides = LastTwo(w.stride),
                                             .pads = Pads(w),
                                             .ceil_mode = attrs.ceil_mode != 0,
                                             .count_include_pad = attrs.count_include_pad != 0}))};
      });
}
const RegisterKernel<ops::AveragePool> kAveragePool("native", &MakeAveragePool);

}  // namespace
}  // namespace weft::kernels::native
