// The dialects that the tools know.
#pragma once

#include "ir/context.h"

namespace weft::tools {

void LoadAllDialects(ir::IrContext& context);

}  // namespace weft::tools
