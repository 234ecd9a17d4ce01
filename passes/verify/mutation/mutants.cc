#include "passes/verify/mutation/mutants.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "drr/rule/vocabulary.h"
#include "passes/verify/mutation/mistakes.h"
#include "passes/verify/mutation/shadowed_alternatives.h"
#include "passes/verify/proof/rule_slice.h"

namespace weft::passes {
namespace {

using drr::AttrPattern;
using drr::Formula;
using drr::PatternGraph;
using drr::ResultAttr;
using drr::ResultOp;
using drr::ResultOperand;
using drr::Rule;
using drr::SourceOp;
using ir::Attribute;

constexpr size_t kMostSwaps = 6;  // of one op

bool IsValue(const ResultOperand& operand) {
  return !operand.list &&
         (operand.kind == ResultOperand::kSource || operand.kind == ResultOperand::kResult);
}
bool IsSameOperand(const ResultOperand& a, const ResultOperand& b) {
  return a.kind == b.kind && a.source == b.source && a.result == b.result;
}
bool IsNative(const ResultAttr& attr) { return attr.compute && attr.formula.name.empty(); }
bool IsNative(const drr::Constraint& constraint) { return constraint.formula.name.empty(); }

// Which of the float types a tensor has, or that it has one.
bool IsAboutFloats(const Formula& formula) {
  if (formula.name == "float") return true;
  const bool names_type = formula.name == "dtype_is" && formula.arguments[1].literal;
  return names_type && ir::IsFloat(formula.arguments[1].literal.AsDataType());
}
// Which of the float types numbers have on the way.
bool IsAboutPrecision(std::string_view op, std::string_view attr) {
  return attr == "stash_type" || (attr == "precision" && op == "onnx.QuantizeLinear") ||
         (attr == "output_dtype" && op == "onnx.DequantizeLinear");
}
// Of formulas with the same word and as many arguments.
bool OnlyNumbersDiffer(const Formula& a, const Formula& b) {
  return std::equal(
      a.arguments.begin(), a.arguments.end(), b.arguments.begin(),
      [](const auto& x, const auto& y) { return x.value == y.value && x.variable == y.variable; });
}
constexpr char kOfReals[] = "what holds of real numbers holds for each type of floats";

class Mutator {
 public:
  explicit Mutator(const Rule& rule)
      : rule_(rule), graph_(rule.graph), always_there_(ValuesAlwaysThere(graph_)) {}
  std::vector<Mutant> Run() {
    for (size_t i = 0; i < graph_.constraints.size(); ++i)
      if (!graph_.constraints[i].profitable && !HasNativeCodeAfter(i + 1)) MutateConstraint(i);
    for (const drr::OpId id : graph_.ops.ids()) MutateSourceOp(id);
    for (const drr::ResultOpId id : graph_.result_ops.ids()) MutateResultOp(id);
    ClaimMore();
    LetEscape();
    return std::move(mutants_);
  }

 private:
  Rule& Add(Mutant::Kind kind, std::string what) {
    mutants_.push_back({kind, std::move(what), rule_});
    Rule& mutant = mutants_.back().rule;
    mutant.name = fmt::format("{}#{}", rule_.name, mutants_.size());
    return mutant;
  }
  // Native code may crash where what it relies on is another op, or where a constraint before it does
  // not hold.
  bool HasNativeCodeAfter(size_t constraint) const {
    const auto& all = graph_.constraints;
    return graph_.num_lets > 0 || !graph_.post_hooks.empty() ||
           std::any_of(all.begin() + static_cast<std::ptrdiff_t>(constraint), all.end(),
                       [](const auto& c) { return IsNative(c); }) ||
           std::any_of(graph_.result_ops.begin(), graph_.result_ops.end(), [](const ResultOp& op) {
             return std::any_of(op.attrs.begin(), op.attrs.end(),
                                [](const ResultAttr& attr) { return IsNative(attr); });
           });
  }
  void MutateConstraint(size_t i);
  void MutateSourceOp(drr::OpId id);
  // The op, and those that are to be the same operator: a mistake is made in all, or no match is left.
  std::set<drr::OpId> OpsAlike(drr::OpId id) const;
  void LoosenAttribute(drr::OpId id, const AttrPattern& pattern);
  // All alternatives of the op that have the attribute.
  void SetPattern(drr::OpId id, ir::Name name, const AttrPattern& pattern, std::string what);
  // How many ops of a match with this op bind the variable.
  size_t TimesBound(drr::AttrId variable, drr::OpId with) const;
  bool AreExclusive(drr::OpId a, drr::OpId b) const;
  void MutateResultOp(drr::ResultOpId id);
  void SwapOperands(drr::ResultOpId id);
  void ChangeAttribute(drr::ResultOpId id, size_t i);
  // In the last mutant, that `formula` can be computed, where its rule asks for it of `before`.
  void Require(const Formula& formula, const Formula& before);
  // Whether two formulas differ in what they say where a value is absent, which is always there.
  bool IsNumberForAbsent(const Formula& a, const Formula& b) const;
  void ClaimMore();
  void LetEscape();

  const Rule& rule_;
  const PatternGraph& graph_;
  const drr::IdVector<drr::SourceValue, bool> always_there_;
  std::vector<Mutant> mutants_;
};

void Mutator::MutateConstraint(size_t i) {
  const drr::Constraint& constraint = graph_.constraints[i];
  auto& without = Add(Mutant::kDroppedConstraint, "without: " + constraint.reason).graph;
  without.constraints.erase(without.constraints.begin() + static_cast<std::ptrdiff_t>(i));
  mutants_.back().lost = constraint.formula;
  if (rule_.numerics == drr::NumericClass::kReassociates && IsAboutFloats(constraint.formula))
    mutants_.back().harmless = kOfReals;
  if (IsNative(constraint)) return;
  for (Formula& other : OtherFormulas(*graph_.context(), constraint.formula, true)) {
    const std::string reason = drr::ReasonOf(graph_, other);
    Rule& mutant = Add(Mutant::kChangedConstraint,
                       fmt::format("instead of: {}: {}", constraint.reason, reason));
    mutant.graph.constraints[i] = drr::MakeConstraint(std::move(other), reason, constraint.loc);
    mutants_.back().lost = constraint.formula;
  }
}

void Mutator::MutateSourceOp(drr::OpId id) {
  const SourceOp& op = graph_.ops[id];
  if (op.alternatives.empty()) return;
  for (const AttrPattern& pattern : op.alternatives[0].attrs) LoosenAttribute(id, pattern);
  const std::set<drr::OpId> alike_ids = OpsAlike(id);
  if (*alike_ids.begin() < id) return;
  for (size_t i = 0; i < op.alternatives.size() && !HasNativeCodeAfter(0); ++i)
    for (const ir::OpDef* other : OtherOps(*graph_.context(), *op.alternatives[i].def)) {
      if (std::any_of(op.alternatives.begin(), op.alternatives.end(),
                      [&](const auto& alternative) { return alternative.def == other; }))
        continue;
      const ir::OpDef* old = op.alternatives[i].def;
      Rule& mutant = Add(Mutant::kReplacedOperation,
                         fmt::format("matches {} for {}", other->name(), old->name()));
      for (const drr::OpId alike : alike_ids)
        for (drr::Alternative& alternative : mutant.graph.ops[alike].alternatives)
          if (alternative.def == old) alternative.def = other;
      if (IsShadowed(mutant.graph, id, *old))
        mutants_.back().harmless = "an alternative before it takes the same";
      if (rule_.numerics == drr::NumericClass::kReassociates && MakesAnother(mutant.graph, id))
        mutants_.back().harmless = "it makes what another alternative is";
    }
}

std::set<drr::OpId> Mutator::OpsAlike(drr::OpId id) const {
  std::set<drr::OpId> alike = {id};
  for (const drr::Constraint& constraint : graph_.constraints) {
    if (constraint.formula.name != "same_op") continue;
    std::set<drr::OpId> ops;
    for (const Formula::Argument& argument : constraint.formula.arguments)
      ops.insert(graph_.values[graph_.Resolve(argument.value)].producer);
    if (ops.count(id) != 0) alike.insert(ops.begin(), ops.end());
  }
  return alike;
}

void Mutator::LoosenAttribute(drr::OpId id, const AttrPattern& pattern) {
  const std::string text = fmt::format("{} of {}", pattern.name.str(), graph_.ops[id].Name());
  AttrPattern any = pattern;
  any.kind = AttrPattern::kAny;
  if (pattern.kind == AttrPattern::kIsOneOf ||
      (pattern.kind == AttrPattern::kBind && TimesBound(pattern.variable, id) > 1))
    SetPattern(id, pattern.name, any, "any " + text);
  if (pattern.kind != AttrPattern::kIsOneOf || pattern.values.size() != 1 || !pattern.values[0])
    return;
  const ir::FieldDef* field = graph_.ops[id].alternatives[0].def->FindField(pattern.name);
  for (const Attribute value : OtherValues(*graph_.context(), pattern.values[0], field)) {
    AttrPattern other = pattern;
    other.values = {value};
    SetPattern(id, pattern.name, other, "another " + text);
  }
}

void Mutator::SetPattern(drr::OpId id, ir::Name name, const AttrPattern& pattern,
                         std::string what) {
  Rule& mutant = Add(Mutant::kLooserAttribute, std::move(what));
  if (rule_.numerics == drr::NumericClass::kReassociates &&
      IsAboutPrecision(graph_.ops[id].Name(), name.str()))
    mutants_.back().harmless = kOfReals;
  for (drr::Alternative& alternative : mutant.graph.ops[id].alternatives)
    for (AttrPattern& attr : alternative.attrs)
      if (attr.name == name) attr = pattern;
}

size_t Mutator::TimesBound(drr::AttrId variable, drr::OpId with) const {
  size_t times = 0;
  for (const drr::OpId id : graph_.ops.ids()) {
    const SourceOp& op = graph_.ops[id];
    if (op.alternatives.empty() || AreExclusive(id, with)) continue;
    for (const AttrPattern& attr : op.alternatives[0].attrs)
      times += attr.kind == AttrPattern::kBind && attr.variable == variable;
  }
  return times;
}

// Whether either makes one value, so that no match has both.
bool Mutator::AreExclusive(drr::OpId a, drr::OpId b) const {
  const auto is_choice = [&](const drr::SourceValue& value, drr::OpId op) {
    return std::any_of(value.either.begin(), value.either.end(), [&](drr::ValueId choice) {
      return graph_.values[graph_.Resolve(choice)].producer == op;
    });
  };
  return !(a == b) && std::any_of(graph_.values.begin(), graph_.values.end(), [&](const auto& v) {
    return is_choice(v, a) && is_choice(v, b);
  });
}

void Mutator::MutateResultOp(drr::ResultOpId id) {
  const ResultOp& op = graph_.result_ops[id];
  SwapOperands(id);
  for (size_t i = 0; i < op.attrs.size(); ++i) ChangeAttribute(id, i);
  if (!op.def) return;
  for (const ir::OpDef* other : OtherOps(*graph_.context(), *op.def))
    Add(Mutant::kReplacedOperation, fmt::format("makes {} for {}", other->name(), op.def->name()))
        .graph.result_ops[id]
        .def = other;
}

void Mutator::SwapOperands(drr::ResultOpId id) {
  const ResultOp& op = graph_.result_ops[id];
  const ir::OpDef* def = graph_.DefOf(op);
  size_t swaps = 0;
  for (size_t apart = 1; apart < op.operands.size(); ++apart)
    for (size_t i = 0; i + apart < op.operands.size(); ++i) {
      const size_t j = i + apart;
      if (!IsValue(op.operands[i]) || !IsValue(op.operands[j]) ||
          IsSameOperand(op.operands[i], op.operands[j]) || (i == 0 && op.each) ||
          (def && def->Has(ir::kCommutative) && j == 1) || ++swaps > kMostSwaps)
        continue;
      Rule& mutant = Add(Mutant::kSwappedOperands,
                         fmt::format("operands {} and {} of {} swapped", i, j, graph_.NameOf(op)));
      auto& operands = mutant.graph.result_ops[id].operands;
      std::swap(operands[i], operands[j]);
    }
}

void Mutator::ChangeAttribute(drr::ResultOpId id, size_t i) {
  const ResultOp& op = graph_.result_ops[id];
  const ResultAttr& attr = op.attrs[i];
  const ir::OpDef* def = graph_.DefOf(op);
  const ir::FieldDef* field = def ? def->FindField(attr.name) : nullptr;
  const std::string name = fmt::format("{} of {}", attr.name.str(), graph_.NameOf(op));
  const auto changed = [&](const std::string& what) -> ResultAttr& {
    return Add(Mutant::kChangedAttribute, what + " " + name).graph.result_ops[id].attrs[i];
  };
  if (attr.literal) {
    for (const Attribute value : OtherValues(*graph_.context(), attr.literal, field))
      changed("another").literal = value;
  } else if (!attr.formula.name.empty() && field != nullptr) {
    for (Formula& other : OtherFormulas(*graph_.context(), attr.formula, false)) {
      const bool is_read = !IsNumberForAbsent(attr.formula, other);
      changed("otherwise computed") = drr::MakeComputedAttr(*field, other, id);
      if (OnlyNumbersDiffer(attr.formula, other)) Require(other, attr.formula);
      if (!is_read) mutants_.back().harmless = "the number stands for what is never absent";
    }
  }
  // Forgotten: then it has its default, or what is copied from the source.
  if (field != nullptr && (field->optional || field->make_default) &&
      !(field->make_default && attr.literal == field->make_default(*graph_.context()))) {
    auto& attrs = Add(Mutant::kChangedAttribute, "without " + name).graph.result_ops[id].attrs;
    attrs.erase(attrs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

bool Mutator::IsNumberForAbsent(const Formula& a, const Formula& b) const {
  return a.name == "splat" && a.arguments.size() == 2 &&
         a.arguments[0].value == b.arguments[0].value &&
         always_there_[graph_.Resolve(a.arguments[0].value)];
}

void Mutator::Require(const Formula& formula, const Formula& before) {
  for (drr::Constraint& constraint : mutants_.back().rule.graph.constraints)
    if (AreEqual(graph_, constraint.formula, before))
      constraint = drr::MakeConstraint(formula, constraint.reason, constraint.loc);
}

void Mutator::ClaimMore() {
  for (const auto stricter : {drr::NumericClass::kExact, drr::NumericClass::kReassociates})
    if (stricter < rule_.numerics)
      Add(Mutant::kStricterClass, fmt::format("called {}", drr::NumericClassName(stricter)))
          .numerics = stricter;
}

// What stays for other users is not changed: only native code that runs afterwards could.
void Mutator::LetEscape() {
  const auto may_not = [](const drr::SourceValue& value) {
    return value.producer && value.escape == drr::Escape::kForbid;
  };
  const auto is_replaced = [&](drr::ValueId id) {
    return std::any_of(graph_.replacements.begin(), graph_.replacements.end(),
                       [&](const auto& r) { return graph_.Resolve(r.source) == id; });
  };
  std::vector<drr::ValueId> kept;
  for (const drr::ValueId id : graph_.values.ids())
    if (may_not(graph_.values[id]) && !is_replaced(id)) kept.push_back(id);
  if (kept.empty()) return;
  Rule& mutant = Add(Mutant::kLooserEscape, "others may read intermediate values");
  for (const drr::ValueId id : kept) mutant.graph.values[id].escape = drr::Escape::kKeep;
  if (graph_.post_hooks.empty()) mutants_.back().harmless = "what others read stays as it was";
}

}  // namespace

std::string_view MutantName(Mutant::Kind kind) {
  constexpr std::string_view kNames[] = {
      "dropped constraint", "changed constraint", "swapped operands", "changed attribute",
      "looser attribute",   "replaced operation", "stricter class",   "looser escape"};
  return kNames[kind];
}

std::vector<Mutant> MutantsOf(const Rule& rule) {
  if (rule.numerics == drr::NumericClass::kChangesMeaning) return {};
  return Mutator(rule).Run();
}

}  // namespace weft::passes
