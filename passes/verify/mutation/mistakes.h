// What may be written by mistake in place of a part of a rule: for mutants (passes/verify/mutation/mutants.h).
#pragma once

#include <vector>

#include "drr/rule/pattern_graph.h"

namespace weft::passes {

// Other attributes of the same kind, which `field` (may be null) takes; none where none is known that
// means something else.
std::vector<ir::Attribute> OtherValues(ir::IrContext& context, ir::Attribute value,
                                       const ir::FieldDef* field);

// Ops that take the same operands and attributes and compute something else.
std::vector<const ir::OpDef*> OtherOps(const ir::IrContext& context, const ir::OpDef& def);

// A formula with two arguments the other way round, or with another number. Of a constraint only where
// that says something else which a program may meet: not of ranks, sizes and element types.
std::vector<drr::Formula> OtherFormulas(ir::IrContext& context, const drr::Formula& formula,
                                        bool is_constraint);

// Whether formulas of a pattern say the same.
bool AreEqual(const drr::PatternGraph& graph, const drr::Formula& a, const drr::Formula& b);

}  // namespace weft::passes
