// The constraints and computed attributes that text rules know by name. C++ rules may use them too:
// they then print as text. kVocabulary lists all of them.
//
//   require dim_is(%w, 0, 64)               Formula{"dim_is", {%w, 0, 64}} holds or does not
//   {epsilon: = splat(%e)}                  Formula{"splat", {%e}} as an attribute
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/pattern_graph.h"

namespace weft::drr::text {

struct VocabularyEntry {
  std::string_view name;
  // One letter per argument: v a value, a an attribute variable, i an integer, n a number, s a
  // string, t an element type, l any literal. After a '?' the arguments may be left out.
  std::string_view arguments;
  bool is_constraint;
  std::string_view doc;
};
const std::vector<VocabularyEntry>& Vocabulary();

// "" or why there is no such formula: a wrong name or wrong arguments.
std::string CheckFormula(const Formula& formula, bool is_constraint);

// The formula must have passed CheckFormula. An attribute becomes `kind`, or null when the match
// does not have it.
Constraint MakeConstraint(Formula formula, std::string reason, SourceLoc loc);
ResultAttr MakeComputedAttr(ir::Name name, ir::AttrKind kind, Formula formula, int result_op);

// Arguments.
Formula::Argument ValueArgument(int value);
Formula::Argument VariableArgument(int variable);
Formula::Argument LiteralArgument(ir::Attribute literal);

}  // namespace weft::drr::text
