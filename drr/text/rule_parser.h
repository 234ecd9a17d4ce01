// Reads rules in the form of drr/text/rule_text.h, one statement after the other, into pattern
// graphs.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "drr/rule/rule.h"
#include "drr/text/diagnostics.h"
#include "ir/text/internal/scanner.h"
#include "ir/text/internal/side_files.h"
#include "ir/text/internal/value_parser.h"

namespace weft::drr::text {

// Of one text, which must outlive it. Rules are appended to those of the caller as they are
// finished. After a mistake in the text parsing goes on at the next rule, so that every wrong rule
// is named.
class RuleParser {
 public:
  RuleParser(std::string_view text, ir::IrContext* context, ir::Program* program,
             const NativeFunctions* functions, Diagnostics* mistakes,
             std::vector<std::unique_ptr<Rule>>* rules)
      : s_(text, mistakes->file(), false),
        side_files_(context, ""),
        values_parser_(context, &s_, &side_files_),
        context_(context),
        program_(program),
        functions_(functions),
        mistakes_(*mistakes),
        rules_(*rules),
        line_at_(text.data()),
        file_(ir::Name(mistakes->file()).str().data()) {}
  void Run();

 private:
  static constexpr size_t kMaxOps = 1000;

  bool Fail(const std::string& what) { return s_.Fail(what); }
  bool Fail(const char* at, const std::string& what) { return s_.Fail(at, what); }
  SourceLoc Here();

  // Values, names, literals and formulas: rule_parser_terms.cc. Every function returns false after
  // it has noted the mistake in the scanner.
  bool Quoted(std::string* text);
  bool Integer(int64_t least, int64_t most, int* value);
  // What follows a sigil: a name, a number, or a quoted name. Numbers are no names.
  bool Label(std::string* label, bool* is_name);
  bool Value(ValueId* id);
  SourceValue& At(ValueId id) { return graph_->values[id]; }
  bool Variable(AttrId* id);
  bool List(char close, const std::function<bool()>& item);
  bool ValueList(std::vector<ValueId>* ids, std::string_view absent);
  bool OpName(const ir::OpDef** def);
  bool FieldName(const ir::OpDef& def, const ir::FieldDef** field);
  bool Literal(const ir::FieldDef& field, ir::Attribute* value);
  bool ParseArgument(Formula::Argument* argument);
  // Behind the name.
  bool ParseFormula(std::string name, bool is_constraint, const char* at, Formula* formula);

  // Goes on at the first rule that begins behind `at`; false when there is none.
  bool SkipToRuleAfter(const char* at);

  // What a rule consists of: rule_parser.cc.
  bool ParseRule();
  bool ParsePart();
  bool ParseBlock(bool (RuleParser::*statement)());
  bool ParseNumerics();
  bool ParseRequire(bool profitable);
  // Behind `native`.
  bool ParseNative(const char* at, std::string reason, SourceLoc loc);
  bool ParseReplace();
  // The operands of a value's defining op.
  std::vector<ValueId> Below(ValueId id);
  // Values may be used before they are defined, so the pattern may contain a cycle: a value
  // on it, or none.
  ValueId FindCycle();
  bool Finish();

  // Statements of the source block: rule_parser_source.cc.
  bool ParseSource();
  bool ParseEither(const char* at, const std::vector<ValueId>& made);
  bool ParseSkip(const char* at, const std::vector<ValueId>& made);
  bool ParseFlag();
  bool ParseSourceOp(std::vector<ValueId> made, SourceLoc loc);
  bool ParseTimes(SourceOp* op);
  bool ParseAlternatives(SourceOp* op);
  bool ParseRegions(SourceOp* op);
  bool CheckArity(const char* at, const SourceOp& op, size_t num_results);
  bool ParseAttrPatterns(Alternative* a);
  bool AddDefault(const ir::OpDef& def, const ir::FieldDef& field, std::vector<AttrPattern>* attrs);
  bool ParseAttrPattern(const ir::OpDef& def, const ir::FieldDef& field,
                        std::vector<AttrPattern>* attrs);

  // Statements of the result block: rule_parser_result.cc.
  bool Operand(ResultOperand* operand);
  bool ParseOutside(const char* at, ResultOperand* operand);
  // The source op that defines a value.
  bool ProducerOf(OpId* op);
  bool ParseResult();
  bool CheckResultArity(const char* at, const ResultOp& op, size_t num_results);
  bool ParseOverrides(ResultOp* op);
  bool ParseResultAttrs(ResultOp* op);
  bool ParseResultAttr(const ir::FieldDef& field, ResultOp* op);

  ir::text::Scanner s_;
  ir::text::SideFiles side_files_;
  ir::text::ValueParser values_parser_;
  ir::IrContext* context_;
  ir::Program* program_;
  const NativeFunctions* functions_;
  Diagnostics& mistakes_;
  std::vector<std::unique_ptr<Rule>>& rules_;
  const char* line_at_;
  int line_ = 1;
  const char* file_;  // interned: names outlive every rule
  std::unique_ptr<PatternGraph> graph_;
  std::map<std::string, ValueId> values_;
  std::map<std::string, AttrId> variables_;
  std::map<std::string, ResultValueId> results_;
  std::string algebra_;
  NumericClass numerics_ = NumericClass::kReassociates;
  int benefit_ = 0;
};

}  // namespace weft::drr::text
