// XNNPACK operators that see their operand as rows.
#pragma once

#include <string_view>

#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {

using SetupUnary = xnn_status (*)(xnn_operator_t, size_t, const float*, float*, pthreadpool_t);

// The operator sees `rows` rows of `columns`; create(columns, xnn_operator_t*) -> xnn_status.
template <class Create>
Made MakeRows(const KernelContext& context, std::string_view name, int64_t rows, int64_t columns,
              SetupUnary setup, const Create& create) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  WEFT_ASSIGN_OR_RETURN(SharedOperator op, CreateOperator(name, [&](xnn_operator_t* handle) {
                          return create(static_cast<size_t>(columns), handle);
                        }));
  return MakeXnnOver(1, name, std::move(op),
                     [setup, rows](xnn_operator_t handle, const KernelArgs& args) {
                       return setup(handle, rows, args.input<float>(0), args.output<float>(0),
                                    args.pool->handle());
                     });
}

}  // namespace weft::kernels::xnnpack
