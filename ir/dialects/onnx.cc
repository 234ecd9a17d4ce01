#include "ir/dialects/onnx.h"

namespace weft::ir {

void LoadOnnxDialect(IrContext& context) {
  ops::LoadElementwiseOps(context);
  ops::LoadLinearOps(context);
  ops::LoadNnOps(context);
  ops::LoadReduceOps(context);
  ops::LoadShapeOps(context);
  ops::LoadTensorOps(context);
}

}  // namespace weft::ir
