// Constants for rules that compute them; for new weights f32 in, double inside, f32 out.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "drr/rule/match_context.h"
#include "ir/attribute.h"

namespace weft::drr {

// The elements of an f32 constant; nothing for anything else.
std::optional<std::span<const float>> ConstantF32(const BoundTensor& tensor);

// A dense f32 attribute of `dims` whose element i is value(i), rounded once.
ir::Attribute MakeF32(ir::IrContext* context, std::span<const int64_t> dims,
                      const std::function<double(int64_t)>& value);

}  // namespace weft::drr
