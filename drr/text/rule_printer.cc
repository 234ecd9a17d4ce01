#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "drr/text/rule_text.h"
#include "ir/dialects/builtin.h"
#include "ir/text/internal/literals.h"
#include "ir/text/printer.h"
#include "ir/traits.h"

namespace weft::drr::text {
namespace {

using ir::Attribute;

std::string Quoted(std::string_view text) {
  std::string out;
  ir::text::AppendQuoted(&out, text);
  return out;
}

class RulePrinter {
 public:
  explicit RulePrinter(const Rule& rule) : rule_(rule), g_(rule.graph) {}
  std::string Run();

 private:
  void Line(const std::string& text) { out_ += indent_ + text + "\n"; }
  std::string RuleName() const;
  static std::string Sigil(char sigil, std::string_view name, int number);
  // Values without a name are numbered in the order of the text.
  std::string Value(ValueId id);
  std::string Variable(AttrId id);
  std::string ResultValue(ResultValueId id);

  // --- source ---------------------------------------------------------------------

  std::string Values(const std::vector<ValueId>& values, std::string_view absent);
  std::string Source(const SourceOp& op);
  std::string Attrs(const Alternative& a);
  Attribute Default(const ir::FieldDef& field) const {
    return field.make_default ? field.make_default(*g_.context()) : Attribute();
  }
  // What silence means: the default or nothing.
  bool IsDefault(const AttrPattern& p, const ir::FieldDef& field) const;
  std::string Pattern(const AttrPattern& p, const ir::FieldDef& field);
  // Either() and skip(), in the order of the text; those that nothing reads come last.
  void Derived();
  std::string Skip(const SourceValue& v);
  void Flags();
  // Whether another value's policy holds for this one too, so that it need not be said: see
  // PatternChecker::SpreadEscape.
  bool EscapeFollows(ValueId id) const;

  // --- result ---------------------------------------------------------------------

  std::string FormulaText(std::string_view name, const Formula& f);
  std::string ConstraintText(const Constraint& c);
  std::string Operand(const ResultOperand& operand);
  std::string ResultAttrs(const ResultOp& op);
  std::string ResultAttrText(const ResultAttr& a);
  std::string FirstResult(OpId op) { return Value(g_.ops[op].results[0]); }
  std::string Result(const ResultOp& op);

  const Rule& rule_;
  const PatternGraph& g_;
  std::string out_, indent_ = "  ";
  std::map<ValueId, int> numbers_;
  std::map<AttrId, int> variables_;
  std::map<ResultValueId, int> results_;
  std::vector<ValueId> order_;  // as they appear in the text
  int unnamed_ = 0, unnamed_variables_ = 0;
};

std::string RulePrinter::Run() {
  out_ = fmt::format("rule {} {{\n", RuleName());
  if (!rule_.algebra.empty()) Line(fmt::format("algebra {}", Quoted(rule_.algebra)));
  Line(fmt::format("numerics {}", NumericClassName(rule_.numerics)));
  Line(fmt::format("benefit {}", rule_.benefit));
  if (g_.lenient) Line("lenient");
  Line("source {");
  indent_ = "    ";
  for (const SourceOp& op : g_.ops) Line(Source(op));
  Derived();
  Flags();
  indent_ = "  ";
  Line("}");
  for (const Constraint& c : g_.constraints)
    Line(fmt::format("{} {} {}", c.profitable ? "profitable" : "require", Quoted(c.reason),
                     ConstraintText(c)));
  Line("result {");
  indent_ = "    ";
  for (ResultOpId op : g_.result_order()) Line(Result(g_.result_ops[op]));
  indent_ = "  ";
  Line("}");
  for (const Replacement& r : g_.replacements)
    Line(fmt::format("replace {} with {}", Value(r.source), Operand(r.with)));
  for (size_t i = 0; i < g_.post_hooks.size(); ++i) Line("after native");
  return out_ + "}\n";
}

std::string RulePrinter::RuleName() const {
  const bool bare = !rule_.name.empty() &&
                    std::all_of(rule_.name.begin(), rule_.name.end(),
                                [](char c) { return ir::text::IsNameChar(c) || c == '-'; });
  return bare ? rule_.name : Quoted(rule_.name);
}

std::string RulePrinter::Sigil(char sigil, std::string_view name, int number) {
  if (name.empty()) return fmt::format("{}{}", sigil, number);
  if (ir::text::IsBareName(name)) return fmt::format("{}{}", sigil, name);
  return sigil + Quoted(name);
}

std::string RulePrinter::Value(ValueId id) {
  id = g_.Resolve(id);
  const SourceValue& v = g_.values[id];
  const auto [it, is_new] = numbers_.emplace(id, unnamed_);
  if (is_new) {
    order_.push_back(id);
    unnamed_ += v.name.empty();
  }
  return Sigil('%', v.name, it->second);
}

std::string RulePrinter::Variable(AttrId id) {
  const AttrVariable& a = g_.attrs[id];
  const auto [it, is_new] = variables_.emplace(id, unnamed_variables_);
  if (is_new) unnamed_variables_ += a.name.empty();
  return Sigil('$', a.name, it->second);
}

std::string RulePrinter::ResultValue(ResultValueId id) {
  const auto [it, is_new] = results_.emplace(id, static_cast<int>(results_.size()));
  return fmt::format("!{}", it->second);
}

// --- source ---------------------------------------------------------------------

std::string RulePrinter::Values(const std::vector<ValueId>& values, std::string_view absent) {
  std::string text;
  for (ValueId v : values) {
    if (!text.empty()) text += ", ";
    text += v ? Value(v) : std::string(absent);
  }
  return text;
}

std::string RulePrinter::Source(const SourceOp& op) {
  std::string text = Values(op.results, "none") + " = ";
  if (op.times == Times::kChain) text += fmt::format("repeat {}..{} ", op.min_times, op.max_times);
  if (op.times == Times::kEach) text += "each ";
  if (!op.opcode.empty()) {
    text += fmt::format("named {}", Quoted(op.opcode));
  } else if (op.alternatives.empty()) {
    text += fmt::format("any[{}]", ir::TraitNames(op.traits));
  }
  for (const Alternative& a : op.alternatives) {
    if (&a != op.alternatives.data()) text += " | ";
    text += fmt::format("{}{}", a.def->name(), Attrs(a));
  }
  text += fmt::format("({})", Values(op.operands, "none"));
  for (const RegionPattern& r : op.regions)
    text += fmt::format(" region {} ({})", r.region, Values(r.returned, "_"));
  return text;
}

std::string RulePrinter::Attrs(const Alternative& a) {
  const auto listed = [&](const ir::FieldDef& f) {
    return std::find_if(a.attrs.begin(), a.attrs.end(),
                        [&](const AttrPattern& p) { return p.name == f.name; });
  };
  std::string text;
  const bool open = std::any_of(a.def->fields.begin(), a.def->fields.end(),
                                [&](const auto& f) { return listed(f) == a.attrs.end(); });
  if (open) text = "...";
  for (const ir::FieldDef& field : a.def->fields) {
    const auto pattern = listed(field);
    if (pattern == a.attrs.end()) continue;
    const bool is_default = IsDefault(*pattern, field);
    if (is_default && !open) continue;
    if (!text.empty()) text += ", ";
    text +=
        fmt::format("{}: {}", field.name.str(), is_default ? "default" : Pattern(*pattern, field));
  }
  return text.empty() ? "" : "{" + text + "}";
}

bool RulePrinter::IsDefault(const AttrPattern& p, const ir::FieldDef& field) const {
  if (p.kind != AttrPattern::kIsOneOf || p.values.empty() || p.values.back()) return false;
  const Attribute value = Default(field);
  if (!value) return field.optional && p.values.size() == 1;
  return p.values.size() == 2 && p.values[0] == value;
}

std::string RulePrinter::Pattern(const AttrPattern& p, const ir::FieldDef& field) {
  const Attribute fallback = Default(field);
  if (p.kind == AttrPattern::kAny) return "any";
  if (p.kind == AttrPattern::kBind)
    return Variable(p.variable) + (fallback && p.values.empty() ? " given" : "");
  std::vector<Attribute> values = p.values;
  const bool has_default =
      fallback && std::find(values.begin(), values.end(), fallback) != values.end();
  std::string word = "in";
  if (has_default && !values.back()) {
    values.pop_back();  // said by the default
  } else if (has_default) {
    word = "given";
  }
  std::string text;
  for (Attribute v : values) {
    if (!text.empty()) text += ", ";
    text += v ? ir::PrintAttribute(v) : "absent";
  }
  return values.size() == 1 && word == "in" ? text : fmt::format("{}({})", word, text);
}

void RulePrinter::Derived() {
  size_t done = 0, next = 0;
  for (;;) {
    for (; done < order_.size(); ++done) {
      const SourceValue& v = g_.values[order_[done]];
      const ValueId id = order_[done];
      if (!v.either.empty())
        Line(fmt::format("{} = either({})", Value(id), Values(v.either, "none")));
      if (v.through) Line(fmt::format("{} = skip({})", Value(id), Skip(v)));
      for (ValueId pattern : v.nots) Value(pattern);
    }
    for (; next < g_.values.size(); ++next) {
      const SourceValue& v = g_.values[ValueId(next)];
      if (!v.alias && (!v.either.empty() || v.through) && !numbers_.count(ValueId(next))) break;
    }
    if (next == g_.values.size()) return;
    Value(ValueId(next));
  }
}

std::string RulePrinter::Skip(const SourceValue& v) {
  std::string text = Value(v.through);
  for (const SkippedOp& op : v.skipped)
    text += fmt::format(", {}{}", op.def->name(), op.same_type ? " same_type" : "");
  return text;
}

void RulePrinter::Flags() {
  for (size_t i = 0; i < order_.size(); ++i) {
    const SourceValue& v = g_.values[order_[i]];
    const std::string name = Value(order_[i]);
    if (v.optional) Line("optional " + name);
    const bool each = v.producer && g_.ops[v.producer].times == Times::kEach;
    if (v.list && !each) Line("list " + name);
    if (v.outside) Line("outside " + name);
    if (v.escape != Escape::kForbid && !EscapeFollows(order_[i]))
      Line((v.escape == Escape::kKeep ? "keep " : "recompute ") + name);
    for (ValueId pattern : v.nots) Line(fmt::format("not {} {}", name, Value(pattern)));
  }
}

bool RulePrinter::EscapeFollows(ValueId id) const {
  const auto has = [&](const std::vector<ValueId>& values) {
    return std::any_of(values.begin(), values.end(),
                       [&](ValueId v) { return v && g_.Resolve(v) == id; });
  };
  return std::any_of(g_.values.begin(), g_.values.end(), [&](const SourceValue& v) {
    if (v.escape != g_.values[id].escape) return false;
    if (has(v.either) || (v.through && has({v.through}))) return true;
    return v.escape == Escape::kRecompute && v.producer && has(g_.ops[v.producer].operands);
  });
}

// --- result ---------------------------------------------------------------------

std::string RulePrinter::ConstraintText(const Constraint& c) {
  if (!c.formula.name.empty()) return FormulaText(c.formula.name, c.formula);
  return c.function.holds ? "native " + FormulaText(c.function.name, c.formula) : "native";
}

std::string RulePrinter::FormulaText(std::string_view name, const Formula& f) {
  std::string text;
  for (const Formula::Argument& a : f.arguments) {
    if (!text.empty()) text += ", ";
    text += a.kind == Formula::Argument::kValue      ? Value(a.value) + (a.if_given ? "?" : "")
            : a.kind == Formula::Argument::kVariable ? Variable(a.variable)
                                                     : ir::PrintAttribute(a.literal);
  }
  return fmt::format("{}({})", name, text);
}

std::string RulePrinter::Operand(const ResultOperand& operand) {
  const std::string list = operand.list ? "*" : "";
  switch (operand.kind) {
    case ResultOperand::kNone:
      return "none";
    case ResultOperand::kSource:
      return Value(operand.source) + list;
    case ResultOperand::kResult:
      return ResultValue(operand.result) + list;
    case ResultOperand::kOutside: {
      const OutsideValue& outside = g_.outside[operand.outside];
      return fmt::format("outside {}:{}", Quoted(outside.node), outside.result);
    }
  }
  return "";
}

std::string RulePrinter::ResultAttrs(const ResultOp& op) {
  std::string text;
  if (op.attrs_of) text = "attrs of " + FirstResult(op.attrs_of);
  for (const ResultAttr& a : op.attrs) {
    const ir::FieldDef* field = g_.DefOf(op)->FindField(a.name);
    if (!op.attrs_of && !op.like && a.literal && field && a.literal == Default(*field)) continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}: {}", a.name.str(), ResultAttrText(a));
  }
  return text.empty() ? "" : "{" + text + "}";
}

std::string RulePrinter::ResultAttrText(const ResultAttr& a) {
  if (a.variable) return Variable(a.variable);
  if (a.compute)
    return a.formula.name.empty() ? "native" : "= " + FormulaText(a.formula.name, a.formula);
  const bool elided =  // the text form of attributes leaves out long contents
      a.literal.Is(ir::AttrKind::kDense) && a.literal.dense_type().NumElements() > 16;
  return elided ? "native" : ir::PrintAttribute(a.literal);
}

std::string RulePrinter::Result(const ResultOp& op) {
  std::string text;
  for (ResultValueId r : op.results) text += (text.empty() ? "" : ", ") + ResultValue(r);
  text += op.each ? " = each " : " = ";
  text += op.def ? std::string(op.def->name()) + ResultAttrs(op)
                 : "like " + FirstResult(op.like) + (op.attrs.empty() ? "" : ResultAttrs(op));
  std::string operands;
  for (const ResultOperand& o : op.operands) {
    if (&o != op.operands.data()) operands += ", ";
    operands += Operand(o);
  }
  text += "(" + operands + ")";
  if (op.location_of) text += " at " + Value(op.location_of);
  if (!op.location.empty()) text += " named " + Quoted(op.location);
  return text;
}

}  // namespace

std::string PrintRule(const Rule& rule) { return RulePrinter(rule).Run(); }

}  // namespace weft::drr::text
