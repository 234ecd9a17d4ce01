#include "kernels/runtime_value.h"

#include <span>
#include <string>

namespace weft::kernels {
namespace {

absl::StatusOr<Tensor> CopyOf(const TensorView& view) {
  const ir::Shape dims(view.dims.begin(), view.dims.end());
  if (view.dtype == ir::DataType::kString) {
    const std::span<std::string> strings = view.values<std::string>();
    return Tensor::OfStrings(dims, {strings.begin(), strings.end()});
  }
  WEFT_ASSIGN_OR_RETURN(Tensor copy, Tensor::Create(view.dtype, dims));
  CopyElements(view, copy.view());
  return copy;
}

}  // namespace

absl::StatusOr<Tensor> TakeTensor(RuntimeValue&& value) {
  if (value.owner != nullptr && value.owner.use_count() == 1) return std::move(*value.owner);
  return CopyOf(value.view);
}

absl::StatusOr<std::shared_ptr<Tensor>> KeepTensor(const RuntimeValue& value) {
  if (value.owner != nullptr) return value.owner;
  WEFT_ASSIGN_OR_RETURN(Tensor copy, CopyOf(value.view));
  return std::make_shared<Tensor>(std::move(copy));
}

}  // namespace weft::kernels
