// How the front ends record what attributes of ops are matched with and made of.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "drr/rule/pattern_graph.h"

namespace weft::drr::internal {

// Attribute `field` of the last alternative of source op `op`: its default, one of some values, or
// whatever a variable is bound to.
void AddDefaultAttr(PatternGraph* graph, OpId op, size_t field);
void AddLiterals(PatternGraph* graph, OpId op, size_t field, std::vector<ir::Attribute> values);
void AddBind(PatternGraph* graph, OpId op, size_t field, AttrId variable);
// The same for those who keep the attributes of an alternative themselves.
void AddDefaultAttr(PatternGraph* graph, const ir::FieldDef& field, SourceLoc loc,
                    std::string_view op, std::vector<AttrPattern>* attrs);
void AddLiterals(PatternGraph* graph, const ir::FieldDef& field, std::vector<ir::Attribute> values,
                 std::vector<AttrPattern>* attrs);
void AddBind(PatternGraph* graph, const ir::FieldDef& field, AttrId variable,
             std::vector<AttrPattern>* attrs);
// Gives every alternative of `op` after the first what the first has, by the name of the attribute.
void ShareAttrs(PatternGraph* graph, OpId op);
// Attribute `field` of result op `op`.
void AddResultDefault(PatternGraph* graph, ResultOpId op, size_t field);
void AddResultLiteral(PatternGraph* graph, ResultOpId op, size_t field, ir::Attribute value);
void AddResultCopy(PatternGraph* graph, ResultOpId op, size_t field, AttrId variable);
void AddResultCompute(PatternGraph* graph, ResultOpId op, size_t field, const ComputeAttr& compute);
void AddResultFormula(PatternGraph* graph, ResultOpId op, size_t field, Formula formula);
// Of an op that is like a matched one: every alternative of that must have what was added.
void CheckOverrides(PatternGraph* graph, ResultOpId op);

}  // namespace weft::drr::internal
