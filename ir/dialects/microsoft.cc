#include "ir/dialects/microsoft.h"

#include "ir/dialects/onnx.h"

namespace weft::ir {

void LoadMicrosoftDialect(IrContext& context) {
  LoadOnnxDialect(context);
  microsoft::LoadActivationOps(context);
  microsoft::LoadAttentionOps(context);
  microsoft::LoadMatmulOps(context);
  microsoft::LoadNormalizationOps(context);
  microsoft::LoadQuantizedOps(context);
}

}  // namespace weft::ir
