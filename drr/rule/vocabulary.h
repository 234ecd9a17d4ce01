// The constraints and computed attributes that rules know by name, one table for all front ends:
//
//   src.Require(Dim(w, 0, 64));             require "axis 0 of w has size 64" dim_is(%w, 0, 64)
//   {.epsilon = SplatOf(e)}                 {epsilon: = splat(%e)}
//
// A rule that says what it needs in these words can be printed, read back, explained and analysed;
// functions of C++ can not. drr/cpp/constraints.h has the functions of C++, and ir-opt
// --list-constraints prints the table. A new word is one row in vocabulary_table.cc, one function of
// vocabulary_functions.h that evaluates it, and one in drr/cpp/constraints.{h,cc}.
//
// A constraint holds only when proved: where a shape or constant is not known, it does not. An
// argument `%b?` (in C++ IfGiven(b)) makes the constraint hold where b is absent. A computed
// attribute is a constraint too: that it can be computed (in C++ src.Let("why", Compose(p, q))).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/pattern_graph.h"

namespace weft::drr {

inline constexpr size_t kMaxArguments = 5;

struct VocabularyEntry {
  std::string_view name;  // in text
  std::string_view cpp;   // in C++; empty: only text has it
  // One letter per argument: v a value, L a list of values, a an attribute variable, A one or a
  // value of integers, i an integer or a variable that holds one, n a number, N one or a variable
  // that holds one, s a string, t an element type or a variable that holds one, l any literal. After a '?' the arguments may be left out.
  std::string_view arguments;
  bool is_constraint = true;  // or a computed attribute
  std::string_view reason;    // of a constraint: what must hold, {0} being the first argument
  std::string_view doc;
  // What is proved where sizes are symbols; empty: shapes do not matter.
  std::string_view symbolic;
};
const std::vector<VocabularyEntry>& Vocabulary();
// "value", "integer": of one letter of VocabularyEntry::arguments.
std::string_view ParameterName(char letter);

// The vocabulary's names of the constraint that a match computes what the result does, and of an
// attribute that is found so (drr/equivalence/body_equivalence.h).
inline constexpr std::string_view kComputesResult = "computes_result";
inline constexpr std::string_view kFromBody = "from_body";

// "" or why there is no such formula: a wrong name or wrong arguments.
std::string CheckFormula(const PatternGraph& graph, const Formula& formula, bool is_constraint);

// What must hold, in words: the reason of a constraint whose author gives none.
std::string ReasonOf(const PatternGraph& graph, const Formula& formula);
// A value as reasons name it: w, the result, the MatMul, the constant.
std::string NameInReason(const PatternGraph& graph, ValueId value);

// The formula must have passed CheckFormula. An attribute becomes one of the field's kind, or null when
// the match does not have it or the field does not take it. Without a reason the constraint is given
// one when the rule is finished.
Constraint MakeConstraint(Formula formula, std::string reason, SourceLoc loc);
// Calls a function that is given with a text. Arguments have no `if_given`.
Constraint MakeNativeConstraint(NativeFunction function, std::vector<Formula::Argument> arguments,
                                std::string reason, SourceLoc loc);
// Those of a rule's constraints.
NativeFunctions FunctionsOf(const PatternGraph& graph);
ResultAttr MakeComputedAttr(const ir::FieldDef& field, Formula formula, ResultOpId result_op);

// Arguments.
Formula::Argument ValueArgument(ValueId value);
Formula::Argument VariableArgument(AttrId variable);
Formula::Argument LiteralArgument(ir::Attribute literal);

}  // namespace weft::drr
