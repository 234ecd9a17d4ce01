#include "ir/dialects/onnx.h"

#include "ir/dialects/onnx/text.h"

namespace weft::ir {

void LoadOnnxDialect(IrContext& context) {
  ops::LoadActivationOps(context);
  ops::LoadAttentionOps(context);
  ops::LoadControlOps(context);
  ops::LoadConvOps(context);
  ops::LoadCreationOps(context);
  ops::LoadElementwiseOps(context);
  ops::LoadImageOps(context);
  ops::LoadIndexingOps(context);
  ops::LoadLossOps(context);
  ops::LoadMathOps(context);
  ops::LoadMatmulOps(context);
  ops::LoadMovementOps(context);
  ops::LoadNormalizationOps(context);
  ops::LoadPoolOps(context);
  ops::LoadQuantizeOps(context);
  ops::LoadQuantizedMathOps(context);
  ops::LoadRecurrentOps(context);
  ops::LoadReduceOps(context);
  ops::LoadSamplingOps(context);
  ops::LoadSearchOps(context);
  ops::LoadSequenceOps(context);
  ops::LoadShapeOps(context);
  ops::LoadSignalOps(context);
  ops::LoadTextOps(context);
}

}  // namespace weft::ir
