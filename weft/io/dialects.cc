#include "weft/io/dialects.h"

#include "ir/dialects/ascend.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/litert.h"
#include "ir/dialects/microsoft.h"
#include "ir/dialects/op_registry.h"
#include "ir/dialects/pd.h"

namespace weft {

void LoadAllDialects(ir::IrContext& context) {
  ir::LoadFusedDialect(context);
  ir::LoadAscendDialect(context);
  ir::LoadLitertDialect(context);
  ir::LoadMicrosoftDialect(context);
  ir::LoadPdDialect(context);
  ir::LoadRegisteredOps(context);
}

}  // namespace weft
