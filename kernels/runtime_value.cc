#include "kernels/runtime_value.h"

#include <cstring>

namespace weft::kernels {
namespace {

absl::StatusOr<Tensor> CopyOf(const TensorView& view) {
  WEFT_ASSIGN_OR_RETURN(Tensor copy,
                        Tensor::Create(view.dtype, {view.dims.begin(), view.dims.end()}));
  if (view.NumBytes() > 0) std::memcpy(copy.view().data, view.data, view.NumBytes());
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
