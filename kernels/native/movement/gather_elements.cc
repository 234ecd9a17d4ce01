// onnx.GatherElements.
#include "kernels/native/simd/movement/gather_elements.h"

#include <string>

#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/indexing.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

template <class Index>
std::unique_ptr<Kernel> MakeGatherElementsOn(const KernelContext& context, int axis, int size) {
  const int64_t extent = context.dims(0)[static_cast<size_t>(axis)];
  Dims strides = RowMajorStrides(context.dims(0));
  const int64_t along = strides[axis];
  strides[axis] = 0;
  return MakeNative(
      "gather elements", {},
      [strides, extent, along, size, shape = Dims(context.dims(1))](const KernelArgs& args) {
        const auto* indices = args.input<Index>(1);
        const int64_t bad =
            simd::GatherElements<Index>(args.inputs[0].data, strides, extent, along, indices, shape,
                                        args.outputs[0].data, size, *args.pool);
        if (bad < 0) return absl::OkStatus();
        return ir::InvalidArgument("onnx.GatherElements: index " + std::to_string(indices[bad]) +
                                   " is out of range for an axis of size " +
                                   std::to_string(extent));
      });
}

Made MakeGatherElements(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  const size_t size = ir::ElementSize(dtype);
  if (size > 8) return context.Unsupported("elements of more than 8 bytes");
  const std::span<const int64_t> data = context.dims(0), indices = context.dims(1);
  const int64_t axis = ir::NormalAxis(context.attrs_of<ops::GatherElements>().axis, data.size());
  bool fits = context.input_type(0).dtype() == dtype &&
              context.input_type(1).shape() == context.result_type(0).shape() &&
              data.size() == indices.size() && axis >= 0 &&
              axis < static_cast<int64_t>(data.size());
  for (size_t i = 0; fits && i < data.size(); ++i)
    fits = static_cast<int64_t>(i) == axis || indices[i] <= data[i];
  if (!fits) return context.Unsupported("operands and a result that do not fit each other");
  const int on = static_cast<int>(axis), bytes = static_cast<int>(size);
  const ir::DataType index = context.input_type(1).dtype();
  if (index == ir::DataType::kI64) return MakeGatherElementsOn<int64_t>(context, on, bytes);
  if (index == ir::DataType::kI32) return MakeGatherElementsOn<int32_t>(context, on, bytes);
  return context.Unsupported("indices of type " + std::string(ir::DataTypeName(index)));
}
const RegisterKernel<ops::GatherElements> kGatherElements("native", &MakeGatherElements);

}  // namespace
}  // namespace weft::kernels::native
