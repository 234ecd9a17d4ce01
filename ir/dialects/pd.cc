#include "ir/dialects/pd.h"

namespace weft::ir {

void LoadPdDialect(IrContext& context) {
  pd::LoadCreationOps(context);
  pd::LoadLossOps(context);
  pd::LoadLossGradOps(context);
  pd::LoadMathOps(context);
  pd::LoadMathGradOps(context);
  pd::LoadNnOps(context);
  pd::LoadNnGradOps(context);
  pd::LoadTensorOps(context);
  pd::LoadTensorGradOps(context);
}

}  // namespace weft::ir
