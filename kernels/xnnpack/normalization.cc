// Softmax.
#include "ir/dialects/onnx.h"
#include "kernels/xnnpack/rows.h"

namespace weft::kernels::xnnpack {
namespace {

namespace ops = ir::ops;

Made MakeSoftmax(const KernelContext& context) {
  const std::span<const int64_t> dims = context.dims(0);
  const int64_t axis = context.attrs_of<ops::Softmax>().axis;
  if (dims.empty() || (axis != -1 && axis != static_cast<int64_t>(dims.size()) - 1))
    return context.Unsupported("an axis other than the last");
  return MakeRows(context, "xnnpack softmax", CountElements(dims.first(dims.size() - 1)),
                  dims.back(), &xnn_setup_softmax_nc_f32, [](size_t n, xnn_operator_t* op) {
                    return xnn_create_softmax_nc_f32(n, n, n, 0, op);
                  });
}
const RegisterKernel<ops::Softmax> kSoftmax("xnnpack", &MakeSoftmax, kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack
