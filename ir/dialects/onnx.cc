#include "ir/dialects/onnx.h"

#include "ir/dialects/onnx/control.h"
#include "ir/dialects/onnx/creation.h"
#include "ir/dialects/onnx/indexing.h"

namespace weft::ir {

void LoadOnnxDialect(IrContext& context) {
  ops::LoadControlOps(context);
  ops::LoadConvOps(context);
  ops::LoadCreationOps(context);
  ops::LoadElementwiseOps(context);
  ops::LoadImageOps(context);
  ops::LoadIndexingOps(context);
  ops::LoadMatmulOps(context);
  ops::LoadMovementOps(context);
  ops::LoadNormalizationOps(context);
  ops::LoadPoolOps(context);
  ops::LoadQuantizeOps(context);
  ops::LoadReduceOps(context);
  ops::LoadShapeOps(context);
}

}  // namespace weft::ir
