#include "passes/analysis/witness_instance.h"

#include <algorithm>

#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"

namespace weft::passes {

using drr::OpId;
using drr::PatternGraph;
using drr::SourceOp;
using drr::SourceValue;
using drr::ValueId;
using ir::Attribute;
using ir::Operation;
using ir::Program;
using ir::Value;

WitnessInstance::WitnessInstance(ir::IrContext& context, const PatternGraph& graph, Genes& genes)
    : graph_(graph),
      genes_(genes),
      stock_(&context, &genes),
      program_(std::make_unique<Program>(&context)),
      b_(program_.get()),
      values_(graph.values.size()),
      lists_(graph.values.size()),
      done_(graph.values.size(), false),
      ops_(graph.ops.size()),
      attrs_(graph.attrs.size()) {}

bool WitnessInstance::Build() {
  if (graph_.root_value() && !MakeValue(graph_.root_value(), 0)) return false;
  for (OpId root : graph_.roots())
    if (graph_.values[graph_.root_value()].either.empty() && !MakeOp(root, 0)) return false;
  std::vector<std::pair<std::string, Value>> outputs;
  for (const drr::Replacement& r : graph_.replacements)
    if (const Value v = values_[graph_.Resolve(r.source)]; v && v.DefiningOp())
      outputs.emplace_back("y" + std::to_string(outputs.size()), v);
  if (outputs.empty()) return false;
  b_.Return(std::move(outputs));
  EraseUnused();
  return ir::Verify(*program_).ok();
}

bool WitnessInstance::MakeValue(ValueId id, int depth) {
  id = graph_.Resolve(id);
  if (done_[id]) return true;
  if (depth > kMaxDepth) return false;
  const SourceValue& v = graph_.values[id];
  if (v.optional && genes_.Choose(2)) {
    done_[id] = true;
    return true;
  }
  if (!v.either.empty() || v.through) {  // nothing is skipped
    const ValueId choice = graph_.Resolve(v.through ? v.through : genes_.Pick(v.either));
    if (!MakeValue(choice, depth + 1)) return false;
    values_[id] = values_[choice];
  } else if (v.producer) {
    if (!MakeOp(v.producer, depth + 1)) return false;
  } else if (v.list) {
    lists_[id].clear();
    lists_[id].push_back(MakeLeaf());
    for (uint32_t more = genes_.Choose(3); more > 0; --more)
      lists_[id].push_back(b_.AddInput("x" + std::to_string(num_inputs_++), lists_[id][0].type()));
  } else {
    values_[id] = MakeLeaf();
  }
  done_[id] = true;
  return true;
}

bool WitnessInstance::MakeOp(OpId id, int depth) {
  if (ops_[id]) return true;
  const SourceOp& op = graph_.ops[id];
  if (!op.regions.empty()) {
    error_ = std::string(op.Name()) + " has regions, which are not made";
    return false;
  }
  drr::Alternative alternative;
  if (!PickAlternative(op, &alternative)) return false;
  const Done done_before = done_;
  const drr::IdVector<drr::AttrVariable, Attribute> attrs_before = attrs_;
  for (ValueId operand : op.operands)
    if (operand && !MakeValue(operand, depth + 1)) return false;
  if (op.times == drr::Times::kEach) return MakeEach(id, alternative);
  Operation made;
  constexpr int kRedraws = 60;
  for (int i = 0; !TryOp(op, alternative, {}, &made); ++i) {
    if (i == kRedraws) return false;
    attrs_ = attrs_before;
    Redraw(op, *alternative.def, done_before);
  }
  if (op.times == drr::Times::kChain)
    for (int i = 1; i < std::max(op.min_times, 2); ++i)
      if (!TryOp(op, alternative, made.result(0), &made)) return false;
  ops_[id] = made;
  ++ops_built_;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = graph_.Resolve(op.results[i]);
    values_[result] = made.result(static_cast<uint32_t>(i));
    done_[result] = true;
  }
  return true;
}

bool WitnessInstance::PickAlternative(const SourceOp& op, drr::Alternative* alternative) {
  if (!op.alternatives.empty()) {
    *alternative = genes_.Pick(op.alternatives);
    return alternative->def != nullptr;
  }
  std::vector<const ir::OpDef*> fit;
  for (const ir::OpDef* def : b_.context()->Ops())
    if ((def->info->traits & op.traits) == op.traits && def->info->num_regions == 0 &&
        (op.opcode.empty() || def->name() == op.opcode))
      fit.push_back(def);
  if (fit.empty()) return false;
  alternative->def = genes_.Pick(fit);
  return true;
}

bool WitnessInstance::MakeEach(OpId id, const drr::Alternative& alternative) {
  const SourceOp& op = graph_.ops[id];
  const ValueId result = graph_.Resolve(op.results[0]);
  lists_[result].clear();
  for (Value element : std::vector<Value>(lists_[graph_.Resolve(op.operands[0])])) {
    if (!TryOp(op, alternative, element, &ops_[id])) return false;
    lists_[result].push_back(ops_[id].result(0));
  }
  done_[result] = true;
  ++ops_built_;
  return !lists_[result].empty();
}

bool WitnessInstance::TryOp(const SourceOp& op, const drr::Alternative& alternative, Value first,
                            Operation* made) {
  const ir::OpDef& def = *alternative.def;
  if (def.info->num_regions != 0) return false;  // what would be in them?
  ir::OperationState state;
  state.opcode = def.opcode;
  state.attrs = MakeAttrs(alternative);
  for (ValueId operand : op.operands) {
    const ValueId value = operand ? graph_.Resolve(operand) : operand;
    if (first && state.operands.empty()) {
      state.operands.push_back(first);
    } else if (value && graph_.values[value].list) {
      state.operands.insert(state.operands.end(), lists_[value].begin(), lists_[value].end());
    } else {
      state.operands.push_back(value ? values_[value] : Value());
    }
  }
  while (!state.operands.empty() && !state.operands.back()) state.operands.pop_back();
  size_t num_results = 0;
  for (const ir::OperandDef& r : def.info->results) num_results += r.arity == ir::Arity::kOne;
  return b_.TryCreate(std::move(state), std::max(num_results, op.results.size()), made, &error_);
}

void WitnessInstance::Redraw(const SourceOp& op, const ir::OpDef& def, const Done& done_before) {
  std::vector<ValueId> fresh, named;
  const auto& defs = def.info->operands;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operands[i]) continue;
    const ValueId id = graph_.Resolve(op.operands[i]);
    const SourceValue& v = graph_.values[id];
    if (done_before[id] || v.producer || !v.either.empty() || v.through) continue;
    fresh.push_back(id);
    const std::string name(defs[std::min(i, defs.size() - 1)].name);
    if ((error_ + " ").find(" " + name + " ") != std::string::npos) named.push_back(id);
  }
  if (fresh.empty()) return;
  if (named.empty()) named.push_back(genes_.Pick(fresh));
  const ValueId id = genes_.Pick(named);
  values_[id] = Value();
  done_[id] = false;
  MakeValue(id, 0);
}

ir::AttrDict WitnessInstance::MakeAttrs(const drr::Alternative& alternative) {
  std::vector<ir::NamedAttribute> entries;
  for (const ir::FieldDef& field : alternative.def->fields)
    if (const Attribute value = MakeAttr(alternative, field); value)
      entries.push_back({field.name, value});
  return b_.context()->Dict(std::move(entries));
}

Attribute WitnessInstance::MakeAttr(const drr::Alternative& alternative,
                                    const ir::FieldDef& field) {
  for (const drr::AttrPattern& pattern : alternative.attrs) {
    if (!(pattern.name == field.name) || pattern.kind == drr::AttrPattern::kAny) continue;
    if (pattern.kind == drr::AttrPattern::kIsOneOf) return genes_.Pick(pattern.values);
    Attribute& variable = attrs_[pattern.variable];
    if (!variable) variable = stock_.DrawAttr(field, values_);
    return variable;
  }
  return stock_.DrawAttr(field, values_);
}

Value WitnessInstance::MakeLeaf() {
  if (genes_.Choose(2)) return b_.Constant(stock_.DrawConstant(values_));
  const ir::Shape shape = stock_.DrawShape(values_);
  return b_.AddInput("x" + std::to_string(num_inputs_++),
                     b_.context()->TensorType(stock_.DrawType(values_), shape));
}

void WitnessInstance::EraseUnused() {
  ir::Rewriter rewriter(program_.get());
  ir::Walk(*program_, [&](Operation op) {
    if (op.HasTrait(ir::kConstantLike) && op.IsUnused()) rewriter.Erase(op);
  });
  const ir::Block body = program_->body();
  ir::Strings names =
      program_->module().attrs_of<ir::ModuleOp>().input_names.value_or(ir::Strings());
  for (uint32_t i = body.num_arguments(); i > 0; --i) {
    if (!body.argument(i - 1).IsUnused()) continue;
    rewriter.EraseArgument(body, i - 1);
    if (i - 1 < names.size()) names.erase(names.begin() + (i - 1));
  }
  if (program_->module().attr("input_names"))
    rewriter.SetAttr(program_->module(), "input_names", b_.context()->StringsAttr(names));
}

}  // namespace weft::passes
