#include "ir/dialects/onnx.h"

namespace weft::ir {

void LoadOnnxDialect(IrContext& context) {
  ops::LoadAttentionOps(context);
  ops::LoadConvOps(context);
  ops::LoadElementwiseOps(context);
  ops::LoadImageOps(context);
  ops::LoadMatmulOps(context);
  ops::LoadMovementOps(context);
  ops::LoadNormalizationOps(context);
  ops::LoadPoolOps(context);
  ops::LoadQuantizeOps(context);
  ops::LoadQuantizedMathOps(context);
  ops::LoadRecurrentOps(context);
  ops::LoadReduceOps(context);
  ops::LoadSamplingOps(context);
  ops::LoadShapeOps(context);
  ops::LoadSignalOps(context);
}

}  // namespace weft::ir
