// onnx.Conv in three spatial dimensions.
#pragma once

#include "kernels/native/native.h"

namespace weft::kernels::native {

Made MakeConv3d(const KernelContext& context);

}  // namespace weft::kernels::native
