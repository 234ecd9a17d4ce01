// Constants for rules that compute them; for new weights f32 in, double inside, f32 out.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "drr/rule/match_context.h"
#include "ir/attribute.h"

namespace weft::drr {

// The elements of an f32 constant; nothing for anything else.
std::optional<ir::DenseElements<float>> ConstantF32(const BoundTensor& tensor);

// A dense f32 attribute of `dims` whose elements `fill` writes, all of them.
ir::Attribute FillF32(ir::IrContext* context, std::span<const int64_t> dims,
                      const std::function<void(std::span<float>)>& fill);

// The same, whose element i is value(i), a double, rounded once.
template <class Value>
ir::Attribute MakeF32(ir::IrContext* context, std::span<const int64_t> dims, const Value& value) {
  return FillF32(context, dims, [&value](std::span<float> elements) {
    int64_t i = 0;
    for (float& element : elements) element = static_cast<float>(value(i++));
  });
}

// A dense f32 attribute that is computed in parts, whenever somebody reads them: `fill` is kept, and
// writes the elements from `first` on, the same each time, on any thread. For weights made of others:
// packed by a kernel, they never are in memory as a whole.
ir::Attribute ComputeF32(ir::IrContext* context, std::span<const int64_t> dims,
                         const std::function<void(size_t first, std::span<float>)>& fill);

}  // namespace weft::drr
