// Changes the type of values that a set of ops pass to each other, and converts them where they
// enter and leave the set. For passes that move a part of a program to another element type or rank.
#pragma once

#include <functional>
#include <vector>

#include "ir/rewriter.h"

namespace weft::passes {

// Operands or results of an op: bit i for number i, and kAllSlots for any number of them.
constexpr uint32_t kAllSlots = UINT32_MAX;
inline bool HasSlot(uint32_t slots, uint32_t i) {
  return slots == kAllSlots || (i < 32 && (slots >> i & 1) != 0);
}

// An op of the set, and which of its operands and results are changed. The others keep their types.
struct RetypedOp {
  ir::Operation op;
  uint32_t operands = 0, results = 0;
};

struct Retyping {
  // The type that a value has inside.
  std::function<ir::Type(ir::Type)> inside;
  // Makes, at the rewriter's insertion point, the inner form of an outer value, or the reverse.
  std::function<ir::Value(ir::Rewriter&, ir::Value)> enter, leave;
};

// A value is converted once, right after it is made, however many read it. Attributes and constants
// that depend on the types are the caller's.
void Retype(ir::Rewriter& rewriter, const std::vector<RetypedOp>& ops, const Retyping& retyping);

}  // namespace weft::passes
