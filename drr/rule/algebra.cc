#include "drr/rule/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string_view>

#include "drr/rule/vocabulary.h"
#include "ir/dialects/builtin.h"
#include "ir/text/printer.h"
#include "ir/traits.h"

namespace weft::drr {

std::string SnakeCase(std::string_view name) {
  if (name == "MatMul") return "matmul";
  std::string out;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool before = i > 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (upper && before) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return out;
}

namespace {

void Append(std::string* list, std::string_view item, std::string_view separator = ", ") {
  if (item.empty()) return;
  if (!list->empty()) *list += separator;
  *list += item;
}

class AlgebraPrinter {
 public:
  explicit AlgebraPrinter(const PatternGraph& graph);
  std::string Run();

 private:
  void CountUses();
  std::string Number(ValueId value);
  std::string Value(ValueId id, bool is_root = false);
  std::string Made(const SourceValue& v);
  std::string OpName(std::string_view name) const;
  std::string Names(const SourceOp& op) const;
  // What is bound or asked for beside the defaults, of the first alternative.
  std::string Attrs(const SourceOp& op) const;
  std::string Operand(const ResultOperand& operand);
  std::string Result(ResultValueId id);
  std::string ResultAttrs(const ResultOp& op);
  std::string ArgumentText(const Formula::Argument& a);
  std::string AttrText(const ResultAttr& attr);

  const PatternGraph& g_;
  std::string_view dialect_;
  std::map<ValueId, const Constraint*> splats_;
  std::map<const Constraint*, bool> printed_;
  std::map<ValueId, int> uses_;
  std::map<ValueId, std::string> names_;
  std::string definitions_;
};

AlgebraPrinter::AlgebraPrinter(const PatternGraph& graph) : g_(graph) {
  // A rule that ends in a choice, or in an op of any name, has no root that names the dialect: its
  // first operation that has a name does.
  const size_t root = g_.roots().empty() ? 0 : g_.roots()[0].index();
  for (size_t i = 0; i < g_.ops.size() && dialect_.empty(); ++i) {
    const std::string_view name = g_.ops[OpId((root + i) % g_.ops.size())].Name();
    dialect_ = name.substr(0, name.find('.') == name.npos ? 0 : name.find('.'));
  }
  for (const Constraint& c : g_.constraints)
    if (c.formula.name == "splat_is") splats_[g_.Resolve(c.formula.arguments[0].value)] = &c;
  CountUses();
}

std::string AlgebraPrinter::Run() {
  std::string before, after;
  for (const Replacement& r : g_.replacements) {
    Append(&before, Value(r.source, true));
    Append(&after, Operand(r.with));
  }
  std::string text = before + " => " + after;
  if (!definitions_.empty()) text += " with " + definitions_;
  std::string where;
  std::set<std::string_view> said;
  for (const Constraint& c : g_.constraints)
    if (!printed_.count(&c) && said.insert(c.reason).second) Append(&where, c.reason);
  return where.empty() ? text : text + " where " + where;
}

void AlgebraPrinter::CountUses() {
  for (const SourceOp& op : g_.ops)
    for (ValueId v : op.operands)
      if (v) ++uses_[g_.Resolve(v)];
  for (const SourceValue& v : g_.values)
    for (ValueId e : v.either) ++uses_[g_.Resolve(e)];
}

std::string AlgebraPrinter::Number(ValueId value) {
  const auto it = splats_.find(value);
  if (it == splats_.end() || !g_.values[value].name.empty()) return "";
  printed_[it->second] = true;
  return fmt::format("{:.6g}",
                     it->second->formula.arguments[1].literal.Is(ir::AttrKind::kInt)
                         ? static_cast<double>(it->second->formula.arguments[1].literal.AsInt())
                         : it->second->formula.arguments[1].literal.AsDouble());
}

std::string AlgebraPrinter::Value(ValueId id, bool is_root) {
  if (!id) return "none";
  id = g_.Resolve(id);
  const SourceValue& v = g_.values[id];
  if (v.through) return Value(v.through);
  std::string text = !v.name.empty() && !v.producer ? v.name : Number(id);
  if (!text.empty()) return text + (v.list ? "..." : v.optional ? "?" : "");
  if (!v.producer && v.either.empty()) return "_";
  if (is_root || uses_[id] < 2) return Made(v);
  const auto [it, is_new] = names_.emplace(id, "");
  if (is_new) {
    it->second = fmt::format("t{}", names_.size());
    const std::string name = it->second;
    Append(&definitions_, name + " = " + Made(v));
  }
  return names_[id];
}

std::string AlgebraPrinter::Made(const SourceValue& v) {
  if (!v.either.empty()) {
    std::string text;
    for (ValueId e : v.either) Append(&text, Value(e), " or ");
    return "(" + text + ")";
  }
  const SourceOp& op = g_.ops[v.producer];
  std::string operands;
  for (ValueId operand : op.operands) Append(&operands, Value(operand));
  return Names(op) + (op.times == Times::kChain ? "*" : "") + "(" + operands + Attrs(op) + ")" +
         (op.times == Times::kEach ? "..."
          : v.optional             ? "?"
                                   : "");
}

std::string AlgebraPrinter::OpName(std::string_view name) const {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::string(name);
  const std::string_view dialect = name.substr(0, dot);
  return (dialect == dialect_ ? "" : std::string(dialect) + ".") + SnakeCase(name.substr(dot + 1));
}

std::string AlgebraPrinter::Names(const SourceOp& op) const {
  if (op.alternatives.empty() && op.traits) return "any[" + ir::TraitNames(op.traits) + "]";
  if (op.alternatives.empty()) return op.opcode.empty() ? "any" : OpName(op.opcode);
  std::string text;
  for (const Alternative& a : op.alternatives) Append(&text, OpName(a.def->name()), "/");
  return text;
}

std::string AlgebraPrinter::Attrs(const SourceOp& op) const {
  std::string text;
  if (op.alternatives.empty()) return text;
  const Alternative& a = op.alternatives[0];
  for (const AttrPattern& attr : a.attrs) {
    const ir::FieldDef* field = a.def->FindField(attr.name);
    if (attr.kind == AttrPattern::kBind) {
      text += fmt::format(", {}={}", attr.name.str(), g_.attrs[attr.variable].name);
    } else if (attr.kind == AttrPattern::kIsOneOf && !attr.values.empty() && attr.values[0] &&
               !(field->make_default && attr.values[0] == field->make_default(*g_.context()))) {
      text += fmt::format(", {}={}", attr.name.str(), ir::PrintAttribute(attr.values[0]));
    }
  }
  return text;
}

std::string AlgebraPrinter::Operand(const ResultOperand& operand) {
  switch (operand.kind) {
    case ResultOperand::kNone:
      return "";
    case ResultOperand::kSource:
      return Value(operand.source);
    case ResultOperand::kResult:
      return Result(operand.result);
    case ResultOperand::kOutside:
      return fmt::format("'{}'", g_.outside[operand.outside].node);
  }
  return "";
}

std::string AlgebraPrinter::Result(ResultValueId id) {
  for (const ResultOp& op : g_.result_ops) {
    const auto it = std::find(op.results.begin(), op.results.end(), id);
    if (it == op.results.end()) continue;
    if (op.def == &ir::OpDefOf<ir::ConstantOp>()) return AttrText(op.attrs[0]);
    std::string operands;
    for (const ResultOperand& operand : op.operands) Append(&operands, Operand(operand));
    const std::string name = op.def ? OpName(op.def->name()) : Names(g_.ops[op.like]);
    std::string attrs = ResultAttrs(op);
    if (operands.empty() && attrs.starts_with(", ")) attrs = attrs.substr(2);
    const std::string number =
        op.results.size() > 1 ? fmt::format("[{}]", it - op.results.begin()) : "";
    return fmt::format("{}({}{}){}", name, operands, attrs, op.each ? "..." : number);
  }
  return "";
}

std::string AlgebraPrinter::ResultAttrs(const ResultOp& op) {
  std::string text;
  for (const ResultAttr& attr : op.attrs) {
    const ir::FieldDef* field = g_.DefOf(op)->FindField(attr.name);
    if (attr.literal && field->make_default && attr.literal == field->make_default(*g_.context()))
      continue;
    text += fmt::format(", {}={}", attr.name.str(), AttrText(attr));
  }
  return text;
}

std::string AlgebraPrinter::ArgumentText(const Formula::Argument& a) {
  if (a.kind == Formula::Argument::kVariable) return g_.attrs[a.variable].name;
  if (a.kind == Formula::Argument::kLiteral)
    return a.literal.Is(ir::AttrKind::kDouble) ? fmt::format("{:.6g}", a.literal.AsDouble())
                                               : ir::PrintAttribute(a.literal);
  const std::string number = Number(g_.Resolve(a.value));
  return number.empty() ? NameInReason(g_, a.value) : number;
}

std::string AlgebraPrinter::AttrText(const ResultAttr& attr) {
  if (attr.variable) return g_.attrs[attr.variable].name;
  if (!attr.compute)
    return attr.literal.Is(ir::AttrKind::kDense) ? "constant" : ir::PrintAttribute(attr.literal);
  if (attr.formula.name.empty()) return "computed";
  std::string arguments;
  for (const Formula::Argument& a : attr.formula.arguments) Append(&arguments, ArgumentText(a));
  return attr.formula.name + "(" + arguments + ")";
}

}  // namespace

std::string AlgebraOf(const Rule& rule) {
  return rule.algebra.empty() ? AlgebraPrinter(rule.graph).Run() : rule.algebra;
}

}  // namespace weft::drr
