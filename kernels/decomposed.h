// The reference kernel of an op that has a body of simpler ops (OpDef::decompose) and no kernel of
// its own: the body, run by reference kernels.
#pragma once

#include "kernels/kernel.h"

namespace weft::kernels {

bool CanDecompose(ir::Operation op);
absl::StatusOr<std::unique_ptr<Kernel>> MakeDecomposed(const KernelContext& context);

}  // namespace weft::kernels
