// Operations that may not fit their operands.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace weft::passes {

// Null where the operands do not fit: the error belongs to the run.
template <class O>
ir::Operation TryMake(ir::Builder& builder, const std::vector<ir::Value>& operands,
                      const typename O::template Attrs<ir::BuilderSlot>& attrs,
                      size_t num_results = 1) {
  ir::Operation made;
  std::string error;
  ir::OperationState state{ir::kOpcodeOf<O>, operands, ir::MakeAttrs<O>(*builder.context(), attrs)};
  return builder.TryCreate(std::move(state), num_results, &made, &error) ? made : ir::Operation();
}

}  // namespace weft::passes
