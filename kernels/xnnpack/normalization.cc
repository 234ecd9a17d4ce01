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
  const auto columns = static_cast<size_t>(dims.back());
  return MakeRows(
      context, "xnnpack softmax",
      SoftmaxSizes(static_cast<size_t>(CountElements(dims.first(dims.size() - 1))), columns),
      [columns](xnn_operator_t* op) { return CreateSoftmax(op, columns); });
}
const RegisterKernel<ops::Softmax> kSoftmax("xnnpack", &MakeSoftmax, kHidesNan);

}  // namespace
}  // namespace weft::kernels::xnnpack
