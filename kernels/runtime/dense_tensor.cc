#include "kernels/runtime/dense_tensor.h"

#include <cstring>

namespace weft::kernels {

absl::StatusOr<Tensor> TensorOf(ir::Attribute dense) {
  if (!dense.Is(ir::AttrKind::kDense) || dense.IsElided())
    return ir::InvalidArgument("a constant without contents");
  const ir::Type type = dense.dense_type();
  if (type.dtype() == ir::DataType::kString)
    return Tensor::OfStrings(type.shape(), dense.dense_strings());
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type.dtype(), type.shape()));
  dense.Read(0, {tensor.view().data, dense.num_bytes()});
  return tensor;
}

ir::Attribute DenseOf(ir::IrContext& context, const TensorView& tensor) {
  const ir::Type type = context.TensorType(tensor.dtype, tensor.dims);
  if (tensor.dtype == ir::DataType::kString)
    return context.DenseStringsAttr(type, tensor.values<std::string>());
  return context.DenseAttr(type, {tensor.data, tensor.NumBytes()});
}

}  // namespace weft::kernels
