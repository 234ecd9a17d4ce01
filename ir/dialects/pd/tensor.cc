#include "ir/dialects/pd/tensor.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::pd {

void LoadTensorOps(IrContext& context) {
  AddOps<Expand, Reshape, Transpose, Concat, Flatten>(context);
}

}  // namespace weft::ir::pd
