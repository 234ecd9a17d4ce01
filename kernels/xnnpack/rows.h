// XNNPACK operators that see their operand as rows.
#pragma once

#include <string_view>

#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {

// create(xnn_operator_t*) -> xnn_status; `sized` as compat.h makes it.
template <class Sized, class Create>
Made MakeRows(const KernelContext& context, std::string_view name, Sized sized,
              const Create& create) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  WEFT_ASSIGN_OR_RETURN(SharedOperator op, CreateOperator(name, create));
  return MakeXnnOver(1, name, std::move(op), std::move(sized));
}

}  // namespace weft::kernels::xnnpack
