// String spelling: from what was recorded to the result graph.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drr/paddle/recorder.h"
#include "drr/rule/record_attributes.h"
#include "ir/dialects/pd/creation.h"

namespace weft::drr::string_spelling {

using ir::AttrKind;

ValueId Recorder::SourceValueNamed(std::string_view name) const {
  for (const Node& node : nodes_)
    if (!node.is_result && !node.is_none && node.name == name && !name.empty()) return node.value;
  return {};
}

AttrId Recorder::AttrVariable(std::string_view name) const {
  for (AttrId id : graph_->attrs.ids())
    if (graph_->attrs[id].name == name) return id;
  return {};
}

// What a node of the result pattern stands for: what defines it there, else the source tensor of
// that name.
ResultOperand Recorder::Resolve(int id) {
  for (size_t steps = 0; steps <= nodes_.size(); ++steps) {
    const Node& node = nodes_[id];
    if (node.is_none) return {};
    if (!node.is_result) return ResultOperand::Source(node.value);
    if (node.op >= 0)
      return ResultOperand::Result(graph_->result_ops[ops_[node.op].result].results[node.result]);
    if (node.alias >= 0) {
      id = node.alias;
      continue;
    }
    if (const ValueId source = SourceValueNamed(node.name)) return ResultOperand::Source(source);
    std::vector<std::string_view> names;
    for (const Node& n : nodes_)
      if (!n.is_result) names.push_back(n.name);
    graph_->Error(node.loc, fmt::format("'{}' is neither a tensor of the source pattern nor "
                                        "defined by the result pattern{}",
                                        node.name, ir::DidYouMean(node.name, names)));
    return {};
  }
  graph_->Error(nodes_[id].loc, fmt::format("'{}' is defined by itself", nodes_[id].name));
  return {};
}

AttrKind Recorder::KindOf(const Attribute& attr) const {
  if (attr.compute()) return attr.kind();
  const AttrId variable = AttrVariable(attr.name());
  for (const drr::SourceOp& op : graph_->ops)
    for (const AttrPattern& a : op.alternatives[0].attrs)
      if (a.variable == variable && variable)
        return op.alternatives[0].def->FindField(a.name)->kind;
  return AttrKind::kUnit;
}

ComputeAttr Recorder::Computed(const Attribute& attr, AttrKind kind,
                               bool (*accepts)(ir::Attribute)) const {
  const AttrId variable = attr.compute() ? AttrId() : AttrVariable(attr.name());
  return [compute = attr.compute(), variable, kind, accepts](const drr::MatchContext& match) {
    ir::Attribute value;
    if (variable) value = match.attr(variable);
    if (compute &&
        !Guarded(match, [&](const MatchContext& m) { value = compute(*match.context(), m); }))
      return ir::Attribute();
    value = ConvertAttr(*match.context(), value, kind);
    return value && accepts(value) ? value : ir::Attribute();
  };
}

// An attribute that is an operand in truth: a pd.full or pd.full_int_array feeds it.
void Recorder::Feed(const OpNode& op, size_t operand, const Attribute& attr) {
  const std::string_view operand_name = op.def->info->operands[operand].name;
  const AttrKind kind = KindOf(attr);
  const bool is_list = kind == AttrKind::kInts;
  const bool is_real = kind == AttrKind::kDouble || kind == AttrKind::kFloat;
  if (!op.def->name().starts_with("pd.") ||
      !(is_list || is_real || kind == AttrKind::kInt || kind == AttrKind::kBool)) {
    graph_->Error(op.loc, fmt::format("'{}' of {} is an operand; pass a tensor", operand_name,
                                      op.def->name()));
    return;
  }
  std::vector<ResultOperand>& operands = graph_->result_ops[op.result].operands;
  if (operand < operands.size() && operands[operand].kind != ResultOperand::kNone) {
    graph_->Error(op.loc, fmt::format("'{}' of {} is given as an operand and as an attribute",
                                      operand_name, op.def->name()));
    return;
  }
  if (operands.size() <= operand) operands.resize(operand + 1);

  ir::IrContext& c = *graph_->context();
  drr::ResultOp full;
  full.def = is_list ? &ir::OpDefOf<ir::pd::FullIntArray>() : &ir::OpDefOf<ir::pd::Full>();
  full.loc = op.loc;
  full.called = true;
  full.results = {graph_->NewResultValue()};
  const ir::DataType dtype = is_list   ? ir::DataType::kI64
                             : is_real ? ir::DataType::kF32
                                       : ir::DataType::kI32;
  full.attrs.push_back({ir::Name("dtype"), c.DataTypeAttr(dtype), {}, {}});
  full.attrs.push_back({ir::Name("place"), c.VerbatimAttr("Place(cpu)"), {}, {}});
  if (!is_list) full.attrs.push_back({ir::Name("shape"), c.IntsAttr(Ints{1}), {}, {}});
  const ir::FieldDef* value = full.def->FindField(ir::Name("value"));
  // pd.full keeps integers as floats too: those that a float cannot hold are refused.
  const AttrKind exact = is_list || is_real ? value->kind : AttrKind::kInt;
  auto accepts = [](ir::Attribute a) {
    return !a.Is(AttrKind::kInt) || std::abs(static_cast<double>(a.AsInt())) <= 1 << 24;
  };
  full.attrs.push_back({value->name,
                        {},
                        {},
                        [compute = Computed(attr, exact, accepts),
                         kind = value->kind](const drr::MatchContext& match) {
                          return ConvertAttr(*match.context(), compute(match), kind);
                        }});
  operands[operand] = ResultOperand::Result(full.results[0]);
  graph_->NewResultOp(std::move(full));
}

void Recorder::LowerAttr(const OpNode& op, const std::string& name, const Attribute& attr) {
  if (!attr.compute() && !AttrVariable(attr.name())) {
    std::vector<std::string_view> names;
    for (const drr::AttrVariable& a : graph_->attrs) names.push_back(a.name);
    graph_->Error(op.loc,
                  fmt::format("attribute '{}' of {} copies '{}', which no source op binds{}", name,
                              op.def->name(), attr.name(), ir::DidYouMean(attr.name(), names)));
    return;
  }
  if (const ir::FieldDef* field = op.def->FindField(ir::Name(name))) {
    graph_->result_ops[op.result].attrs.push_back(
        {field->name, {}, {}, Computed(attr, field->kind, field->accepts)});
    return;
  }
  const auto& operands = op.def->info->operands;
  const auto* named =
      std::find_if(operands.begin(), operands.end(), [&](const auto& o) { return o.name == name; });
  if (named == operands.end()) {
    NoAttribute(*op.def, name, op.loc);
  } else {
    Feed(op, static_cast<size_t>(named - operands.begin()), attr);
  }
}

void Recorder::LowerOp(OpNode& op) {
  for (int input : op.inputs) {
    const ResultOperand operand = Resolve(input);
    graph_->result_ops[op.result].operands.push_back(operand);
  }
  for (const auto& [name, attr] : op.attrs) LowerAttr(op, name, attr);
  for (size_t i = 0; i < op.def->fields.size(); ++i) {
    const std::string_view name = op.def->fields[i].name.str();
    const bool set = std::any_of(op.attrs.begin(), op.attrs.end(),
                                 [&](const auto& a) { return a.first == name; });
    if (!set) drr::internal::AddResultDefault(graph_.get(), op.result, i);
  }
  const size_t given = graph_->result_ops[op.result].operands.size();
  const auto& defs = op.def->info->operands;
  for (size_t i = given; i < defs.size(); ++i)
    if (defs[i].arity == ir::Arity::kOne && graph_->result_ops[op.result].called)
      graph_->Error(op.loc,
                    fmt::format("operand '{}' of {} is not given", defs[i].name, op.def->name()));
}

// Names can be used before they are defined, so the pattern may contain a cycle.
void Recorder::CheckCycles() {
  enum State { kNew, kOpen, kDone };
  IdVector<ResultValue, ResultOpId> defining_op(graph_->num_result_values);
  for (ResultOpId op : graph_->result_ops.ids())
    for (ResultValueId v : graph_->result_ops[op].results) defining_op[v] = op;
  IdVector<drr::ResultOp, State> result_state(graph_->result_ops.size());
  IdVector<drr::SourceOp, State> source_state(graph_->ops.size());
  std::function<void(ResultOpId)> result = [&](ResultOpId op) {
    if (result_state[op] == kOpen)
      graph_->Error(graph_->result_ops[op].loc, fmt::format("result op {} reads its own result",
                                                            graph_->result_ops[op].def->name()));
    if (result_state[op] != kNew) return;
    result_state[op] = kOpen;
    for (const ResultOperand& in : graph_->result_ops[op].operands)
      if (in.kind == ResultOperand::kResult) result(defining_op[in.result]);
    result_state[op] = kDone;
  };
  std::function<void(OpId)> source = [&](OpId op) {
    if (source_state[op] == kOpen)
      graph_->Error(graph_->ops[op].loc, fmt::format("source op {} reads its own result",
                                                     graph_->ops[op].alternatives[0].def->name()));
    if (source_state[op] != kNew) return;
    source_state[op] = kOpen;
    for (ValueId in : graph_->ops[op].operands)
      if (const OpId producer = in ? graph_->values[graph_->Resolve(in)].producer : OpId())
        source(producer);
    source_state[op] = kDone;
  };
  for (ResultOpId op : result_state.ids()) result(op);
  for (OpId op : source_state.ids()) source(op);
}

std::unique_ptr<PatternGraph> Recorder::Finish() {
  for (OpNode& op : ops_)
    if (op.is_result) LowerOp(op);
  for (int id : definitions_) {
    const ValueId source = SourceValueNamed(nodes_[id].name);
    if (!source) continue;
    const ResultOperand with = Resolve(id);
    graph_->replacements.push_back({source, with, nodes_[id].loc});
  }
  CheckCycles();
  return std::move(graph_);
}

}  // namespace weft::drr::string_spelling
