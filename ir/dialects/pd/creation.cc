#include "ir/dialects/pd/creation.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::pd {

void LoadCreationOps(IrContext& context) { AddOps<Full, FullIntArray, Feed, Fetch>(context); }

}  // namespace weft::ir::pd
