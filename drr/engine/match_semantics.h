// The checks that define a match, shared by both matchers (drr/engine/matcher.h and
// drr/engine/fast_matcher.h): on ids and attributes, so that each applies them to its own data. The
// two differ in how they search and in what they report, never in what they accept;
// unittests/passes/engines_test.cc compares them.
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

// Whether external uses of the op do not matter: a constant, or what may stand for several.
inline bool MayHaveExternalUses(uint32_t num_operands, uint32_t traits) {
  return num_operands == 0 && (traits & (ir::kPure | ir::kConstantLike)) != 0;
}

// A matched op lies in the block of its users, but a constant may lie in one around it.
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
// `value` (null: not written out) becomes what a variable is bound to, which is the default where
// the op has none. `bound` is what the variable is bound to already, or null.
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

// Whether this value of the pattern may have external uses: it is replaced, or the rule keeps it.
// External uses of any other intermediate value refuse the match.
inline bool MayBeReadOutside(const PatternGraph& graph, ValueId value) {
  return graph.values[value].escape != Escape::kForbid ||
         std::any_of(graph.replacements.begin(), graph.replacements.end(),
                     [&](const Replacement& r) { return graph.Resolve(r.source) == value; });
}

// The first user of `value` that is not in the match; kNoId when there is none.
template <class Contains>
uint32_t ExternalUser(const ir::GraphView& view, uint32_t value, const Contains& contains) {
  for (uint32_t use = view.first_use(value); use != ir::kNoId; use = view.next_use(use))
    if (const uint32_t user = view.owner(use); !contains(user)) return user;
  return ir::kNoId;
}

}  // namespace weft::drr
