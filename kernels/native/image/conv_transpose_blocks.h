// onnx.ConvTranspose as a product of matrices whose result is added up.
#pragma once

#include "kernels/native/native.h"

namespace weft::kernels::native {

// Of any attributes, in up to three spatial dimensions, with weights that may be computed at run time.
Made MakeConvTransposeOfBlocks(const KernelContext& context);

}  // namespace weft::kernels::native
