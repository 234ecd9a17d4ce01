#include "passes/verify/proof/rule_case.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::passes {

using drr::AttrPattern;
using drr::ResultOperand;
using drr::SourceOp;
using drr::SourceValue;
using drr::ValueId;

RuleCase::RuleCase(const drr::Rule& rule, ProofState& state, Script& script, const RuleSlice* slice)
    : graph_(rule.graph),
      slice_(slice),
      c_(state, script),
      ops_(c_, *rule.graph.context()),
      values_(graph_.values.size()),
      results_(graph_.num_result_values),
      made_ops_(graph_.ops.size()),
      variables_(graph_.attrs.size()),
      is_said_(graph_.constraints.size()),
      choices_(graph_.values.size()),
      alternatives_(graph_.ops.size()) {}

bool RuleCase::MakeSource() {
  ReadInputs();
  if (slice_ != nullptr) {
    if (!MakeSlice()) return false;
  } else {
    if (graph_.root_value() && !MakeValue(graph_.root_value())) return false;
    for (const drr::OpId root : graph_.roots())
      if (graph_.values[graph_.root_value()].either.empty() && !MakeOp(root)) return false;
  }
  for (size_t i = 0; i < graph_.constraints.size(); ++i)
    if (!is_said_[i] && IsSaid(graph_.constraints[i]) && c_.open())
      SayConstraint(graph_.constraints[i].formula);
  return c_.open();
}

bool RuleCase::IsSaid(const drr::Constraint& constraint) const {
  return !constraint.profitable && !constraint.formula.name.empty() &&
         (slice_ == nullptr || slice_->Has(constraint.formula));
}

// Before more is chosen: most permutations are not what a rule asks for.
void RuleCase::SayWhatIsChosen() {
  for (size_t i = 0; i < graph_.constraints.size() && c_.open(); ++i) {
    const Formula& formula = graph_.constraints[i].formula;
    if (is_said_[i] || !IsSaid(graph_.constraints[i]) || !IsOfAxes(formula)) continue;
    const bool is_chosen =
        std::all_of(formula.arguments.begin(), formula.arguments.end(), [&](const auto& argument) {
          using Kind = drr::Formula::Argument::Kind;
          if (argument.kind == Kind::kValue)
            return values_[graph_.Resolve(argument.value).index()].is_made;
          if (argument.kind != Kind::kVariable) return true;
          const std::optional<ProofAttr>& variable = variables_[argument.variable.index()];
          return variable && ops_.Chosen(*variable);
        });
    if (!is_chosen) continue;
    is_said_[i] = true;
    SayConstraint(formula);
  }
}

// What is there with an alternative only is made where that is chosen.
bool RuleCase::MakeSlice() {
  for (const ValueId value : graph_.values.ids())
    if (slice_->Has(value) && slice_->IsAlwaysThere(value) && !MakeValue(value)) return false;
  return c_.open();
}

bool RuleCase::Prove() {
  if (!MakeSource()) return false;
  c_.StartResult();
  for (const drr::ResultOpId id : graph_.result_order())
    if (!MakeResultOp(id)) return false;
  for (const drr::Replacement& replacement : graph_.replacements) {
    const Bound& before = values_[graph_.Resolve(replacement.source).index()];
    const Bound* after = OperandOf(replacement.with);
    if (!before.is_made || before.tensor == nullptr || after == nullptr || after->tensor == nullptr)
      c_.Fail("a replaced value is not made in each case");
    if (c_.open() && !c_.Same(before.tensor, after->tensor))
      c_.Fail(fmt::format("{} is not provably the same", graph_.Describe(replacement.source)));
  }
  if (c_.open() && !c_.MeetsRequirements()) c_.Fail("the result may not be valid");
  return c_.open();
}

bool RuleCase::MakeValue(ValueId id) {
  id = graph_.Resolve(id);
  Bound& bound = values_[id.index()];
  if (bound.is_made || !c_.open()) return c_.open();
  const SourceValue& v = graph_.values[id];
  const std::string name = fmt::format("{}@{}", v.name, id.index());
  const auto choose = [&](size_t options, const std::string& what) {
    const size_t chosen = c_.Choose(options, what);
    choices_[id.index()] = static_cast<uint32_t>(chosen);
    return chosen;
  };
  if (v.optional && choose(2, "whether there is " + name) == 1) {
    bound.is_made = true;
    return c_.open();
  }
  const bool is_part =
      slice_ == nullptr || (v.producer ? slice_->Has(v.producer) : slice_->HasChoices(id));
  if (!is_part && (v.producer || v.through || !v.either.empty())) {
    bound.tensor = MakeLeaf(id, name);
  } else if (!v.either.empty()) {
    const ValueId choice =
        graph_.Resolve(v.either[choose(v.either.size(), "alternative of " + name)]);
    if (!MakeValue(choice)) return false;
    bound = values_[choice.index()];
  } else if (v.through) {
    if (!MakeSkipped(id)) return false;
  } else if (v.producer) {
    return MakeOp(v.producer);
  } else if (v.list) {
    for (size_t i = choose(kMaxProofList + 1, "length of " + name); i > 0; --i)
      bound.list.push_back(MakeLeaf(id, fmt::format("{}.{}", name, i)));
  } else {
    bound.tensor = MakeLeaf(id, name);
  }
  bound.is_made = true;
  return c_.open();
}

Leaf* RuleCase::MakeLeaf(ValueId id, const std::string& name) {
  const Known& known = known_[id.index()];
  Terms& t = c_.terms();
  auto* leaf = c_.Make<Leaf>(c_.NewType(known.types), name, known.rank);
  leaf->one_element = known.one_element;
  leaf->unit_sizes = known.unit_sizes;
  leaf->only_last = known.only_last;
  leaf->uniform_number = known.number;
  leaf->whole_number = known.whole_number;
  if (known.number && known.zero_has_any_sign) {
    leaf->uniform = t.If(t.Variable(Sort::kBool, "sign of " + name), t.Number(-0.0), t.Number(0.0));
  } else if (known.number) {
    leaf->uniform = t.Number(*known.number);
  } else if (known.uniform) {
    leaf->uniform = t.Variable(Sort::kElement, name);
  }
  return leaf;
}

// Of a kind of op that may be skipped, several in a row compute what one can.
bool RuleCase::MakeSkipped(ValueId id) {
  const SourceValue& v = graph_.values[id];
  const ValueId through = graph_.Resolve(v.through);
  if (!MakeValue(through)) return false;
  Bound& bound = values_[id.index()];
  bound.tensor = values_[through.index()].tensor;
  if (bound.tensor == nullptr) return c_.open();
  if (const Term uniform = bound.tensor->Uniform()) {  // of any shape, with or without
    Tensor& from = *bound.tensor;
    auto* leaf = c_.Make<Leaf>(from.type, fmt::format("skipped@{}", id.index()));
    leaf->uniform = uniform;
    leaf->uniform_number = from.uniform_number;
    bound.tensor = leaf;
    return c_.open();
  }
  std::vector<const drr::SkippedOp*> changing;
  for (const drr::SkippedOp& skipped : v.skipped)
    if (skipped.def->name() != "onnx.Identity" && !skipped.same_type) changing.push_back(&skipped);
  if (changing.empty() || c_.Choose(2, "whether an op is skipped") == 0) return c_.open();
  if (ops_.shapes_only()) {
    bound.tensor = ops_.Unknown("skipped");
    return c_.open();
  }
  if (changing.size() > 1 || changing[0]->def->name() != "onnx.Expand") {
    c_.Fail("ops other than Expand are skipped");
    return false;
  }
  ProofOp expand{.def = changing[0]->def, .name = "onnx.Expand"};
  expand.operands = {bound.tensor, ops_.Unknown("shape")};
  const std::vector<Tensor*> results = ops_.Apply(expand);
  if (results.empty()) return false;
  bound.tensor = results[0];
  return c_.open();
}

ProofAttr& RuleCase::VariableOf(drr::AttrId id) {
  std::optional<ProofAttr>& variable = variables_[id.index()];
  if (!variable) variable = ProofAttr{.token = fmt::format("${}", id.index())};
  return *variable;
}

// Nothing but a default where `literal` is null.
ProofAttr RuleCase::AttrOf(const AttrPattern& pattern, const ir::FieldDef& field) {
  if (pattern.kind == AttrPattern::kBind) return VariableOf(pattern.variable);
  std::vector<ir::Attribute> values;
  for (ir::Attribute value : pattern.values) {
    if (!value && field.make_default != nullptr) value = field.make_default(*graph_.context());
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  if (values.empty()) return {};
  return {.literal = values[c_.Choose(values.size(), "value of an attribute")]};
}

namespace {

bool IsAnyElementwise(const SourceOp& source) {
  constexpr uint32_t kNeeded = ir::kPure | ir::kElementwise;
  return source.alternatives.empty() && (source.traits & kNeeded) == kNeeded &&
         source.opcode.empty() && source.operands.size() == 1 && source.results.size() == 1;
}

}  // namespace

bool RuleCase::PickAlternative(drr::OpId id, ProofOp* op) {
  const SourceOp& source = graph_.ops[id];
  op->num_results = std::max<size_t>(source.results.size(), 1);
  if (source.alternatives.empty()) {
    if (IsAnyElementwise(source)) {
      op->name = fmt::format("any op {}", id.index());
      return true;
    }
    c_.Fail("any op may stand there");
    return false;
  }
  const size_t chosen =
      c_.Choose(source.alternatives.size(), fmt::format("alternative of op {}", id.index()));
  alternatives_[id.index()] = static_cast<uint32_t>(chosen);
  const drr::Alternative& alternative = source.alternatives[chosen];
  if (!c_.open()) return false;
  op->def = alternative.def;
  op->name = alternative.def->name();
  for (const ir::FieldDef& field : alternative.def->fields) {
    const std::string name(field.name.str());
    const auto pattern = std::find_if(
        alternative.attrs.begin(), alternative.attrs.end(),
        [&](const AttrPattern& p) { return p.name == field.name && p.kind != AttrPattern::kAny; });
    if (pattern == alternative.attrs.end()) {
      const bool is_default =
          field.make_default != nullptr && field.kind != ir::AttrKind::kFloat && HasOnlyNumbers(id);
      if (is_default) {
        op->attrs[name] = {.literal = field.make_default(*graph_.context())};
      } else {
        op->attrs[name] = {.token = fmt::format("op{}.{}", id.index(), name)};
      }
      continue;
    }
    ProofAttr attr = AttrOf(*pattern, field);
    if (attr.literal || !attr.token.empty()) op->attrs[name] = std::move(attr);
  }
  return c_.open();
}

bool RuleCase::MakeOp(drr::OpId id) {
  if (made_ops_[id.index()].is_made || !c_.open()) return c_.open();
  const SourceOp& source = graph_.ops[id];
  const bool is_each = source.times == drr::Times::kEach;
  ProofOp op;
  const bool is_open = !source.regions.empty() || source.times == drr::Times::kChain;
  if (ops_.shapes_only() && (is_open || (source.alternatives.empty() && !IsAnyElementwise(source))))
    return MakeUnknown(id);
  if (is_open) {
    c_.Fail("regions and chains of ops are not proved");
    return false;
  }
  if (!PickAlternative(id, &op)) return false;
  std::vector<Tensor*> each;
  for (size_t i = 0; i < source.operands.size(); ++i) {
    const ValueId operand = source.operands[i] ? graph_.Resolve(source.operands[i]) : ValueId();
    if (operand && !MakeValue(operand)) return false;
    const Bound none, &bound = operand ? values_[operand.index()] : none;
    std::vector<Tensor*>& to = is_each && i == 0 ? each : op.operands;
    if (operand && graph_.values[operand].list) {
      to.insert(to.end(), bound.list.begin(), bound.list.end());
    } else {
      to.push_back(bound.tensor);
    }
  }
  // Of two operands the order makes no difference.
  if (op.def != nullptr && op.def->Has(ir::kCommutative) && op.operands.size() > 2 &&
      c_.Choose(2, "order of operands") == 1)
    std::swap(op.operands[0], op.operands[1]);
  made_ops_[id.index()] = {true, op};
  if (is_each) return ApplyEach(op, each, &values_[graph_.Resolve(source.results[0]).index()]);
  ops_.ExpectRank(source.results.empty() ? std::nullopt
                                         : known_[graph_.Resolve(source.results[0]).index()].rank);
  const std::vector<Tensor*> results = ops_.Apply(op);
  ops_.ExpectRank(std::nullopt);
  if (results.size() < source.results.size()) return false;
  for (size_t i = 0; i < source.results.size(); ++i)
    values_[graph_.Resolve(source.results[i]).index()] = {true, results[i], {}};
  SayWhatIsChosen();
  return c_.open();
}

// Ops of which nothing is known but what they read.
bool RuleCase::MakeUnknown(drr::OpId id) {
  const SourceOp& source = graph_.ops[id];
  made_ops_[id.index()] = {true, std::nullopt};
  for (const ValueId operand : source.operands)
    if (operand && !MakeValue(operand)) return false;
  for (const ValueId result : source.results)
    values_[graph_.Resolve(result).index()] = {true, ops_.Unknown("unknown"), {}};
  return c_.open();
}

bool RuleCase::ApplyEach(const ProofOp& op, const std::vector<Tensor*>& elements, Bound* result) {
  result->is_made = true;
  for (Tensor* element : elements) {
    ProofOp one = op;
    one.operands.insert(one.operands.begin(), element);
    const std::vector<Tensor*> results = ops_.Apply(one);
    if (results.empty()) return false;
    result->list.push_back(results[0]);
  }
  return c_.open();
}

const RuleCase::Bound* RuleCase::OperandOf(const ResultOperand& operand) {
  switch (operand.kind) {
    case ResultOperand::kSource: {
      const Bound& bound = values_[graph_.Resolve(operand.source).index()];
      return &bound;  // not made: of an alternative that was not chosen, hence absent
    }
    case ResultOperand::kResult:
      return &results_[operand.result.index()];
    case ResultOperand::kOutside:
      c_.Fail("the result reads a value that the pattern does not reach");
      return nullptr;
    case ResultOperand::kNone:
      break;
  }
  return nullptr;
}

bool RuleCase::AddResultAttr(const drr::ResultAttr& attr, ProofOp* op) {
  const std::string name(attr.name.str());
  const ir::FieldDef* field = op->def != nullptr ? op->def->FindField(attr.name) : nullptr;
  if (attr.literal) {
    op->attrs[name] = {.literal = attr.literal};
  } else if (attr.variable) {
    op->attrs[name] = VariableOf(attr.variable);
  } else if (!attr.formula.name.empty() && field != nullptr) {
    const std::optional<ProofAttr> computed = Computed(attr.formula, field->kind);
    if (!computed) {
      c_.Fail(fmt::format("{} is computed by {}, which is not followed", name, attr.formula.name));
    } else {
      op->attrs[name] = *computed;
    }
  } else {
    c_.Fail(fmt::format("{} is computed by native code", name));
  }
  return c_.open();
}

namespace {

// Whether attributes of one op mean the same for another, those that are not given too.
bool HaveAlikeAttributes(const ir::OpDef& from, const ir::OpDef& to) {
  return &from == &to || (from.name() == "onnx.Conv" && to.name() == "fused.conv2d") ||
         (from.name() == "onnx.Conv" && to.name() == "com.microsoft.FusedConv") ||
         (from.name() == "onnx.ConvTranspose" && to.name() == "fused.conv_transpose2d") ||
         (from.name() == "onnx.Gemm" && to.name() == "com.microsoft.FusedGemm") ||
         (from.name() == "onnx.MatMul" && to.name() == "com.microsoft.FusedMatMul") ||
         (from.name() == "onnx.QLinearConv" && to.name() == "fused.qconv2d") ||
         (from.name() == "onnx.Gelu" && to.name() == "fused.gelu");
}

}  // namespace

bool RuleCase::ReadResultOp(const drr::ResultOp& result, ProofOp* op) {
  const drr::OpId from = result.like ? result.like : result.attrs_of;
  const ProofOp* source = nullptr;
  if (from && made_ops_[from.index()].op) source = &*made_ops_[from.index()].op;
  if (from && source == nullptr) {
    c_.Fail("the result copies an op that is not there in each case");
    return false;
  }
  op->def = result.like ? source->def : result.def;
  op->name = result.like ? source->name : std::string(result.def->name());
  op->num_results = std::max<size_t>(result.results.size(), 1);
  if (result.like) op->attrs = source->attrs;
  if (!result.like)
    for (const ir::FieldDef& field : op->def->fields)
      if (field.make_default != nullptr)
        op->attrs[std::string(field.name.str())].literal = field.make_default(*graph_.context());
  if (result.attrs_of) {
    if (source->def == nullptr || !HaveAlikeAttributes(*source->def, *op->def)) {
      c_.Fail("attributes are copied to another op");
      return false;
    }
    for (const auto& [name, attr] : source->attrs)
      if (op->def->FindField(ir::Name(name)) != nullptr) op->attrs[name] = attr;
  }
  return std::all_of(result.attrs.begin(), result.attrs.end(),
                     [&](const drr::ResultAttr& attr) { return AddResultAttr(attr, op); });
}

bool RuleCase::MakeResultOp(drr::ResultOpId id) {
  const drr::ResultOp& result = graph_.result_ops[id];
  ProofOp op;
  if (!ReadResultOp(result, &op)) return false;
  std::vector<Tensor*> each;
  for (size_t i = 0; i < result.operands.size(); ++i) {
    const Bound* bound = OperandOf(result.operands[i]);
    if (!c_.open()) return false;
    std::vector<Tensor*>& to = result.each && i == 0 ? each : op.operands;
    if (result.operands[i].list && bound != nullptr) {
      to.insert(to.end(), bound->list.begin(), bound->list.end());
    } else {
      to.push_back(bound != nullptr ? bound->tensor : nullptr);
    }
  }
  if (result.each) return ApplyEach(op, each, &results_[result.results[0].index()]);
  const std::vector<Tensor*> results = ops_.Apply(op);
  if (results.size() < result.results.size()) return false;
  for (size_t i = 0; i < result.results.size(); ++i)
    results_[result.results[i].index()] = {true, results[i], {}};
  return c_.open();
}

}  // namespace weft::passes
