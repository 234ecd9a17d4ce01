#include "ir/dialects/onnx.h"

namespace weft::ir {

void LoadOnnxDialect(IrContext& context) {
  ops::LoadElementwiseOps(context);
  ops::LoadIndexingOps(context);
  ops::LoadLinearOps(context);
  ops::LoadNnOps(context);
  ops::LoadQuantizeOps(context);
  ops::LoadReduceOps(context);
  ops::LoadResizeOps(context);
  ops::LoadShapeOps(context);
  ops::LoadTensorOps(context);
}

}  // namespace weft::ir
