// String spelling: from what was recorded to the result graph.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drr/paddle/recorder.h"
#include "drr/rule/record_attributes.h"
#include "ir/dialects/pd/creation.h"

namespace weft::drr::string_spelling {

using ir::AttrKind;

int Recorder::SourceValueNamed(std::string_view name) const {
  for (const Node& node : nodes_)
    if (!node.is_result && !node.is_none && node.name == name && !name.empty()) return node.value;
  return -1;
}

int Recorder::AttrVariable(std::string_view name) const {
  for (size_t i = 0; i < graph_->attrs.size(); ++i)
    if (graph_->attrs[i].name == name) return static_cast<int>(i);
  return -1;
}

// What a node of the result pattern stands for: what defines it there, else the source tensor of
// that name.
ResultOperand Recorder::Resolve(int id) {
  for (size_t steps = 0; steps <= nodes_.size(); ++steps) {
    const Node& node = nodes_[id];
    if (node.is_none) return {};
    if (!node.is_result) return {ResultOperand::kSource, node.value};
    if (node.op >= 0)
      return {ResultOperand::kResult,
              graph_->result_ops[ops_[node.op].graph_id].results[node.result]};
    if (node.alias >= 0) {
      id = node.alias;
      continue;
    }
    const int source = SourceValueNamed(node.name);
    if (source >= 0) return {ResultOperand::kSource, source};
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
  const int variable = AttrVariable(attr.name());
  for (const drr::SourceOp& op : graph_->ops)
    for (const AttrPattern& a : op.alternatives[0].attrs)
      if (a.variable == variable && variable >= 0)
        return op.alternatives[0].def->FindField(a.name)->kind;
  return AttrKind::kUnit;
}

ComputeAttr Recorder::Computed(const Attribute& attr, AttrKind kind,
                               bool (*accepts)(ir::Attribute)) const {
  const int variable = attr.compute() ? -1 : AttrVariable(attr.name());
  return [compute = attr.compute(), variable, kind, accepts](const drr::MatchContext& match) {
    ir::Attribute value;
    if (variable >= 0) value = match.attr(variable);
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
  std::vector<ResultOperand>& operands = graph_->result_ops[op.graph_id].operands;
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
  full.results = {graph_->num_result_values++};
  const ir::DataType dtype = is_list   ? ir::DataType::kI64
                             : is_real ? ir::DataType::kF32
                                       : ir::DataType::kI32;
  full.attrs.push_back({ir::Name("dtype"), c.DataTypeAttr(dtype), -1, {}});
  full.attrs.push_back({ir::Name("place"), c.VerbatimAttr("Place(cpu)"), -1, {}});
  if (!is_list) full.attrs.push_back({ir::Name("shape"), c.IntsAttr(Ints{1}), -1, {}});
  const ir::FieldDef* value = full.def->FindField(ir::Name("value"));
  // pd.full keeps integers as floats too: those that a float cannot hold are refused.
  const AttrKind exact = is_list || is_real ? value->kind : AttrKind::kInt;
  auto accepts = [](ir::Attribute a) {
    return !a.Is(AttrKind::kInt) || std::abs(static_cast<double>(a.AsInt())) <= 1 << 24;
  };
  full.attrs.push_back({value->name,
                        {},
                        -1,
                        [compute = Computed(attr, exact, accepts),
                         kind = value->kind](const drr::MatchContext& match) {
                          return ConvertAttr(*match.context(), compute(match), kind);
                        }});
  operands[operand] = {ResultOperand::kResult, full.results[0]};
  graph_->NewResultOp(std::move(full));
}

void Recorder::LowerAttr(const OpNode& op, const std::string& name, const Attribute& attr) {
  if (!attr.compute() && AttrVariable(attr.name()) < 0) {
    std::vector<std::string_view> names;
    for (const drr::AttrVariable& a : graph_->attrs) names.push_back(a.name);
    graph_->Error(op.loc,
                  fmt::format("attribute '{}' of {} copies '{}', which no source op binds{}", name,
                              op.def->name(), attr.name(), ir::DidYouMean(attr.name(), names)));
    return;
  }
  if (const ir::FieldDef* field = op.def->FindField(ir::Name(name))) {
    graph_->result_ops[op.graph_id].attrs.push_back(
        {field->name, {}, -1, Computed(attr, field->kind, field->accepts)});
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
    graph_->result_ops[op.graph_id].operands.push_back(operand);
  }
  for (const auto& [name, attr] : op.attrs) LowerAttr(op, name, attr);
  for (size_t i = 0; i < op.def->fields.size(); ++i) {
    const std::string_view name = op.def->fields[i].name.str();
    const bool set = std::any_of(op.attrs.begin(), op.attrs.end(),
                                 [&](const auto& a) { return a.first == name; });
    if (!set) drr::internal::AddResultDefault(graph_.get(), op.graph_id, i);
  }
  const size_t given = graph_->result_ops[op.graph_id].operands.size();
  const auto& defs = op.def->info->operands;
  for (size_t i = given; i < defs.size(); ++i)
    if (defs[i].arity == ir::Arity::kOne && graph_->result_ops[op.graph_id].called)
      graph_->Error(op.loc,
                    fmt::format("operand '{}' of {} is not given", defs[i].name, op.def->name()));
}

// Names can be used before they are defined, so the pattern may contain a cycle.
void Recorder::CheckCycles() {
  enum State { kNew, kOpen, kDone };
  std::vector<int> defining_op(graph_->num_result_values, -1);
  for (size_t i = 0; i < graph_->result_ops.size(); ++i)
    for (int v : graph_->result_ops[i].results) defining_op[v] = static_cast<int>(i);
  std::vector<State> result_state(graph_->result_ops.size()), source_state(graph_->ops.size());
  std::function<void(int)> result = [&](int op) {
    if (result_state[op] == kOpen)
      graph_->Error(graph_->result_ops[op].loc, fmt::format("result op {} reads its own result",
                                                            graph_->result_ops[op].def->name()));
    if (result_state[op] != kNew) return;
    result_state[op] = kOpen;
    for (const ResultOperand& in : graph_->result_ops[op].operands)
      if (in.kind == ResultOperand::kResult) result(defining_op[in.id]);
    result_state[op] = kDone;
  };
  std::function<void(int)> source = [&](int op) {
    if (source_state[op] == kOpen)
      graph_->Error(graph_->ops[op].loc, fmt::format("source op {} reads its own result",
                                                     graph_->ops[op].alternatives[0].def->name()));
    if (source_state[op] != kNew) return;
    source_state[op] = kOpen;
    for (int in : graph_->ops[op].operands) {
      if (in == kAbsent) continue;
      const int producer = graph_->values[graph_->Resolve(in)].producer;
      if (producer >= 0) source(producer);
    }
    source_state[op] = kDone;
  };
  for (size_t i = 0; i < result_state.size(); ++i) result(static_cast<int>(i));
  for (size_t i = 0; i < source_state.size(); ++i) source(static_cast<int>(i));
}

std::unique_ptr<PatternGraph> Recorder::Finish() {
  for (OpNode& op : ops_)
    if (op.is_result) LowerOp(op);
  for (int id : definitions_) {
    const int source = SourceValueNamed(nodes_[id].name);
    if (source < 0) continue;
    const ResultOperand with = Resolve(id);
    graph_->replacements.push_back({source, with, nodes_[id].loc});
  }
  CheckCycles();
  return std::move(graph_);
}

}  // namespace weft::drr::string_spelling
