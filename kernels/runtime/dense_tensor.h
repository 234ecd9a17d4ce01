// Constants of a program as tensors, and back.
#pragma once

#include "ir/context.h"
#include "kernels/tensor.h"

namespace weft::kernels {

// A copy of the contents, of strings too. InvalidArgument when they are not there.
absl::StatusOr<Tensor> TensorOf(ir::Attribute dense);

ir::Attribute DenseOf(ir::IrContext& context, const TensorView& tensor);

}  // namespace weft::kernels
