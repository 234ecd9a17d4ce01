#include "ir/dialects/pd.h"

namespace weft::ir {

void LoadPdDialect(IrContext& context) {
  pd::LoadCreationOps(context);
  pd::LoadMathOps(context);
  pd::LoadNnOps(context);
  pd::LoadTensorOps(context);
}

}  // namespace weft::ir
