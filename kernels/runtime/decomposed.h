// Kernels of ops that are a small program of other ops: it is planned like any program, inside the
// kernel. The reference kernel of every op with a body (ir/analysis/reference_body.h) is such a kernel.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/builder.h"
#include "kernels/kernel.h"

namespace weft::kernels {

// Builds the op's results from its operands (null where not given).
using BuildBody = std::function<std::vector<ir::Value>(ir::Builder& builder,
                                                       std::span<const ir::Value> operands)>;

// `name` is a literal. Operands that are constants are constants of the body too. The kernels of
// the body come from `providers`, in this order.
absl::StatusOr<std::unique_ptr<Kernel>> MakeFromBody(const KernelContext& context,
                                                     std::string_view name,
                                                     std::vector<std::string> providers,
                                                     const BuildBody& build);

// The first result that the reference body of the op never gives, although it gives those before it; empty where
// there is none, and where the body cannot be told from what is known of the operands.
std::string ResultWithoutBody(const KernelContext& context);

// Of an op that HasReferenceBody.
absl::StatusOr<std::unique_ptr<Kernel>> MakeDecomposed(const KernelContext& context);

}  // namespace weft::kernels
