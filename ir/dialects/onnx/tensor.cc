#include "ir/dialects/onnx/tensor.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::ops {

void LoadTensorOps(IrContext& context) {
  AddOps<Transpose, Concat, Split, Slice, Gather, Pad>(context);
}

}  // namespace weft::ir::ops
