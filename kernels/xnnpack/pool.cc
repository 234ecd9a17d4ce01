// Pools of NHWC tensors.
#include <algorithm>
#include <array>

#include "ir/dialects/fused.h"
#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {
namespace {

namespace fused = ir::fused;

// Windows on height and width. XNNPACK computes the result's size by rounding down, so what
// ceil_mode adds becomes padding behind.
struct Windows {
  uint32_t kernel[2], stride[2], dilation[2], before[2], after[2];
};

absl::StatusOr<Windows> MakeWindows(const KernelContext& context, const ir::Ints& kernel,
                                    const ir::Ints& strides, const ir::Ints& pads,
                                    const ir::Ints& dilations) {
  Windows w;
  for (size_t i : {0, 1}) {
    const int64_t in = context.dims(0)[i + 1], out = context.result_dims(0)[i + 1];
    const int64_t extent = (kernel[i] - 1) * dilations[i] + 1;
    const int64_t last = (out - 1) * strides[i] - pads[i];  // where the last window starts
    if (kernel[i] < 1 || strides[i] < 1 || dilations[i] < 1 || pads[i] < 0 || last >= in ||
        pads[i] >= extent)
      return context.Unsupported("a window that lies in the padding");
    w.kernel[i] = static_cast<uint32_t>(kernel[i]);
    w.stride[i] = static_cast<uint32_t>(strides[i]);
    w.dilation[i] = static_cast<uint32_t>(dilations[i]);
    w.before[i] = static_cast<uint32_t>(pads[i]);
    w.after[i] = static_cast<uint32_t>(std::max<int64_t>(last + extent - in, 0));
  }
  return w;
}

Made MakeMaxPool2d(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<fused::MaxPool2d>();
  WEFT_ASSIGN_OR_RETURN(const Windows w, MakeWindows(context, attrs.kernel_shape, attrs.strides,
                                                     attrs.pads, attrs.dilations));
  const std::span<const int64_t> x = context.dims(0);
  const std::array window = {w.before[0], w.after[1],  w.after[0],  w.before[1],   w.kernel[0],
                             w.kernel[1], w.stride[0], w.stride[1], w.dilation[0], w.dilation[1]};
  WEFT_ASSIGN_OR_RETURN(SharedOperator op,
                        CreateOperator("max pooling", [&](xnn_operator_t* handle) {
                          return CreatePool(&xnn_create_max_pooling2d_nhwc_f32, handle, x[3],
                                            window, -kInfinity, kInfinity, 0);
                        }));
  return MakeXnn("xnnpack max pooling", std::move(op),
                 PoolSizes(WEFT_XNN(max_pooling2d_nhwc_f32), x[0], x[1], x[2], x[3]));
}
const RegisterKernel<fused::MaxPool2d> kMaxPool2d("xnnpack", &MakeMaxPool2d, kHidesNan);

// XNNPACK divides by the number of elements inside the input.
Made MakeAveragePool2d(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<fused::AveragePool2d>();
  const bool padded =
      std::any_of(attrs.pads.begin(), attrs.pads.end(), [](int64_t pad) { return pad != 0; });
  if (attrs.count_include_pad && padded) return context.Unsupported("count_include_pad");
  WEFT_ASSIGN_OR_RETURN(const Windows w, MakeWindows(context, attrs.kernel_shape, attrs.strides,
                                                     attrs.pads, ir::Ints{1, 1}));
  const std::span<const int64_t> x = context.dims(0);
  const std::array window = {w.before[0], w.after[1],  w.after[0],  w.before[1],
                             w.kernel[0], w.kernel[1], w.stride[0], w.stride[1]};
  WEFT_ASSIGN_OR_RETURN(SharedOperator op,
                        CreateOperator("average pooling", [&](xnn_operator_t* handle) {
                          return CreatePool(&xnn_create_average_pooling2d_nhwc_f32, handle, x[3],
                                            window, -kInfinity, kInfinity, 0);
                        }));
  return MakeXnn("xnnpack average pooling", std::move(op),
                 PoolSizes(WEFT_XNN(average_pooling2d_nhwc_f32), x[0], x[1], x[2], x[3]));
}
const RegisterKernel<fused::AveragePool2d> kAveragePool2d("xnnpack", &MakeAveragePool2d, kHidesNan);

Made MakeGlobalAveragePool2d(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> x = context.dims(0);
  WEFT_ASSIGN_OR_RETURN(SharedOperator op,
                        CreateOperator("global average pooling", [&](xnn_operator_t* handle) {
                          return CreateMeanOfPixels(handle, x[3]);
                        }));
  return MakeXnn("xnnpack global average pooling", std::move(op),
                 MeanOfPixelsSizes(x[0], x[1] * x[2], x[3]));
}
const RegisterKernel<fused::GlobalAveragePool2d> kGlobalAveragePool2d("xnnpack",
                                                                      &MakeGlobalAveragePool2d,
                                                                      kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack
