// Constants that the body of a kernel makes of those of its op: one for all plans, so that what is packed of it is
// packed once, too.
//
//   const ir::Attribute image = WithDims(context, context.constant(1), Ints{outputs, inputs, 1, width});
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "kernels/kernel.h"

namespace weft::kernels {

// `how` says all that it depends on but the contents and the type of `from`. It should be computed
// (IrContext::ComputedDenseAttr) where it is large: it is kept as long as what is packed.
ir::Attribute DerivedConstant(const KernelContext& context, ir::Attribute from,
                              const std::string& how, const std::function<ir::Attribute()>& make);

// The same elements under other dims, without a copy.
ir::Attribute WithDims(const KernelContext& context, ir::Attribute dense,
                       std::span<const int64_t> dims);

}  // namespace weft::kernels
