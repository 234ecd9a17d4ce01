// Pools.
#include <algorithm>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"
#include "kernels/native/nhwc.h"
#include "kernels/native/pooling/channel_pool.h"
#include "kernels/native/quantized/quantized.h"
#include "kernels/native/reduce.h"
#include "kernels/native/simd/pool2d.h"
#include "kernels/native/simd/pooling/taps.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
namespace fused = ir::fused;

Made MakePool2d(const KernelContext& context, simd::Pool2dArguments arguments,
                const ir::Ints& kernel, const ir::Ints& strides, const ir::Ints& pads,
                const ir::Ints& dilations) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> x = context.dims(0), y = context.result_dims(0);
  arguments.batch = x[0];
  arguments.channels = x[3];
  arguments.rows = {x[1], y[1], kernel[0], strides[0], dilations[0], pads[0]};
  arguments.columns = {x[2], y[2], kernel[1], strides[1], dilations[1], pads[1]};
  arguments.pad_bottom = pads[2];
  arguments.pad_right = pads[3];
  return MakeNative("pooling", {}, [arguments](const KernelArgs& args) {
    simd::Pool2dArguments run = arguments;
    run.x = args.input<float>(0);
    run.y = args.output<float>(0);
    simd::Pool2d(run, *args.pool);
  });
}

Made MakeMaxPool2d(const KernelContext& context) {
  if (IsByte(context.input_type(0).dtype())) return MakeByteMaxPool2d(context);
  const auto attrs = context.attrs_of<fused::MaxPool2d>();
  return MakePool2d(context, {.op = simd::PoolOp::kMax}, attrs.kernel_shape, attrs.strides,
                    attrs.pads, attrs.dilations);
}
const RegisterKernel<fused::MaxPool2d> kMaxPool2d("native", &MakeMaxPool2d);

Made MakeAveragePool2d(const KernelContext& context) {
  const auto attrs = context.attrs_of<fused::AveragePool2d>();
  return MakePool2d(context, {.op = simd::PoolOp::kMean, .count_padding = attrs.count_include_pad},
                    attrs.kernel_shape, attrs.strides, attrs.pads, ir::Ints{1, 1});
}
const RegisterKernel<fused::AveragePool2d> kAveragePool2d("native", &MakeAveragePool2d);

// --- global -----------------------------------------------------------------------

ir::Ints AxesFrom(size_t first, size_t last) {
  ir::Ints axes;
  for (size_t i = first; i < last; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}
Made MakeGlobalAveragePool(const KernelContext& context) {
  return MakeReduction(context, simd::ReduceOp::kMean, AxesFrom(2, context.dims(0).size()));
}
const RegisterKernel<ops::GlobalAveragePool> kGlobalAveragePool("native", &MakeGlobalAveragePool);

// The largest number of each channel, of equal ones the first; NaN where there are only such.
Made MakeGlobalMaxPool(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const int64_t rows = context.result_type(0).NumElements();
  const int64_t elements = context.input_type(0).NumElements();
  if (rows < 1 || elements < rows || elements % rows != 0)
    return context.Unsupported("a result that is not one element for each channel");
  return MakeNative("global max pooling", {}, [rows, n = elements / rows](const KernelArgs& args) {
    simd::LargestOfRows(args.input<float>(0), rows, n, args.output<float>(0), *args.pool);
  });
}
const RegisterKernel<ops::GlobalMaxPool> kGlobalMaxPool("native", &MakeGlobalMaxPool);

Made MakeGlobalAveragePool2d(const KernelContext& context) {
  return MakeReduction(context, simd::ReduceOp::kMean, AxesFrom(1, 3));
}
const RegisterKernel<fused::GlobalAveragePool2d> kGlobalAveragePool2d("native",
                                                                      &MakeGlobalAveragePool2d);

// --- NCHW -------------------------------------------------------------------------

// Images of two dimensions, whose transposes neighbours may share.
bool IsImageOfFloats(const KernelContext& context) {
  return context.dims(0).size() == 4 && context.num_results() == 1 && context.AllFloat32();
}

Made MakeMaxPool(const KernelContext& context) {
  if (!IsImageOfFloats(context)) return MakeChannelMaxPool(context);
  const auto attrs = context.attrs_of<ops::MaxPool>();
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow2d(context, attrs, attrs.kernel_shape));
  return MakeFromBody(context, "max pooling between transposes", kBodyProviders,
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
  const auto attrs = context.attrs_of<ops::AveragePool>();
  const auto is_one = [](int64_t dilation) { return dilation == 1; };
  const bool is_dilated =
      attrs.dilations && !std::all_of(attrs.dilations->begin(), attrs.dilations->end(), is_one);
  if (!IsImageOfFloats(context) || is_dilated) return MakeChannelAveragePool(context);
  WEFT_ASSIGN_OR_RETURN(const Window w, MakeWindow2d(context, attrs, attrs.kernel_shape));
  return MakeFromBody(
      context, "average pooling between transposes", kBodyProviders,
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
