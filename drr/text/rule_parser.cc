#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "drr/arity.h"
#include "drr/drr.h"
#include "drr/internal/string_recorder.h"
#include "drr/text/internal/outside.h"
#include "drr/text/internal/traits.h"
#include "drr/text/literal.h"
#include "drr/text/rule_text.h"
#include "drr/text/vocabulary.h"
#include "ir/base/status.h"
#include "ir/text/internal/numbers.h"
#include "ir/text/internal/scanner.h"
#include "ir/text/internal/value_parser.h"

namespace weft::drr::text {
namespace {

using ir::Attribute;

constexpr size_t kMaxOps = 1000;
constexpr size_t kMaxValues = 20'000;
constexpr int kMaxTimes = 1'000'000;

class RuleParser {
 public:
  RuleParser(std::string_view text, ir::IrContext* context, ir::Program* program,
             Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules)
      : s_(text, mistakes->file(), false),
        side_files_(context, ""),
        values_parser_(context, &s_, &side_files_),
        context_(context),
        program_(program),
        mistakes_(*mistakes),
        rules_(*rules),
        line_at_(text.data()),
        file_(ir::Name(mistakes->file()).str().data()) {}

  void Run() {
    while (!s_.AtEnd() && ParseRule()) {
    }
    if (s_.failed()) mistakes_.Add(std::string(ir::Message(s_.status())));
  }

 private:
  bool Fail(const std::string& what) { return s_.Fail(what); }
  bool Fail(const char* at, const std::string& what) { return s_.Fail(at, what); }

  SourceLoc Here() {
    for (const char* here = s_.position(); line_at_ < here; ++line_at_) line_ += *line_at_ == '\n';
    return {file_, line_};
  }

  // --- small things -----------------------------------------------------------------

  bool Quoted(std::string* text) {
    std::string_view value;
    if (!s_.String(&value)) return false;
    *text = value;
    return true;
  }
  bool Integer(int64_t least, int64_t most, int* value) {
    const char* at = s_.position();
    const bool minus = s_.Consume('-');
    uint64_t digits = 0;
    if (!s_.Digits(&digits)) return false;
    const int64_t number = minus ? -static_cast<int64_t>(digits & INT32_MAX)
                                 : static_cast<int64_t>(std::min<uint64_t>(digits, INT32_MAX));
    if (number < least || number > most)
      return Fail(at, fmt::format("expected a number from {} to {}", least, most));
    *value = static_cast<int>(number);
    return true;
  }

  // What follows a sigil: a name, a number, or a quoted name. Numbers are no names.
  bool Label(std::string* label, bool* is_name) {
    *is_name = true;
    if (s_.Peek() == '"') return Quoted(label);
    *label = s_.Name();
    if (!label->empty()) return true;
    *is_name = false;
    uint64_t number = 0;
    if (!ir::text::IsDigit(s_.Peek()))
      return Fail("expected a name or a number but found " + s_.Found());
    if (!s_.Digits(&number)) return false;
    *label = std::to_string(number);
    return true;
  }

  bool Value(int* id) {
    const SourceLoc loc = Here();
    std::string label;
    bool is_name = false;
    if (!s_.Expect('%', "in front of a value") || !Label(&label, &is_name)) return false;
    const auto [it, is_new] = values_.emplace((is_name ? "n" : "#") + label, 0);
    if (is_new) {
      if (graph_->values.size() >= kMaxValues)
        return Fail(fmt::format("more than {} values", kMaxValues));
      it->second = static_cast<int>(graph_->values.size());
      SourceValue value;
      if (is_name) value.name = label;
      value.loc = loc;
      graph_->values.push_back(std::move(value));
    }
    *id = it->second;
    return true;
  }
  SourceValue& At(int id) { return graph_->values[static_cast<size_t>(id)]; }

  bool Variable(int* id) {
    const SourceLoc loc = Here();
    std::string label;
    bool is_name = false;
    if (!s_.Expect('$', "in front of an attribute variable") || !Label(&label, &is_name))
      return false;
    const auto [it, is_new] = variables_.emplace((is_name ? "n" : "#") + label, 0);
    if (is_new) {
      it->second = static_cast<int>(graph_->attrs.size());
      graph_->attrs.push_back({is_name ? label : "", loc, false});
    }
    *id = it->second;
    return true;
  }

  bool List(char close, const std::function<bool()>& item) {
    if (s_.Consume(close)) return true;
    do {
      if (!item()) return false;
    } while (s_.Consume(','));
    return s_.Expect(close, "at the end of the list");
  }

  bool ValueList(std::vector<int>* ids, std::string_view absent) {
    return s_.Expect('(', "before the values") && List(')', [&] {
             if (!absent.empty() && s_.ConsumeWord(absent)) {
               ids->push_back(kAbsent);
               return true;
             }
             return Value(&ids->emplace_back());
           });
  }

  bool OpName(const ir::OpDef** def) {
    const char* at = s_.position();
    const std::string name(s_.Name());
    if (name.empty()) return Fail(at, "expected the name of an op but found " + s_.Found());
    *def = context_->FindOp(name);
    if (*def) return true;
    std::vector<std::string_view> names;
    for (const ir::OpDef* known : context_->Ops()) names.push_back(known->name());
    return Fail(at,
                fmt::format("no op is called '{}'{}", name, string_spelling::Suggest(name, names)));
  }

  bool FieldName(const ir::OpDef& def, const ir::FieldDef** field) {
    const char* at = s_.position();
    const std::string name(s_.Name());
    *field = def.FindField(ir::Name(name));
    if (!*field) {
      std::vector<std::string_view> names;
      for (const ir::FieldDef& f : def.fields) names.push_back(f.name.str());
      return Fail(at, fmt::format("{} has no attribute '{}'{}", def.name(), name,
                                  string_spelling::Suggest(name, names)));
    }
    return s_.Expect(':', "after the attribute");
  }

  bool Literal(const ir::FieldDef& field, Attribute* value) {
    const char* at = s_.position();
    if (!values_parser_.ParseAttribute(&field, value)) return false;
    if (*value && field.accepts(*value)) return true;
    return Fail(at, field.enumerators.empty()
                        ? fmt::format("this is no value of attribute '{}'", field.name.str())
                        : fmt::format("attribute '{}' is one of {}", field.name.str(),
                                      fmt::join(field.enumerators, ", ")));
  }

  // Behind the name.
  bool ParseFormula(std::string name, bool is_constraint, const char* at, Formula* formula) {
    formula->name = std::move(name);
    if (!s_.Expect('(', "after the name of the formula")) return false;
    const bool ok = List(')', [&] {
      Formula::Argument argument;
      if (s_.Peek() == '%') {
        argument.kind = Formula::Argument::kValue;
        if (!Value(&argument.id)) return false;
      } else if (s_.Peek() == '$') {
        argument.kind = Formula::Argument::kVariable;
        if (!Variable(&argument.id)) return false;
      } else if (!values_parser_.ParseAttribute(nullptr, &argument.literal)) {
        return false;
      }
      formula->arguments.push_back(argument);
      return true;
    });
    if (!ok) return false;
    const std::string wrong = CheckFormula(*formula, is_constraint);
    return wrong.empty() || Fail(at, wrong);
  }

  // --- the rule -----------------------------------------------------------------------

  bool ParseRule() {
    const SourceLoc loc = Here();
    if (!s_.ConsumeWord("rule")) return Fail("expected 'rule' but found " + s_.Found());
    std::string name;
    if (s_.Peek() == '"') {
      if (!Quoted(&name)) return false;
    } else {
      name = s_.BareValue();
    }
    if (name.empty()) return Fail("expected the name of the rule but found " + s_.Found());
    for (const auto& rule : rules_)
      if (rule->name == name) return Fail(fmt::format("two rules are called '{}'", name));
    graph_ = std::make_unique<PatternGraph>(name, context_);
    graph_->loc = loc;
    values_.clear(), variables_.clear(), results_.clear();
    algebra_.clear();
    numerics_ = NumericClass::kReassociates;
    benefit_ = 0;
    if (!s_.Expect('{', "after the name of the rule")) return false;
    while (!s_.Consume('}'))
      if (!ParsePart()) return false;
    return Finish();
  }

  bool ParsePart() {
    const char* at = s_.position();
    const std::string word(s_.Name());
    if (word == "algebra") return Quoted(&algebra_);
    if (word == "numerics") return ParseNumerics();
    if (word == "benefit") return Integer(0, 1'000'000, &benefit_);
    if (word == "lenient") return graph_->lenient = true;
    if (word == "source") return ParseBlock(&RuleParser::ParseSource);
    if (word == "result") return ParseBlock(&RuleParser::ParseResult);
    if (word == "require") return ParseRequire();
    if (word == "replace") return ParseReplace();
    if (word == "after")
      return Fail(at,
                  "what runs after the replacement is native code: it can only be written in "
                  "C++");
    return Fail(at, fmt::format("expected algebra, numerics, benefit, source, require, result or "
                                "replace but found {}",
                                word.empty() ? s_.Found() : "'" + word + "'"));
  }

  bool ParseBlock(bool (RuleParser::*statement)()) {
    if (!s_.Expect('{', "at the beginning of the block")) return false;
    while (!s_.Consume('}'))
      if (!(this->*statement)()) return false;
    return true;
  }

  bool ParseNumerics() {
    const char* at = s_.position();
    const std::string word(s_.Name());
    for (NumericClass c :
         {NumericClass::kExact, NumericClass::kReassociates, NumericClass::kApproximate}) {
      if (word != NumericClassName(c)) continue;
      numerics_ = c;
      return true;
    }
    return Fail(at, "numerics are exact, reassociates or approximate");
  }

  bool ParseRequire() {
    const SourceLoc loc = Here();
    std::string reason;
    if (!Quoted(&reason)) return false;
    const char* at = s_.position();
    const std::string name(s_.Name());
    if (name == "native")
      return Fail(at, fmt::format("the constraint \"{}\" is native code: it can only be written in "
                                  "C++",
                                  reason));
    Formula formula;
    if (!ParseFormula(name, true, at, &formula)) return false;
    graph_->constraints.push_back(MakeConstraint(std::move(formula), std::move(reason), loc));
    return true;
  }

  bool ParseReplace() {
    Replacement r;
    r.loc = Here();
    if (!Value(&r.source)) return false;
    if (!s_.ConsumeWord("with")) return Fail("expected 'with' but found " + s_.Found());
    if (!Operand(&r.with)) return false;
    graph_->replacements.push_back(r);
    return true;
  }

  // --- source -------------------------------------------------------------------------

  bool ParseSource() {
    if (s_.Peek() != '%') return ParseFlag();
    const SourceLoc loc = Here();
    const char* at = s_.position();
    std::vector<int> made;
    do {
      if (!Value(&made.emplace_back())) return false;
    } while (s_.Consume(','));
    if (!s_.Expect('=', "after the values that are made")) return false;
    for (int id : made) {
      const SourceValue& v = At(id);
      if (v.producer >= 0 || !v.either.empty() || v.through >= 0 ||
          std::count(made.begin(), made.end(), id) > 1)
        return Fail(at, fmt::format("{} is made twice", graph_->Describe(id)));
    }
    if (s_.ConsumeWord("either")) return ParseEither(at, made);
    if (s_.ConsumeWord("skip")) return ParseSkip(at, made);
    return ParseSourceOp(std::move(made), loc);
  }

  bool ParseEither(const char* at, const std::vector<int>& made) {
    std::vector<int> either;
    if (made.size() != 1) return Fail(at, "either(...) is one value");
    if (!ValueList(&either, "")) return false;
    if (either.size() < 2) return Fail(at, "either(...) needs two values or more");
    At(made[0]).either = std::move(either);
    return true;
  }

  bool ParseSkip(const char* at, const std::vector<int>& made) {
    if (made.size() != 1) return Fail(at, "skip(...) is one value");
    int through = -1;
    std::vector<SkippedOp> skipped;
    if (!s_.Expect('(', "after skip") || !Value(&through)) return false;
    while (s_.Consume(',')) {
      SkippedOp op;
      if (!OpName(&op.def)) return false;
      op.same_type = s_.ConsumeWord("same_type");
      skipped.push_back(op);
    }
    if (skipped.empty()) return Fail("expected an op that may be skipped but found " + s_.Found());
    At(made[0]).through = through;
    At(made[0]).skipped = std::move(skipped);
    return s_.Expect(')', "after the ops that may be skipped");
  }

  bool ParseFlag() {
    const char* at = s_.position();
    const std::string word(s_.Name());
    int id = -1, pattern = -1;
    const bool known = word == "optional" || word == "list" || word == "outside" ||
                       word == "keep" || word == "recompute" || word == "not";
    if (!known)
      return Fail(at, fmt::format("expected a value, optional, keep, recompute, outside, list or "
                                  "not, but found {}",
                                  word.empty() ? s_.Found() : "'" + word + "'"));
    if (!Value(&id)) return false;
    if (word == "not") {
      if (!Value(&pattern)) return false;
      At(id).nots.push_back(pattern);
    }
    SourceValue& v = At(id);
    v.optional |= word == "optional";
    v.list |= word == "list";
    v.outside |= word == "outside";
    if (word == "keep") v.escape = Escape::kKeep;
    if (word == "recompute") v.escape = Escape::kRecompute;
    return true;
  }

  bool ParseSourceOp(std::vector<int> made, SourceLoc loc) {
    if (graph_->ops.size() >= kMaxOps) return Fail(fmt::format("more than {} ops", kMaxOps));
    SourceOp op;
    op.loc = loc;
    op.called = true;
    if (!ParseTimes(&op) || !ParseAlternatives(&op)) return false;
    const char* at = s_.position();
    if (!ValueList(&op.operands, "none") || !ParseRegions(&op)) return false;
    if (!CheckArity(at, op, made.size())) return false;
    for (size_t i = 0; i < made.size(); ++i) {
      At(made[i]).producer = static_cast<int>(graph_->ops.size());
      At(made[i]).result_index = static_cast<int>(i);
      At(made[i]).list |= op.times == Times::kEach;
    }
    op.results = std::move(made);
    graph_->ops.push_back(std::move(op));
    return true;
  }

  bool ParseTimes(SourceOp* op) {
    if (s_.ConsumeWord("each")) op->times = Times::kEach;
    if (!s_.ConsumeWord("repeat")) return true;
    op->times = Times::kChain;
    if (!Integer(0, kMaxTimes, &op->min_times)) return false;
    if (!s_.Consume('.') || !s_.Consume('.')) return Fail("expected '..' but found " + s_.Found());
    return Integer(op->min_times, INT32_MAX, &op->max_times);
  }

  bool ParseAlternatives(SourceOp* op) {
    if (s_.ConsumeWord("named")) return Quoted(&op->opcode);
    if (s_.ConsumeWord("any")) {
      if (!s_.Expect('[', "before the traits")) return false;
      while (!s_.Consume(']')) {
        uint32_t trait = 0;
        const char* at = s_.position();
        if (!ParseTrait(s_.Name(), &trait)) return Fail(at, "there is no such trait");
        op->traits |= trait;
      }
      return true;
    }
    do {
      Alternative alternative;
      if (!OpName(&alternative.def) || !ParseAttrPatterns(&alternative)) return false;
      op->alternatives.push_back(std::move(alternative));
      if (op->alternatives.size() > kMaxOps) return Fail("too many alternatives");
    } while (s_.Consume('|'));
    return true;
  }

  bool ParseRegions(SourceOp* op) {
    while (s_.ConsumeWord("region")) {
      RegionPattern region;
      region.loc = Here();
      if (!Integer(0, 1000, &region.region) || !ValueList(&region.returned, "_")) return false;
      op->regions.push_back(std::move(region));
    }
    return true;
  }

  bool CheckArity(const char* at, const SourceOp& op, size_t num_results) {
    const bool plain = op.times == Times::kOnce;
    if (!plain && num_results != 1) return Fail(at, "a chain, or each, gives one value");
    if (!plain && op.operands.empty()) return Fail(at, "a chain, or each, reads a value");
    for (const Alternative& a : op.alternatives) {
      const auto& operands = a.def->info->operands;
      if (plain && !IsVariadic(operands) && op.operands.size() > operands.size())
        return Fail(at, fmt::format("{} takes at most {} operands, not {}", a.def->name(),
                                    operands.size(), op.operands.size()));
      for (size_t i = op.operands.size(); plain && i < operands.size(); ++i)
        if (operands[i].arity == ir::Arity::kOne)
          return Fail(
              at, fmt::format("operand '{}' of {} is not given", operands[i].name, a.def->name()));
      const auto& results = a.def->info->results;
      if (!IsVariadic(results) && num_results > results.size())
        return Fail(at, fmt::format("{} has at most {} results, not {}", a.def->name(),
                                    results.size(), num_results));
    }
    return true;
  }

  bool ParseAttrPatterns(Alternative* a) {
    bool open = false;
    std::vector<bool> seen(a->def->fields.size(), false);
    if (s_.Consume('{')) {
      const bool ok = List('}', [&] {
        if (s_.Consume("...")) return open = true;
        const ir::FieldDef* field = nullptr;
        const char* at = s_.position();
        if (!FieldName(*a->def, &field)) return false;
        const size_t index = static_cast<size_t>(field - a->def->fields.data());
        if (seen[index])
          return Fail(at, fmt::format("attribute '{}' is there twice", field->name.str()));
        seen[index] = true;
        return ParseAttrPattern(*a->def, *field, &a->attrs);
      });
      if (!ok) return false;
    }
    for (size_t i = 0; i < seen.size() && !open; ++i) {
      if (seen[i]) continue;
      if (!AddDefault(*a->def, a->def->fields[i], &a->attrs)) return false;
    }
    // As if they had been recorded: in the order of the op's fields.
    std::stable_sort(a->attrs.begin(), a->attrs.end(),
                     [&](const AttrPattern& x, const AttrPattern& y) {
                       return a->def->FindField(x.name) < a->def->FindField(y.name);
                     });
    return true;
  }

  bool AddDefault(const ir::OpDef& def, const ir::FieldDef& field,
                  std::vector<AttrPattern>* attrs) {
    if (!field.make_default && !field.optional)
      return Fail(
          fmt::format("attribute '{}' of {} has no default: give a value, a variable or "
                      "any",
                      field.name.str(), def.name()));
    drr::internal::AddDefaultAttr(graph_.get(), field, {}, def.name(), attrs);
    return true;
  }

  bool ParseAttrPattern(const ir::OpDef& def, const ir::FieldDef& field,
                        std::vector<AttrPattern>* attrs) {
    if (s_.Peek() == '$') {
      int variable = -1;
      if (!Variable(&variable)) return false;
      drr::internal::AddBind(graph_.get(), field, variable, attrs);
      if (s_.ConsumeWord("given")) attrs->back().values.clear();
      return true;
    }
    if (s_.ConsumeWord("default")) return AddDefault(def, field, attrs);
    if (s_.ConsumeWord("any")) {
      attrs->push_back({field.name, AttrPattern::kAny, {}, -1});
      return true;
    }
    std::vector<Attribute> values;
    const auto value = [&] {
      if (s_.ConsumeWord("absent")) {
        values.emplace_back();
        return true;
      }
      return Literal(field, &values.emplace_back());
    };
    const bool given = s_.ConsumeWord("given");
    if (given || s_.ConsumeWord("in")) {
      if (!s_.Expect('(', "before the values") || !List(')', value)) return false;
    } else if (!value()) {
      return false;
    }
    if (given) {
      attrs->push_back({field.name, AttrPattern::kIsOneOf, std::move(values), -1});
    } else {
      drr::internal::AddLiterals(graph_.get(), field, std::move(values), attrs);
    }
    return true;
  }

  // --- result -------------------------------------------------------------------------

  bool Operand(ResultOperand* operand) {
    const char* at = s_.position();
    if (s_.ConsumeWord("none")) return true;
    if (s_.ConsumeWord("outside")) return ParseOutside(at, operand);
    if (s_.Peek() == '!') {
      std::string label;
      bool is_name = false;
      s_.Consume('!');
      if (!Label(&label, &is_name)) return false;
      const auto it = results_.find(label);
      if (it == results_.end()) return Fail(at, fmt::format("!{} is not made above", label));
      *operand = {ResultOperand::kResult, it->second};
    } else {
      operand->kind = ResultOperand::kSource;
      if (!Value(&operand->id)) return false;
    }
    operand->list = s_.Consume('*');
    return true;
  }

  bool ParseOutside(const char* at, ResultOperand* operand) {
    OutsideValue outside;
    outside.loc = Here();
    if (!Quoted(&outside.node) || !s_.Expect(':', "after the name of the node") ||
        !Integer(-1000, 1000, &outside.result))
      return false;
    if (!program_) return Fail(at, "a node of a program is named, and there is no program");
    outside.value = FindOutside(*program_, outside.node, outside.result);
    if (!outside.value)
      return Fail(at, fmt::format("the program has no node '{}' with an output {}", outside.node,
                                  outside.result));
    *operand = {ResultOperand::kOutside, static_cast<int>(graph_->outside.size())};
    graph_->outside.push_back(std::move(outside));
    return true;
  }

  // The source op that makes a value.
  bool ProducerOf(int* op) {
    const char* at = s_.position();
    int value = -1;
    if (!Value(&value)) return false;
    *op = At(value).producer;
    return *op >= 0 || Fail(at, fmt::format("no source op makes {}", graph_->Describe(value)));
  }

  bool ParseResult() {
    if (graph_->result_ops.size() >= kMaxOps) return Fail(fmt::format("more than {} ops", kMaxOps));
    ResultOp op;
    op.loc = Here();
    op.called = true;
    std::vector<std::string> labels;
    do {
      bool is_name = false;
      if (!s_.Expect('!', "in front of a value of the result")) return false;
      const char* at = s_.position();
      if (!Label(&labels.emplace_back(), &is_name)) return false;
      if (results_.count(labels.back()) ||
          std::count(labels.begin(), labels.end(), labels.back()) > 1)
        return Fail(at, fmt::format("!{} is made twice", labels.back()));
    } while (s_.Consume(','));
    if (!s_.Expect('=', "after the values that are made")) return false;
    op.each = s_.ConsumeWord("each");
    if (s_.ConsumeWord("like")) {
      if (!ProducerOf(&op.like)) return false;
    } else if (!OpName(&op.def) || !ParseResultAttrs(&op)) {
      return false;
    }
    const char* at = s_.position();
    if (!s_.Expect('(', "before the operands") ||
        !List(')', [&] { return Operand(&op.operands.emplace_back()); }))
      return false;
    if (!CheckResultArity(at, op, labels.size())) return false;
    if (s_.ConsumeWord("at") && !Value(&op.location_of)) return false;
    if (s_.ConsumeWord("named") && !Quoted(&op.location)) return false;
    for (const std::string& label : labels) {
      results_[label] = graph_->num_result_values;
      op.results.push_back(graph_->num_result_values++);
    }
    graph_->result_ops.push_back(std::move(op));
    return true;
  }

  bool CheckResultArity(const char* at, const ResultOp& op, size_t num_results) {
    if (op.each || !op.def) {
      if (num_results != 1) return Fail(at, "each, or like, gives one value");
      return !op.operands.empty() || Fail(at, "each, or like, reads a value");
    }
    const auto& operands = op.def->info->operands;
    if (!IsVariadic(operands) && op.operands.size() > operands.size())
      return Fail(at, fmt::format("{} takes at most {} operands, not {}", op.def->name(),
                                  operands.size(), op.operands.size()));
    for (size_t i = op.operands.size(); i < operands.size(); ++i)
      if (operands[i].arity == ir::Arity::kOne)
        return Fail(
            at, fmt::format("operand '{}' of {} is not given", operands[i].name, op.def->name()));
    const auto& results = op.def->info->results;
    if (!IsVariadic(results) && num_results > results.size())
      return Fail(at, fmt::format("{} has at most {} results, not {}", op.def->name(),
                                  results.size(), num_results));
    return true;
  }

  bool ParseResultAttrs(ResultOp* op) {
    if (s_.Consume('{')) {
      const bool ok = List('}', [&] {
        if (op->attrs.empty() && op->attrs_of < 0 && s_.ConsumeWord("attrs")) {
          if (!s_.ConsumeWord("of")) return Fail("expected 'of' but found " + s_.Found());
          return ProducerOf(&op->attrs_of);
        }
        const ir::FieldDef* field = nullptr;
        return FieldName(*op->def, &field) && ParseResultAttr(*field, op);
      });
      if (!ok) return false;
    }
    for (const ir::FieldDef& field : op->def->fields) {
      const bool set = std::any_of(op->attrs.begin(), op->attrs.end(),
                                   [&](const ResultAttr& a) { return a.name == field.name; });
      if (set || op->attrs_of >= 0) continue;
      if (field.make_default) {
        op->attrs.push_back({field.name, field.make_default(*context_), -1, {}, {}});
      } else if (!field.optional) {
        return Fail(fmt::format("attribute '{}' of {} has no default and is not set",
                                field.name.str(), op->def->name()));
      }
    }
    return true;
  }

  bool ParseResultAttr(const ir::FieldDef& field, ResultOp* op) {
    const char* at = s_.position();
    ResultAttr attr{field.name, {}, -1, {}, {}};
    if (s_.Peek() == '$') {
      if (!Variable(&attr.variable)) return false;
      if (!graph_->attrs[static_cast<size_t>(attr.variable)].bound)
        return Fail(at, "no source op binds this variable");
    } else if (s_.ConsumeWord("native")) {
      return Fail(at, fmt::format("attribute '{}' is computed by native code: it can only be "
                                  "written in C++",
                                  field.name.str()));
    } else if (s_.Consume('=')) {
      const char* formula_at = s_.position();
      Formula formula;
      if (!ParseFormula(std::string(s_.Name()), false, formula_at, &formula)) return false;
      attr = MakeComputedAttr(field.name, field.kind, std::move(formula),
                              static_cast<int>(graph_->result_ops.size()));
    } else if (!Literal(field, &attr.literal)) {
      return false;
    }
    op->attrs.push_back(std::move(attr));
    return true;
  }

  // --- the end ------------------------------------------------------------------------

  // What a value is made from.
  std::vector<int> Below(int id) {
    const SourceValue& v = At(id);
    std::vector<int> below = v.either;
    below.insert(below.end(), v.nots.begin(), v.nots.end());
    if (v.through >= 0) below.push_back(v.through);
    if (v.producer < 0) return below;
    const SourceOp& op = graph_->ops[static_cast<size_t>(v.producer)];
    below.insert(below.end(), op.operands.begin(), op.operands.end());
    for (const RegionPattern& r : op.regions)
      below.insert(below.end(), r.returned.begin(), r.returned.end());
    std::erase(below, kAbsent);
    return below;
  }

  // Values may be used before they are made, so that a rule may be a ring. -1: it is none.
  int FindRing() {
    enum State : uint8_t { kNew, kOpen, kDone };
    std::vector<State> state(graph_->values.size(), kNew);
    std::vector<std::pair<int, std::vector<int>>> path;
    for (size_t start = 0; start < state.size(); ++start) {
      if (state[start] != kNew) continue;
      path.emplace_back(static_cast<int>(start), Below(static_cast<int>(start)));
      state[start] = kOpen;
      while (!path.empty()) {
        if (path.back().second.empty()) {
          state[static_cast<size_t>(path.back().first)] = kDone;
          path.pop_back();
          continue;
        }
        const int next = path.back().second.back();
        path.back().second.pop_back();
        if (state[static_cast<size_t>(next)] == kOpen) return next;
        if (state[static_cast<size_t>(next)] == kDone) continue;
        state[static_cast<size_t>(next)] = kOpen;
        path.emplace_back(next, Below(next));
      }
    }
    return -1;
  }

  bool Finish() {
    if (const int ring = FindRing(); ring >= 0)
      return Fail(
          fmt::format("rule {}: {} is made from itself", graph_->rule(), graph_->Describe(ring)));
    if (graph_->replacements.empty())
      return Fail(fmt::format("rule {} replaces nothing", graph_->rule()));
    BuildResult built = drr::internal::FinishRule(std::move(graph_), algebra_, numerics_, benefit_);
    for (std::string& error : built.errors) mistakes_.Add(std::move(error));
    if (built.rule) rules_.push_back(std::move(built.rule));
    return true;
  }

  ir::text::Scanner s_;
  ir::text::SideFiles side_files_;
  ir::text::ValueParser values_parser_;
  ir::IrContext* context_;
  ir::Program* program_;
  Diagnostics& mistakes_;
  std::vector<std::unique_ptr<Rule>>& rules_;
  const char* line_at_;
  int line_ = 1;
  const char* file_;  // interned: names outlive every rule
  std::unique_ptr<PatternGraph> graph_;
  std::map<std::string, int> values_, variables_, results_;
  std::string algebra_;
  NumericClass numerics_ = NumericClass::kReassociates;
  int benefit_ = 0;
};

}  // namespace

void ParseRules(std::string_view text, ir::IrContext* context, ir::Program* program,
                Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules) {
  if (text.size() > kMaxRuleFileBytes) {
    mistakes->Error({}, fmt::format("the text has {} bytes but must have at most {}", text.size(),
                                    kMaxRuleFileBytes));
    return;
  }
  RuleParser(text, context, program, mistakes, rules).Run();
}

}  // namespace weft::drr::text
