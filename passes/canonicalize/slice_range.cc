#include "passes/canonicalize/slice_range.h"

#include "ir/analysis/constant.h"

namespace weft::passes {
namespace {

std::optional<int64_t> OneInteger(ir::Value value) {
  const std::optional<ir::Ints> numbers = value ? ir::ConstantInts(value) : std::nullopt;
  return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
}

}  // namespace

std::optional<SliceRange> RangeOf(ir::Operation slice) {
  const auto operand = [&](uint32_t i) {
    return i < slice.num_operands() ? slice.operand(i) : ir::Value();
  };
  const std::optional<int64_t> start = OneInteger(operand(1)), end = OneInteger(operand(2));
  const std::optional<int64_t> axis = operand(3) ? OneInteger(operand(3)) : 0;
  const std::optional<int64_t> step = operand(4) ? OneInteger(operand(4)) : 1;
  if (!start || !end || !axis || step != 1) return std::nullopt;
  return SliceRange{*axis, *start, *end};
}

}  // namespace weft::passes
