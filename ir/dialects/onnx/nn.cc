#include "ir/dialects/onnx/nn.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::ops {

void LoadNnOps(IrContext& context) {
  AddOps<Conv, MaxPool, AveragePool, GlobalAveragePool, BatchNormalization, LayerNormalization,
         Softmax>(context);
}

}  // namespace weft::ir::ops
