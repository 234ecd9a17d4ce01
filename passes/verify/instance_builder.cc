#include "passes/verify/instance_builder.h"

#include <algorithm>

#include "ir/analysis/verifier.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/verify/complaint.h"

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

InstanceBuilder::InstanceBuilder(const PatternGraph& graph, Draw& draw, Assignment& assignment,
                                 Open open)
    : graph_(graph),
      draw_(draw),
      assignment_(assignment),
      open_(open),
      program_(std::make_unique<Program>(graph.context())),
      b_(program_.get()),
      values_(graph.values.size()),
      lists_(graph.values.size()),
      done_(graph.values.size(), false),
      ops_(graph.ops.size()),
      bound_(graph.attrs.size(), false) {}

bool InstanceBuilder::Build() {
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

Operation InstanceBuilder::site() const {
  const Value root = values_[graph_.Resolve(graph_.root_value())];
  return root ? root.DefiningOp() : Operation();
}

uint32_t InstanceBuilder::Choose(ValueId id, size_t n) {
  std::optional<uint32_t>& choice = assignment_.choices[id];
  if (!choice || *choice >= n) choice = draw_.Below(n);
  return *choice;
}

bool InstanceBuilder::MakeValue(ValueId id, int depth) {
  id = graph_.Resolve(id);
  if (done_[id]) return true;
  if (depth > kMaxDepth) return false;
  const SourceValue& v = graph_.values[id];
  if (!v.either.empty()) {
    const ValueId choice = graph_.Resolve(v.either[Choose(id, v.either.size())]);
    if (!MakeValue(choice, depth + 1)) return false;
    values_[id] = values_[choice];
  } else if (v.through) {
    if (!MakeSkipped(id, depth)) return false;
  } else if (v.producer) {
    if (!MakeOp(v.producer, depth + 1)) return false;
  } else if (!v.optional || Choose(id, 2) == 0) {
    MakeLeaf(id);
  }
  done_[id] = true;
  return true;
}

// The value itself, or with one of the ops in between that need no decision but a type or shape.
bool InstanceBuilder::MakeSkipped(ValueId id, int depth) {
  const SourceValue& v = graph_.values[id];
  const ValueId through = graph_.Resolve(v.through);
  if (!MakeValue(through, depth + 1)) return false;
  values_[id] = values_[through];
  if (!values_[id] || v.skipped.empty() || Choose(id, 2) == 0) return true;
  const drr::SkippedOp& skipped = draw_.OneOf(v.skipped);
  ir::OperationState state{.opcode = skipped.def->opcode, .operands = {values_[id]}, .attrs = {}};
  if (skipped.def->info->operands.size() > 1) {
    const ir::Shape shape = draw_.DrawShape(near_);
    state.operands.push_back(b_.ConstantInts(shape));
  }
  Operation made;
  std::string ignored;  // then nothing is skipped
  if (b_.TryCreate(std::move(state), 1, &made, &ignored)) values_[id] = made.result(0);
  return true;
}

void InstanceBuilder::MakeLeaf(ValueId id) {
  std::optional<Leaf>& leaf = assignment_.leaves[id];
  if (!leaf) leaf = draw_.DrawLeaf(near_);
  const SourceValue& v = graph_.values[id];
  if (!v.list) {
    values_[id] = Materialise(*leaf);
    near_.push_back(values_[id]);
    return;
  }
  lists_[id].clear();
  for (uint32_t n = Choose(id, 4); n > 0; --n) lists_[id].push_back(Materialise(*leaf));
  near_.insert(near_.end(), lists_[id].begin(), lists_[id].end());
}

Value InstanceBuilder::Materialise(const Leaf& leaf) {
  if (leaf.constant) return b_.Constant(leaf.constant);
  const std::string name = "x" + std::to_string(input_types_.size());
  const Value input = b_.AddInput(name, Opened(leaf.type, name));
  input_types_.push_back(leaf.type);
  if (open_ == Open::kNothing || open_ == Open::kEqualSizes ||
      b_.context()->FindOp("onnx.Identity") == nullptr)
    return input;
  return b_.Make<ir::ops::Identity>({input});
}

ir::Type InstanceBuilder::Opened(ir::Type type, const std::string& input) const {
  if (open_ == Open::kRanks) return b_.context()->UnrankedTensorType(type.dtype());
  ir::Shape shape = type.shape();
  for (size_t i = 0; i < shape.size(); ++i)
    if (open_ == Open::kAllSizes)
      shape[i] = ir::SymbolicDim(input + "_" + std::to_string(i));
    else if (open_ == Open::kEqualSizes && shape[i] >= 2)
      shape[i] = ir::SymbolicDim("s" + std::to_string(shape[i]));
  return b_.context()->TensorType(type.dtype(), shape);
}

std::vector<Value> InstanceBuilder::Near(const SourceOp& op) const {
  std::vector<Value> near;
  for (const ValueId operand : op.operands)
    if (operand && values_[graph_.Resolve(operand)])
      near.push_back(values_[graph_.Resolve(operand)]);
  if (!near.empty()) return near;
  for (const Value v : values_)
    if (v) near.push_back(v);
  return near;
}

// Results of other ops first, so that leaves can be drawn to fit them.
bool InstanceBuilder::MakeOperands(const SourceOp& op, int depth) {
  for (const bool leaves : {false, true}) {
    near_ = Near(op);
    for (ValueId operand : op.operands) {
      if (!operand) continue;
      const SourceValue& v = graph_.values[graph_.Resolve(operand)];
      const bool is_leaf = !v.producer && v.either.empty() && !v.through;
      if (is_leaf == leaves && !MakeValue(operand, depth + 1)) return false;
      if (!leaves) near_ = Near(op);
    }
  }
  near_ = Near(op);
  return true;
}

bool InstanceBuilder::MakeOp(OpId id, int depth) {
  if (ops_[id]) return true;
  const SourceOp& op = graph_.ops[id];
  if (!op.regions.empty()) {
    error_ = std::string(op.Name()) + " has regions, which are not made";
    return false;
  }
  drr::Alternative alternative;
  if (!PickAlternative(id, &alternative)) return false;
  const Done done_before = done_;
  if (!MakeOperands(op, depth)) return false;
  if (op.times == drr::Times::kEach) return MakeEach(id, alternative);
  Operation made;
  constexpr int kTries = 80;
  for (int i = 0; !TryOp(id, alternative, {}, &made); ++i) {
    if (open_ != Open::kNothing) return false;
    if (i < kTries && Reconsider(id, alternative, done_before)) continue;
    ReconsiderBelow(id, alternative);
    return false;
  }
  if (op.times == drr::Times::kChain)
    for (int i = 1; i < std::max(op.min_times, 2); ++i)
      if (!TryOp(id, alternative, made.result(0), &made)) return false;
  ops_[id] = made;
  ++ops_built_;
  for (const drr::AttrPattern& pattern : alternative.attrs)
    if (pattern.kind == drr::AttrPattern::kBind) bound_[pattern.variable] = true;
  for (size_t i = 0; i < op.results.size(); ++i) {
    const ValueId result = graph_.Resolve(op.results[i]);
    values_[result] = made.result(static_cast<uint32_t>(i));
    done_[result] = true;
  }
  return true;
}

bool InstanceBuilder::PickAlternative(OpId id, drr::Alternative* alternative) {
  const SourceOp& op = graph_.ops[id];
  std::vector<drr::Alternative> fit = op.alternatives;
  if (fit.empty()) {
    for (const ir::OpDef* def : b_.context()->Ops())
      if ((def->traits & op.traits) == op.traits && def->info->num_regions == 0 &&
          (op.opcode.empty() || def->name() == op.opcode) &&
          def->info->operands.size() == op.operands.size())
        fit.push_back({def, {}});
  }
  if (fit.empty()) return false;
  std::optional<uint32_t>& choice = assignment_.alternatives[id];
  if (!choice || *choice >= fit.size()) choice = draw_.Below(fit.size());
  *alternative = fit[*choice];
  return alternative->def != nullptr;
}

bool InstanceBuilder::MakeEach(OpId id, const drr::Alternative& alternative) {
  const SourceOp& op = graph_.ops[id];
  const ValueId result = graph_.Resolve(op.results[0]);
  lists_[result].clear();
  for (Value element : std::vector<Value>(lists_[graph_.Resolve(op.operands[0])])) {
    if (!TryOp(id, alternative, element, &ops_[id])) return false;
    lists_[result].push_back(ops_[id].result(0));
  }
  done_[result] = true;
  ++ops_built_;
  return !lists_[result].empty();
}

bool InstanceBuilder::TryOp(OpId id, const drr::Alternative& alternative, Value first,
                            Operation* made) {
  const SourceOp& op = graph_.ops[id];
  const ir::OpDef& def = *alternative.def;
  if (def.info->num_regions != 0) return false;  // what would be in them?
  ir::OperationState state;
  state.opcode = def.opcode;
  state.attrs = MakeAttrs(id, alternative);
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
  if (def.Has(ir::kCommutative) && state.operands.size() >= 2) {
    std::optional<bool>& swapped = assignment_.swapped[id];
    if (!swapped) swapped = draw_.OneIn(2);
    if (*swapped) std::swap(state.operands[0], state.operands[1]);
  }
  size_t num_results = 0;
  for (const ir::OperandDef& r : def.info->results) num_results += r.arity == ir::Arity::kOne;
  return b_.TryCreate(std::move(state), std::max(num_results, op.results.size()), made, &error_);
}

bool InstanceBuilder::Reconsider(OpId id, const drr::Alternative& alternative,
                                 const Done& done_before) {
  const SourceOp& op = graph_.ops[id];
  std::vector<std::pair<ValueId, std::string_view>> fresh, named;
  const auto& defs = alternative.def->info->operands;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operands[i]) continue;
    const ValueId value = graph_.Resolve(op.operands[i]);
    const SourceValue& v = graph_.values[value];
    if (done_before[value] || v.producer || !v.either.empty() || v.through) continue;
    const std::string_view name = defs[std::min(i, defs.size() - 1)].name;
    fresh.emplace_back(value, name);
    if ((error_ + " ").find(" " + std::string(name) + " ") != std::string::npos)
      named.emplace_back(value, name);
  }
  std::vector<std::optional<Attribute>*> fields;
  for (auto& [key, field] : assignment_.fields)
    if (key.first == id.index()) fields.push_back(&field);
  for (const drr::AttrPattern& pattern : alternative.attrs)
    if (pattern.kind == drr::AttrPattern::kBind && !bound_[pattern.variable])
      assignment_.variables[pattern.variable] = {};
  if (!fields.empty() && (fresh.empty() || draw_.OneIn(3))) draw_.OneOf(fields)->reset();
  if (fresh.empty()) return !fields.empty() && !draw_.OneIn(10);
  const auto [value, name] = draw_.OneOf(named.empty() || draw_.OneIn(4) ? fresh : named);
  if (!FollowComplaint(value, name)) {
    assignment_.leaves[value].reset();
    if (!draw_.OneIn(4)) {
      values_[value] = Value();
      near_ = Near(op);
    }
    if (graph_.values[value].optional) assignment_.choices[value].reset();
  }
  done_[value] = false;
  values_[value] = Value();
  MakeValue(value, 0);
  return true;
}

void InstanceBuilder::ReconsiderBelow(OpId id, const drr::Alternative& alternative) {
  const SourceOp& op = graph_.ops[id];
  const auto& defs = alternative.def->info->operands;
  std::vector<std::pair<ValueId, std::string_view>> all, named;  // leaves, and what they lead to
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (!op.operands[i]) continue;
    const std::string_view name = defs[std::min(i, defs.size() - 1)].name;
    const bool is_named = (error_ + " ").find(" " + std::string(name) + " ") != std::string::npos;
    for (const ValueId leaf : LeavesBelow(graph_, op.operands[i], assignment_)) {
      all.emplace_back(leaf, name);
      if (is_named) named.emplace_back(leaf, name);
    }
  }
  if (all.empty()) return;
  reconsidered_ = true;
  const auto [value, name] = draw_.OneOf(named.empty() || draw_.OneIn(4) ? all : named);
  if (draw_.OneIn(3) || !FollowComplaint(value, name)) {
    Leaf& leaf = *assignment_.leaves[value];
    leaf.type = graph_.context()->TensorType(leaf.type.dtype(), draw_.DrawShape(Near(op)));
    if (leaf.constant) leaf.constant = draw_.DrawContents(leaf.type);
  }
}

namespace {

// Like each shape that is drawn.
bool IsSmall(const ir::Shape& shape) {
  int64_t count = 1;
  for (const int64_t size : shape)
    if (size > kMaxElements || (count *= size) > kMaxElements) return false;
  return true;
}

}  // namespace

// Of a leaf that the operand, or what it is computed from, gets its type or shape from.
bool InstanceBuilder::FollowComplaint(ValueId id, std::string_view name) {
  const auto complaint = ComplaintOf(error_, name);
  if (!complaint || !assignment_.leaves[id]) return false;
  Leaf& leaf = *assignment_.leaves[id];
  ir::Shape shape = leaf.type.shape();
  ir::DataType dtype = leaf.type.dtype();
  if (complaint->is == "rank" && !complaint->ranks.empty()) {
    shape.resize(static_cast<size_t>(draw_.OneOf(complaint->ranks)));
    for (int64_t& size : shape)
      if (size == 0) size = draw_.DrawSize();
  } else if (!complaint->dtypes.empty() && complaint->is == ir::DataTypeName(dtype)) {
    dtype = draw_.OneOf(complaint->dtypes);
  } else if (complaint->shape && complaint->is == ir::ToString(leaf.type.dims()) &&
             IsSmall(*complaint->shape)) {
    shape = *complaint->shape;
  } else {
    return false;
  }
  leaf.type = graph_.context()->TensorType(dtype, shape);
  if (leaf.constant) leaf.constant = draw_.DrawContents(leaf.type);
  return true;
}

ir::AttrDict InstanceBuilder::MakeAttrs(OpId id, const drr::Alternative& alternative) {
  std::vector<ir::NamedAttribute> entries;
  for (const ir::FieldDef& field : alternative.def->fields)
    if (const Attribute value = MakeAttr(id, alternative, field); value)
      entries.push_back({field.name, value});
  return b_.context()->Dict(std::move(entries));
}

Attribute InstanceBuilder::MakeAttr(OpId id, const drr::Alternative& alternative,
                                    const ir::FieldDef& field) {
  std::optional<Attribute>& kept = assignment_.fields[{id.index(), field.name.str()}];
  for (const drr::AttrPattern& pattern : alternative.attrs) {
    if (!(pattern.name == field.name) || pattern.kind == drr::AttrPattern::kAny) continue;
    if (pattern.kind == drr::AttrPattern::kIsOneOf) {
      if (!kept ||
          std::find(pattern.values.begin(), pattern.values.end(), *kept) == pattern.values.end())
        kept = draw_.OneOf(pattern.values);
      return *kept;
    }
    Attribute& variable = assignment_.variables[pattern.variable];
    if (!variable) variable = draw_.DrawField(field, near_);
    return variable;
  }
  if (!kept) kept = draw_.DrawField(field, near_);
  return *kept;
}

void InstanceBuilder::EraseUnused() {
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
    input_types_.erase(input_types_.begin() + (i - 1));
    if (i - 1 < names.size()) names.erase(names.begin() + (i - 1));
  }
  if (program_->module().attr("input_names"))
    rewriter.SetAttr(program_->module(), "input_names", b_.context()->StringsAttr(names));
}

}  // namespace weft::passes
