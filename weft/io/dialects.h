// The dialects that the tools know: ours, and operators that registered themselves.
#pragma once

#include "ir/context.h"

namespace weft {

void LoadAllDialects(ir::IrContext& context);

}  // namespace weft
