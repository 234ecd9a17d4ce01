// What the statements of a rule are made of.
#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/vocabulary.h"
#include "drr/text/rule_parser.h"
#include "ir/base/suggest.h"
#include "ir/text/internal/literals.h"
#include "ir/text/internal/numbers.h"

namespace weft::drr::text {

using ir::Attribute;

namespace {

constexpr size_t kMaxValues = 20'000;

// As the text has it: %x, $0 or %"a b".
std::string Handle(char sigil, const std::string& label, bool is_name) {
  if (!is_name || ir::text::IsBareName(label)) return sigil + label;
  std::string text(1, sigil);
  ir::text::AppendQuoted(&text, label);
  return text;
}

}  // namespace

bool RuleParser::Quoted(std::string* text) {
  std::string_view value;
  if (!s_.String(&value)) return false;
  *text = value;
  return true;
}

bool RuleParser::Integer(int64_t least, int64_t most, int* value) {
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

bool RuleParser::Label(std::string* label, bool* is_name) {
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

bool RuleParser::Value(ValueId* id) {
  const SourceLoc loc = Here();
  std::string label;
  bool is_name = false;
  if (!s_.Expect('%', "in front of a value") || !Label(&label, &is_name)) return false;
  const auto [it, is_new] = values_.emplace((is_name ? "n" : "#") + label, ValueId());
  if (is_new) {
    if (graph_->values.size() >= kMaxValues)
      return Fail(fmt::format("more than {} values", kMaxValues));
    SourceValue value;
    if (is_name) value.name = label;
    value.label = Handle('%', label, is_name);
    value.loc = loc;
    it->second = graph_->values.Add(std::move(value));
  }
  *id = it->second;
  return true;
}

bool RuleParser::Variable(AttrId* id) {
  const SourceLoc loc = Here();
  std::string label;
  bool is_name = false;
  if (!s_.Expect('$', "in front of an attribute variable") || !Label(&label, &is_name))
    return false;
  const auto [it, is_new] = variables_.emplace((is_name ? "n" : "#") + label, AttrId());
  if (is_new)
    it->second = graph_->attrs.Add({is_name ? label : "", loc, false, Handle('$', label, is_name)});
  *id = it->second;
  return true;
}

bool RuleParser::List(char close, const std::function<bool()>& item) {
  if (s_.Consume(close)) return true;
  do {
    if (!item()) return false;
  } while (s_.Consume(','));
  return s_.Expect(close, "at the end of the list");
}

bool RuleParser::ValueList(std::vector<ValueId>* ids, std::string_view absent) {
  return s_.Expect('(', "before the values") && List(')', [&] {
           if (!absent.empty() && s_.ConsumeWord(absent)) {
             ids->push_back(kAbsent);
             return true;
           }
           return Value(&ids->emplace_back());
         });
}

bool RuleParser::OpName(const ir::OpDef** def) {
  const char* at = s_.position();
  const std::string name(s_.Name());
  if (name.empty()) return Fail(at, "expected the name of an op but found " + s_.Found());
  *def = context_->FindOp(name);
  if (*def) return true;
  std::vector<std::string_view> names;
  for (const ir::OpDef* known : context_->Ops()) names.push_back(known->name());
  return Fail(at, fmt::format("no op is called '{}'{}", name, ir::DidYouMean(name, names)));
}

bool RuleParser::FieldName(const ir::OpDef& def, const ir::FieldDef** field) {
  const char* at = s_.position();
  const std::string name(s_.Name());
  *field = def.FindField(ir::Name(name));
  if (!*field) {
    std::vector<std::string_view> names;
    for (const ir::FieldDef& f : def.fields) names.push_back(f.name.str());
    return Fail(at, fmt::format("{} has no attribute '{}'{}", def.name(), name,
                                ir::DidYouMean(name, names)));
  }
  return s_.Expect(':', "after the attribute");
}

bool RuleParser::Literal(const ir::FieldDef& field, Attribute* value) {
  const char* at = s_.position();
  if (!values_parser_.ParseAttribute(&field, value)) return false;
  if (*value && field.accepts(*value)) return true;
  return Fail(at, field.enumerators.empty()
                      ? fmt::format("this is no value of attribute '{}'", field.name.str())
                      : fmt::format("attribute '{}' is one of {}", field.name.str(),
                                    fmt::join(field.enumerators, ", ")));
}

bool RuleParser::ParseArgument(Formula::Argument* argument) {
  if (s_.Peek() == '%') {
    argument->kind = Formula::Argument::kValue;
    if (!Value(&argument->value)) return false;
    argument->if_given = s_.Consume('?');
    return true;
  }
  if (s_.Peek() == '$') {
    argument->kind = Formula::Argument::kVariable;
    return Variable(&argument->variable);
  }
  return values_parser_.ParseAttribute(nullptr, &argument->literal);
}

bool RuleParser::ParseFormula(std::string name, bool is_constraint, const char* at,
                              Formula* formula) {
  formula->name = std::move(name);
  if (!s_.Expect('(', "after the name of the formula")) return false;
  const bool ok = List(')', [&] { return ParseArgument(&formula->arguments.emplace_back()); });
  if (!ok) return false;
  const std::string wrong = CheckFormula(*graph_, *formula, is_constraint);
  return wrong.empty() || Fail(at, wrong);
}

}  // namespace weft::drr::text
