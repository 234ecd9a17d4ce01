#include "tools/cli/values/value_file.h"

#include <memory>
#include <utility>

#include "kernels/runtime/dense_tensor.h"
#include "tools/onnx/tensor_file.h"

namespace weft::tools {
namespace {

using kernels::RuntimeValue;
using kernels::Tensor;
using onnx::StoredValue;

constexpr size_t kMaxFileBytes = size_t{1} << 30;  // of strings, and the tensors of one sequence

}  // namespace

absl::StatusOr<RuntimeValue> ReadValue(ir::IrContext& context, const std::string& path,
                                       ir::Type type) {
  WEFT_ASSIGN_OR_RETURN(const StoredValue stored, onnx::ReadValueFile(context, path, type));
  kernels::Sequence::Elements tensors;
  for (const ir::Attribute dense : stored.tensors) {
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, kernels::TensorOf(dense));
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
    if (value.view.dtype == ir::DataType::kString && HeldBytes(value.view) > kMaxFileBytes)
      return ir::Unsupported(path + ": strings of more than " +
                             std::to_string(kMaxFileBytes >> 30) + " GiB");
    stored = {StoredValue::Kind::kTensor, {kernels::DenseOf(context, value.view)}};
  } else if (value.IsSequence()) {
    stored.kind = StoredValue::Kind::kSequence;
    size_t bytes = 0;  // elements may share memory
    for (const std::shared_ptr<Tensor>& tensor : *value.sequence)
      if ((bytes += HeldBytes(tensor->view())) > kMaxFileBytes)
        return ir::Unsupported(path + ": a sequence of more than " +
                               std::to_string(kMaxFileBytes >> 30) + " GiB");
    for (const std::shared_ptr<Tensor>& tensor : *value.sequence)
      stored.tensors.push_back(kernels::DenseOf(context, tensor->view()));
  }
  return onnx::WriteValueFile(path, stored, type, name);
}

}  // namespace weft::tools
