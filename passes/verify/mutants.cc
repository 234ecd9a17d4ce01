#include "passes/verify/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weft::passes {
namespace {

using drr::PatternGraph;
using drr::ResultOp;
using drr::ResultOperand;
using drr::Rule;
using ir::Attribute;
using ir::AttrKind;

// Ops that may stand for each other.
constexpr std::array<std::string_view, 6> kArithmetic = {"onnx.Add", "onnx.Sub", "onnx.Mul",
                                                         "onnx.Div", "onnx.Min", "onnx.Max"};

bool IsValue(const ResultOperand& operand) {
  return !operand.list &&
         (operand.kind == ResultOperand::kSource || operand.kind == ResultOperand::kResult);
}
bool AreEqual(const ResultOperand& a, const ResultOperand& b) {
  return a.kind == b.kind && a.source == b.source && a.result == b.result;
}

// Another attribute of the kind; null where there is none that is sure to be another.
Attribute Changed(ir::IrContext& context, Attribute literal, const ir::FieldDef* field) {
  switch (literal.kind()) {
    case AttrKind::kBool:
      return context.BoolAttr(!literal.AsBool());
    case AttrKind::kInt:
      return context.IntAttr(literal.AsInt() + 1);
    case AttrKind::kFloat:
      return context.FloatAttr(static_cast<float>(literal.AsDouble() * 1.5 + 0.25));
    case AttrKind::kDouble:
      return context.DoubleAttr(literal.AsDouble() * 1.5 + 0.25);
    case AttrKind::kInts: {
      ir::Ints ints = literal.AsInts();
      if (ints.size() < 2) return {};
      std::rotate(ints.begin(), ints.begin() + 1, ints.end());
      return context.IntsAttr(ints);
    }
    case AttrKind::kString:
      if (field != nullptr)
        for (const std::string_view other : field->enumerators)
          if (other != literal.AsString()) return context.StringAttr(other);
      return {};
    default:
      return {};
  }
}

class Mutator {
 public:
  explicit Mutator(const Rule& rule) : rule_(rule) {}
  std::vector<Mutant> Run() {
    DropConstraints();
    for (const drr::ResultOpId id : rule_.graph.result_ops.ids()) {
      SwapOperands(id);
      ChangeAttributes(id);
      ReplaceOperation(id);
    }
    ClaimMore();
    return std::move(mutants_);
  }

 private:
  Rule& Add(Mutant::Kind kind, std::string what) {
    mutants_.push_back({kind, std::move(what), rule_});
    Rule& mutant = mutants_.back().rule;
    mutant.name = fmt::format("{}#{}", rule_.name, mutants_.size());
    return mutant;
  }
  // Native code may rely on the constraints before it.
  bool HasNativeCode() const {
    const PatternGraph& graph = rule_.graph;
    const auto is_native = [](const drr::ResultAttr& attr) {
      return attr.compute && attr.formula.name.empty();
    };
    return std::any_of(graph.constraints.begin(), graph.constraints.end(),
                       [](const auto& c) { return c.formula.name.empty(); }) ||
           std::any_of(graph.result_ops.begin(), graph.result_ops.end(), [&](const ResultOp& op) {
             return std::any_of(op.attrs.begin(), op.attrs.end(), is_native);
           });
  }
  void DropConstraints() {
    if (HasNativeCode()) return;
    const PatternGraph& graph = rule_.graph;
    for (size_t i = 0; i < graph.constraints.size(); ++i) {
      const drr::Constraint& constraint = graph.constraints[i];
      if (constraint.profitable) continue;
      Rule& mutant = Add(Mutant::kDroppedConstraint, "without: " + constraint.reason);
      mutant.graph.constraints.erase(mutant.graph.constraints.begin() +
                                     static_cast<std::ptrdiff_t>(i));
    }
  }
  void SwapOperands(drr::ResultOpId id) {
    const ResultOp& op = rule_.graph.result_ops[id];
    const ir::OpDef* def = rule_.graph.DefOf(op);
    if (op.operands.size() < 2 || !IsValue(op.operands[0]) || !IsValue(op.operands[1])) return;
    if (AreEqual(op.operands[0], op.operands[1]) || (def && def->Has(ir::kCommutative))) return;
    Rule& mutant = Add(Mutant::kSwappedOperands,
                       fmt::format("{} with its first operands swapped", rule_.graph.NameOf(op)));
    auto& operands = mutant.graph.result_ops[id].operands;
    std::swap(operands[0], operands[1]);
  }
  void ChangeAttributes(drr::ResultOpId id) {
    const ResultOp& op = rule_.graph.result_ops[id];
    for (size_t i = 0; i < op.attrs.size(); ++i) {
      if (!op.attrs[i].literal) continue;
      const ir::FieldDef* field = op.def ? op.def->FindField(op.attrs[i].name) : nullptr;
      const Attribute changed = Changed(*rule_.graph.context(), op.attrs[i].literal, field);
      if (!changed || changed == op.attrs[i].literal) continue;
      Rule& mutant =
          Add(Mutant::kChangedAttribute,
              fmt::format("{} with another {}", rule_.graph.NameOf(op), op.attrs[i].name.str()));
      mutant.graph.result_ops[id].attrs[i].literal = changed;
    }
  }
  void ReplaceOperation(drr::ResultOpId id) {
    const ResultOp& op = rule_.graph.result_ops[id];
    if (!op.def) return;
    const auto* at = std::find(kArithmetic.begin(), kArithmetic.end(), op.def->name());
    if (at == kArithmetic.end()) return;
    const std::string_view other =
        kArithmetic[static_cast<size_t>(at - kArithmetic.begin() + 1) % kArithmetic.size()];
    const ir::OpDef* def = rule_.graph.context()->FindOp(other);
    if (def == nullptr) return;
    Rule& mutant = Add(Mutant::kReplacedOperation, fmt::format("{} for {}", other, op.def->name()));
    mutant.graph.result_ops[id].def = def;
  }
  void ClaimMore() {
    if (rule_.numerics != drr::NumericClass::kReassociates &&
        rule_.numerics != drr::NumericClass::kApproximate)
      return;
    const auto stricter = static_cast<drr::NumericClass>(static_cast<uint8_t>(rule_.numerics) - 1);
    Add(Mutant::kStricterClass, fmt::format("called {}", drr::NumericClassName(stricter)))
        .numerics = stricter;
  }

  const Rule& rule_;
  std::vector<Mutant> mutants_;
};

}  // namespace

std::string_view MutantName(Mutant::Kind kind) {
  constexpr std::string_view kNames[] = {"dropped constraint", "swapped operands",
                                         "changed attribute", "stricter class",
                                         "replaced operation"};
  return kNames[kind];
}

std::vector<Mutant> MutantsOf(const Rule& rule) { return Mutator(rule).Run(); }

}  // namespace weft::passes
