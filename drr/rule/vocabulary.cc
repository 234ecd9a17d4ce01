#include "drr/rule/vocabulary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drr/rule/convert_attr.h"
#include "drr/rule/evaluation.h"
#include "drr/rule/vocabulary_table.h"
#include "ir/base/suggest.h"

namespace weft::drr {

using internal::Entries;
using internal::Entry;
using internal::Evaluation;
using internal::FormulaArguments;
using ir::Attribute;
using ir::AttrKind;

namespace {

const Entry* FindEntry(std::string_view name) {
  for (const Entry& e : Entries())
    if (e.entry.name == name) return &e;
  return nullptr;
}

bool Fits(const PatternGraph& graph, const Formula::Argument& a, char letter) {
  using Argument = Formula::Argument;
  const bool literal = a.kind == Argument::kLiteral && a.literal;
  const bool variable = a.kind == Argument::kVariable;
  const bool list = a.kind == Argument::kValue && graph.values[graph.Resolve(a.value)].list;
  switch (letter) {
    case 'v':
      return a.kind == Argument::kValue && !list;
    case 'A':
      return variable || Fits(graph, a, 'v');
    case 'N':
      return variable || Fits(graph, a, 'n');
    case 'L':
      return list;
    case 'a':
      return variable;
    case 'i':
      return variable || (literal && a.literal.Is(AttrKind::kInt));
    case 'n':
      return literal && (a.literal.Is(AttrKind::kInt) || a.literal.Is(AttrKind::kFloat) ||
                         a.literal.Is(AttrKind::kDouble));
    case 's':
      return literal && a.literal.Is(AttrKind::kString);
    case 't':
      return variable || (literal && a.literal.Is(AttrKind::kDataType));
    default:
      return literal;
  }
}

std::string CountText(size_t least, size_t most) {
  if (least == most) return fmt::format("{} argument{}", least, least == 1 ? "" : "s");
  return fmt::format("{} to {} arguments", least, most);
}

}  // namespace

namespace internal {

FormulaArguments::FormulaArguments(const Formula& formula) {
  for (const Formula::Argument& a : formula.arguments) {
    FormulaArgument& argument = list[size];
    if (a.if_given) if_given = static_cast<uint8_t>(if_given | 1u << size);
    ++size;
    if (a.kind != Formula::Argument::kLiteral) {
      argument.value = a.value;
      argument.variable = a.variable;
      continue;
    }
    argument.literal = a.literal;
    if (a.literal.Is(AttrKind::kInt)) {
      argument.integer = a.literal.AsInt();
      argument.number = static_cast<double>(argument.integer);
    } else if (a.literal.Is(AttrKind::kFloat) || a.literal.Is(AttrKind::kDouble)) {
      argument.number = a.literal.AsDouble();
    }
  }
}

}  // namespace internal

const std::vector<VocabularyEntry>& Vocabulary() {
  static const auto* list = [] {
    auto* entries = new std::vector<VocabularyEntry>;
    for (const Entry& e : Entries()) entries->push_back(e.entry);
    return entries;
  }();
  return *list;
}

std::string_view ParameterName(char letter) {
  switch (letter) {
    case 'v':
      return "value";
    case 'A':
      return "list of integers";
    case 'N':
      return "number";
    case 'L':
      return "list of values";
    case 'a':
      return "attribute variable";
    case 'i':
      return "integer";
    case 'n':
      return "number";
    case 's':
      return "string";
    case 't':
      return "element type";
    default:
      return "literal";
  }
}

std::string CheckFormula(const PatternGraph& graph, const Formula& formula, bool is_constraint) {
  const Entry* entry = FindEntry(formula.name);
  const std::string_view what = is_constraint ? "constraint" : "computed attribute";
  const bool fits = entry && (is_constraint ? entry->entry.is_constraint || entry->bind_attribute
                                            : !entry->entry.is_constraint);
  if (!fits) {
    std::vector<std::string_view> names;
    for (const Entry& e : Entries())
      if (e.entry.is_constraint == is_constraint) names.push_back(e.entry.name);
    return fmt::format("unknown {} '{}'{}", what, formula.name,
                       ir::DidYouMean(formula.name, names));
  }
  std::string letters(entry->entry.arguments);
  const size_t optional = letters.find('?');
  std::erase(letters, '?');
  const size_t least = optional == std::string::npos ? letters.size() : optional;
  if (formula.arguments.size() < least || formula.arguments.size() > letters.size())
    return fmt::format("{} '{}' takes {} but has {}", what, formula.name,
                       CountText(least, letters.size()), formula.arguments.size());
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    if (!Fits(graph, formula.arguments[i], letters[i]))
      return fmt::format(
          "argument {} of '{}' must be {} {}", i + 1, formula.name,
          std::string_view("aeio").find(ParameterName(letters[i])[0]) == std::string_view::npos
              ? "a"
              : "an",
          ParameterName(letters[i]));
  return "";
}

namespace {

// The value that a reason is about: without skips, and of an Either the first of its alternatives.
const SourceValue& Underlying(const PatternGraph& graph, ValueId* value) {
  *value = graph.Resolve(*value);
  while (graph.values[*value].name.empty() && graph.values[*value].through)
    *value = graph.Resolve(graph.values[*value].through);
  return graph.values[*value];
}

std::string_view ShortName(const SourceOp& op) {
  const std::string_view name = op.Name();
  return name.substr(name.find('.') + 1);
}

std::string Text(const PatternGraph& graph, const Formula::Argument& a) {
  switch (a.kind) {
    case Formula::Argument::kValue: {
      ValueId named = a.value;  // "the constant" of an alternative needs no "if given"
      const bool says_if = a.if_given && !Underlying(graph, &named).name.empty();
      return NameInReason(graph, a.value) + (says_if ? ", if given," : "");
    }
    case Formula::Argument::kVariable:
      return graph.attrs[a.variable].name;
    case Formula::Argument::kLiteral:
      break;
  }
  if (a.literal.Is(AttrKind::kFloat) || a.literal.Is(AttrKind::kDouble))
    return fmt::format("{:.9g}", a.literal.AsDouble());
  if (a.literal.Is(AttrKind::kInt)) return fmt::format("{}", a.literal.AsInt());
  if (a.literal.Is(AttrKind::kInts))
    return fmt::format("[{}]", fmt::join(a.literal.AsInts(), ", "));
  if (a.literal.Is(AttrKind::kDataType))
    return std::string(ir::DataTypeName(a.literal.AsDataType()));
  return a.literal.Is(AttrKind::kString) ? a.literal.AsString() : std::string("the literal");
}

}  // namespace

std::string NameInReason(const PatternGraph& graph, ValueId value) {
  const SourceValue& v = Underlying(graph, &value);
  if (!v.name.empty()) return v.name;
  const auto is_replaced = [&](ValueId id) {
    return std::any_of(graph.replacements.begin(), graph.replacements.end(),
                       [&](const auto& r) { return graph.Resolve(r.source) == graph.Resolve(id); });
  };
  if (is_replaced(value)) return "the result";
  if (v.producer) {
    const std::string_view name = ShortName(graph.ops[v.producer]);
    const auto alike = std::count_if(graph.ops.begin(), graph.ops.end(), [&](const SourceOp& op) {
      return ShortName(op) == name &&
             std::none_of(op.results.begin(), op.results.end(), is_replaced);
    });
    if (alike == 1) return fmt::format("the {}", name);
    return fmt::format("the {} of line {}", name, v.loc.line);
  }
  if (v.either.empty()) return "the constant";
  return fmt::format("the value of line {}", v.loc.line);
}

std::string ReasonOf(const PatternGraph& graph, const Formula& formula) {
  const Entry* entry = FindEntry(formula.name);
  if (!entry->entry.is_constraint) return fmt::format("{} can be computed", formula.name);
  std::array<std::string, kMaxArguments> words;
  for (size_t i = 0; i < formula.arguments.size(); ++i)
    words[i] = Text(graph, formula.arguments[i]);
  return fmt::format(fmt::runtime(entry->entry.reason), words[0], words[1], words[2], words[3]);
}

Constraint MakeConstraint(Formula formula, std::string reason, SourceLoc loc) {
  Constraint constraint;
  constraint.reason = std::move(reason);
  const Entry* entry = FindEntry(formula.name);
  const FormulaArguments arguments(formula);
  if (entry->bind) {
    constraint.holds = entry->bind(arguments);
  } else {
    constraint.holds = [arguments,
                        compute = entry->bind_attribute(arguments)](const MatchContext& m) {
      return Evaluation(m, arguments).IsAbsent() || compute(m);
    };
  }
  constraint.loc = loc;
  constraint.formula = std::move(formula);
  return constraint;
}

ResultAttr MakeComputedAttr(const ir::FieldDef& field, Formula formula, ResultOpId result_op) {
  ResultAttr attr;
  attr.name = field.name;
  if (formula.name == kFromBody) {
    attr.compute = [name = field.name, result_op](const MatchContext& m) {
      return internal::AttributeFromBody(m, name, result_op);
    };
  } else {
    attr.compute = [compute = FindEntry(formula.name)->bind_attribute(FormulaArguments(formula)),
                    kind = field.kind, accepts = field.accepts](const MatchContext& m) {
      const Attribute value = ConvertAttr(*m.context(), compute(m), kind);
      return value && (!accepts || accepts(value)) ? value : Attribute();
    };
  }
  attr.formula = std::move(formula);
  return attr;
}

Formula::Argument ValueArgument(ValueId value) {
  return {Formula::Argument::kValue, value, {}, false, {}};
}
Formula::Argument VariableArgument(AttrId variable) {
  return {Formula::Argument::kVariable, {}, variable, false, {}};
}
Formula::Argument LiteralArgument(Attribute literal) {
  return {Formula::Argument::kLiteral, {}, {}, false, literal};
}

}  // namespace weft::drr
