#include "ir/dialects/onnx/reduce.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::ops {

void LoadReduceOps(IrContext& context) {
  AddOps<ReduceMean, ReduceMax, ReduceMin, ReduceSum>(context);
}

}  // namespace weft::ir::ops
