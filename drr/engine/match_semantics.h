// What a match is, in the questions that both matchers ask (drr/engine/matcher.h, drr/engine/fast_matcher.h):
// on numbers and attributes, so that each asks them of its own data. The two differ in how they search
// and in what they say, never in what they accept; unittests/passes/engines_test.cc compares them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "drr/rule/pattern_graph.h"
#include "ir/graph_view.h"

namespace weft::drr {

// Several ops of a pattern may be one op that has no operands and no effect, as programs hold equal
// ones once. Any other op stands for one op of the pattern.
inline bool MayStandForSeveral(uint32_t num_operands, bool pure) {
  return num_operands == 0 && pure;
}

// Whether what else reads the op does not matter: a constant, or what may stand for several.
inline bool MayHaveOtherReaders(uint32_t num_operands, uint32_t traits) {
  return num_operands == 0 && (traits & (ir::kPure | ir::kConstantLike)) != 0;
}

// A matched op lies in the block of what reads it, but a constant may lie in one around it.
inline bool MayLieInBlock(bool same_block, bool constant_like) {
  return same_block || constant_like;
}

// Whether the first two operands are tried in the other order as well.
inline bool HasTwoOrders(bool commutative, size_t named_operands, uint32_t num_operands) {
  return commutative && named_operands >= 2 && num_operands >= 2;
}

// What an op has for an attribute against what the rule wants of it.
enum class AttrFit : uint8_t {
  kFits,
  kOther,    // it is none of the values
  kMissing,  // a variable would be bound to nothing
  kDiffers,  // the variable is bound to another value
};
// `value` (null: not written out) becomes what a variable is bound to, which is the default where the
// op has none. `bound` is what the variable is bound to already, or null.
inline AttrFit FitAttr(const AttrPattern& pattern, ir::Attribute bound, ir::Attribute* value) {
  if (pattern.kind == AttrPattern::kIsOneOf) {
    const auto end = pattern.values.end();
    return std::find(pattern.values.begin(), end, *value) == end ? AttrFit::kOther : AttrFit::kFits;
  }
  if (pattern.kind == AttrPattern::kAny) return AttrFit::kFits;
  if (!*value && !pattern.values.empty()) *value = pattern.values[0];
  if (!*value) return AttrFit::kMissing;
  return bound && !(bound == *value) ? AttrFit::kDiffers : AttrFit::kFits;
}

// Whether ops outside the match may read this value of the pattern: it is replaced, or the rule keeps
// it. Readers of any other intermediate value refuse the match.
inline bool MayBeReadOutside(const PatternGraph& graph, ValueId value) {
  return graph.values[value].escape != Escape::kForbid ||
         std::any_of(graph.replacements.begin(), graph.replacements.end(),
                     [&](const Replacement& r) { return graph.Resolve(r.source) == value; });
}

// The first op that reads `value` and that the match does not hold; kNoId when there is none.
template <class Contains>
uint32_t ReaderOutside(const ir::GraphView& view, uint32_t value, const Contains& contains) {
  for (uint32_t use = view.first_use(value); use != ir::kNoId; use = view.next_use(use))
    if (const uint32_t reader = view.owner(use); !contains(reader)) return reader;
  return ir::kNoId;
}

}  // namespace weft::drr
