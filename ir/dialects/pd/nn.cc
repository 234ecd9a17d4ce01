#include "ir/dialects/pd/nn.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::pd {

void LoadNnOps(IrContext& context) {
  AddOps<Conv2d, BatchNorm, Pool2d, Softmax, MultiheadMatmul>(context);
}

}  // namespace weft::ir::pd
