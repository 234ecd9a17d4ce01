#include "ir/dialects/pd.h"

namespace weft::ir {

void LoadPdDialect(IrContext& context) {
  pd::LoadAttentionOps(context);
  pd::LoadConvOps(context);
  pd::LoadCreationOps(context);
  pd::LoadElementwiseOps(context);
  pd::LoadLossOps(context);
  pd::LoadMatmulOps(context);
  pd::LoadMovementOps(context);
  pd::LoadNormalizationOps(context);
  pd::LoadPoolOps(context);
  pd::LoadReduceOps(context);
  pd::LoadShapeOps(context);
}

}  // namespace weft::ir
