// Pools of NHWC tensors.
#include "ir/dialects/fused.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/pool2d.h"

namespace weft::kernels::native {
namespace {

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

}  // namespace
}  // namespace weft::kernels::native
