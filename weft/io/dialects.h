// The dialects that the tools know.
#pragma once

#include "ir/context.h"

namespace weft {

void LoadAllDialects(ir::IrContext& context);

}  // namespace weft
