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
  std::string Value(int id);
  std::string Variable(int id);
  std::string ResultValue(int id);

  // --- source ---------------------------------------------------------------------

  std::string Values(const std::vector<int>& values, std::string_view absent);
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
  bool EscapeFollows(int id) const;

  // --- result ---------------------------------------------------------------------

  std::string Native(const Formula& f);
  std::string Operand(const ResultOperand& operand);
  std::string ResultAttrs(const ResultOp& op);
  std::string ResultAttrText(const ResultAttr& a);
  std::string FirstResult(int op) { return Value(g_.ops[static_cast<size_t>(op)].results[0]); }
  std::string Result(const ResultOp& op);

  const Rule& rule_;
  const PatternGraph& g_;
  std::string out_, indent_ = "  ";
  std::map<int, int> numbers_, variables_, results_;
  std::vector<int> order_;  // values, as they appear in the text
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
                     Native(c.formula)));
  Line("result {");
  indent_ = "    ";
  for (int op : g_.result_order()) Line(Result(g_.result_ops[static_cast<size_t>(op)]));
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

std::string RulePrinter::Value(int id) {
  id = g_.Resolve(id);
  const SourceValue& v = g_.values[static_cast<size_t>(id)];
  const auto [it, is_new] = numbers_.emplace(id, unnamed_);
  if (is_new) {
    order_.push_back(id);
    unnamed_ += v.name.empty();
  }
  return Sigil('%', v.name, it->second);
}

std::string RulePrinter::Variable(int id) {
  const AttrVariable& a = g_.attrs[static_cast<size_t>(id)];
  const auto [it, is_new] = variables_.emplace(id, unnamed_variables_);
  if (is_new) unnamed_variables_ += a.name.empty();
  return Sigil('$', a.name, it->second);
}

std::string RulePrinter::ResultValue(int id) {
  const auto [it, is_new] = results_.emplace(id, static_cast<int>(results_.size()));
  return fmt::format("!{}", it->second);
}

// --- source ---------------------------------------------------------------------

std::string RulePrinter::Values(const std::vector<int>& values, std::string_view absent) {
  std::string text;
  for (int v : values) {
    if (!text.empty()) text += ", ";
    text += v == kAbsent ? std::string(absent) : Value(v);
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
  size_t done = 0;
  int next = 0;
  for (;;) {
    for (; done < order_.size(); ++done) {
      const SourceValue& v = g_.values[static_cast<size_t>(order_[done])];
      const int id = order_[done];
      if (!v.either.empty())
        Line(fmt::format("{} = either({})", Value(id), Values(v.either, "none")));
      if (v.through >= 0) Line(fmt::format("{} = skip({})", Value(id), Skip(v)));
      for (int pattern : v.nots) Value(pattern);
    }
    for (; next < static_cast<int>(g_.values.size()); ++next) {
      const SourceValue& v = g_.values[static_cast<size_t>(next)];
      if (v.alias < 0 && (!v.either.empty() || v.through >= 0) && !numbers_.count(next)) break;
    }
    if (next == static_cast<int>(g_.values.size())) return;
    Value(next);
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
    const SourceValue& v = g_.values[static_cast<size_t>(order_[i])];
    const std::string name = Value(order_[i]);
    if (v.optional) Line("optional " + name);
    const bool each =
        v.producer >= 0 && g_.ops[static_cast<size_t>(v.producer)].times == Times::kEach;
    if (v.list && !each) Line("list " + name);
    if (v.outside) Line("outside " + name);
    if (v.escape != Escape::kForbid && !EscapeFollows(order_[i]))
      Line((v.escape == Escape::kKeep ? "keep " : "recompute ") + name);
    for (int pattern : v.nots) Line(fmt::format("not {} {}", name, Value(pattern)));
  }
}

bool RulePrinter::EscapeFollows(int id) const {
  const auto has = [&](const std::vector<int>& values) {
    return std::any_of(values.begin(), values.end(),
                       [&](int v) { return v != kAbsent && g_.Resolve(v) == id; });
  };
  return std::any_of(g_.values.begin(), g_.values.end(), [&](const SourceValue& v) {
    if (v.escape != g_.values[static_cast<size_t>(id)].escape) return false;
    if (has(v.either) || (v.through >= 0 && has({v.through}))) return true;
    return v.escape == Escape::kRecompute && v.producer >= 0 &&
           has(g_.ops[static_cast<size_t>(v.producer)].operands);
  });
}

// --- result ---------------------------------------------------------------------

std::string RulePrinter::Native(const Formula& f) {
  if (f.name.empty()) return "native";
  std::string text;
  for (const Formula::Argument& a : f.arguments) {
    if (!text.empty()) text += ", ";
    text += a.kind == Formula::Argument::kValue      ? Value(a.id) + (a.if_given ? "?" : "")
            : a.kind == Formula::Argument::kVariable ? Variable(a.id)
                                                     : ir::PrintAttribute(a.literal);
  }
  return fmt::format("{}({})", f.name, text);
}

std::string RulePrinter::Operand(const ResultOperand& operand) {
  const std::string list = operand.list ? "*" : "";
  switch (operand.kind) {
    case ResultOperand::kNone:
      return "none";
    case ResultOperand::kSource:
      return Value(operand.id) + list;
    case ResultOperand::kResult:
      return ResultValue(operand.id) + list;
    case ResultOperand::kOutside: {
      const OutsideValue& outside = g_.outside[static_cast<size_t>(operand.id)];
      return fmt::format("outside {}:{}", Quoted(outside.node), outside.result);
    }
  }
  return "";
}

std::string RulePrinter::ResultAttrs(const ResultOp& op) {
  std::string text;
  if (op.attrs_of >= 0) text = "attrs of " + FirstResult(op.attrs_of);
  for (const ResultAttr& a : op.attrs) {
    const ir::FieldDef* field = g_.DefOf(op)->FindField(a.name);
    if (op.attrs_of < 0 && op.like < 0 && a.literal && field && a.literal == Default(*field))
      continue;
    if (!text.empty()) text += ", ";
    text += fmt::format("{}: {}", a.name.str(), ResultAttrText(a));
  }
  return text.empty() ? "" : "{" + text + "}";
}

std::string RulePrinter::ResultAttrText(const ResultAttr& a) {
  if (a.variable >= 0) return Variable(a.variable);
  if (a.compute) return a.formula.name.empty() ? "native" : "= " + Native(a.formula);
  const bool elided =  // the text form of attributes leaves out long contents
      a.literal.Is(ir::AttrKind::kDense) && a.literal.dense_type().NumElements() > 16;
  return elided ? "native" : ir::PrintAttribute(a.literal);
}

std::string RulePrinter::Result(const ResultOp& op) {
  std::string text;
  for (int r : op.results) text += (text.empty() ? "" : ", ") + ResultValue(r);
  text += op.each ? " = each " : " = ";
  text += op.def ? std::string(op.def->name()) + ResultAttrs(op)
                 : "like " + FirstResult(op.like) + (op.attrs.empty() ? "" : ResultAttrs(op));
  std::string operands;
  for (const ResultOperand& o : op.operands) {
    if (&o != op.operands.data()) operands += ", ";
    operands += Operand(o);
  }
  text += "(" + operands + ")";
  if (op.location_of >= 0) text += " at " + Value(op.location_of);
  if (!op.location.empty()) text += " named " + Quoted(op.location);
  return text;
}

}  // namespace

std::string PrintRule(const Rule& rule) { return RulePrinter(rule).Run(); }

}  // namespace weft::drr::text
