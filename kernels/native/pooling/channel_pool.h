// Pools of one to three dimensions that read the channels of an image where they are, one after the other: those for
// which no transposition pays, and those that say where they found the largest.
#pragma once

#include "kernels/native/native.h"

namespace weft::kernels::native {

Made MakeChannelMaxPool(const KernelContext& context);
Made MakeChannelAveragePool(const KernelContext& context);

}  // namespace weft::kernels::native
