#include "tools/cli/values/value_file.h"

#include <cstring>
#include <memory>
#include <utility>

#include "tools/onnx/tensor_file.h"

namespace weft::tools {
namespace {

using kernels::RuntimeValue;
using kernels::Tensor;
using onnx::StoredValue;

constexpr size_t kMaxFileBytes = size_t{1} << 30;  // of the tensors of one sequence

ir::Attribute DenseOf(ir::IrContext& context, const kernels::TensorView& view) {
  return context.DenseAttr(context.TensorType(view.dtype, view.dims), {view.data, view.NumBytes()});
}

}  // namespace

absl::StatusOr<Tensor> TensorOf(ir::Attribute dense) {
  const ir::Type type = dense.dense_type();
  WEFT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Create(type.dtype(), type.shape()));
  if (!dense.bytes().empty())
    std::memcpy(tensor.view().data, dense.bytes().data(), dense.bytes().size());
  return tensor;
}

absl::StatusOr<RuntimeValue> ReadValue(ir::IrContext& context, const std::string& path,
                                       ir::Type type) {
  WEFT_ASSIGN_OR_RETURN(const StoredValue stored, onnx::ReadValueFile(context, path, type));
  kernels::Sequence::Elements tensors;
  for (const ir::Attribute dense : stored.tensors) {
    if (dense.dense_type().NumBytes() < 0)
      return ir::Unsupported(path + ": tensors of type " + dense.dense_type().ToString());
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TensorOf(dense));
    tensors.push_back(std::make_shared<Tensor>(std::move(tensor)));
  }
  switch (stored.kind) {
    case StoredValue::Kind::kTensor:
      return RuntimeValue::Of(tensors[0]);
    case StoredValue::Kind::kSequence:
      return RuntimeValue::Of(kernels::Sequence(std::move(tensors)));
    case StoredValue::Kind::kNothing:
      break;
  }
  return RuntimeValue();
}

absl::Status WriteValue(ir::IrContext& context, const std::string& path, const RuntimeValue& value,
                        ir::Type type, std::string_view name) {
  StoredValue stored;
  if (value.IsTensor()) {
    stored = {StoredValue::Kind::kTensor, {DenseOf(context, value.view)}};
  } else if (value.IsSequence()) {
    stored.kind = StoredValue::Kind::kSequence;
    size_t bytes = 0;  // elements may share memory
    for (const std::shared_ptr<Tensor>& tensor : *value.sequence)
      if ((bytes += tensor->view().NumBytes()) > kMaxFileBytes)
        return ir::Unsupported(path + ": a sequence of more than " +
                               std::to_string(kMaxFileBytes >> 30) + " GiB");
    for (const std::shared_ptr<Tensor>& tensor : *value.sequence)
      stored.tensors.push_back(DenseOf(context, tensor->view()));
  }
  return onnx::WriteValueFile(path, stored, type, name);
}

}  // namespace weft::tools
