// Recording into a graph, and questions about one. Check() is in drr/rule/check.cc.
#include "drr/rule/pattern_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/arity.h"

namespace weft::drr {

PatternGraph::PatternGraph(std::string_view rule, ir::IrContext* context)
    : rule_(rule), context_(context) {}
PatternGraph::PatternGraph(const PatternGraph& other) = default;
PatternGraph::PatternGraph(PatternGraph&& other) noexcept = default;
PatternGraph::~PatternGraph() = default;

void PatternGraph::Error(SourceLoc loc, const std::string& what) {
  errors_.push_back(fmt::format("{}:{}: error: [{}] {}", loc.file, loc.line, rule_, what));
}

void PatternGraph::Warning(SourceLoc loc, const std::string& what) {
  warnings_.push_back(fmt::format("{}:{}: warning: [{}] {}", loc.file, loc.line, rule_, what));
}

ValueId PatternGraph::NewValue(std::string_view name, SourceLoc loc, bool list) {
  for (ValueId id : values.ids()) {
    if (name.empty() || values[id].name != name) continue;
    if (values[id].list != list)
      Error(loc, fmt::format("'{}' is a tensor and a list of tensors", name));
    return id;
  }
  SourceValue value;
  value.list = list;
  value.name = name;
  value.loc = loc;
  return values.Add(std::move(value));
}

AttrId PatternGraph::NewAttr(std::string_view name, SourceLoc loc) {
  for (AttrId id : attrs.ids())
    if (!name.empty() && attrs[id].name == name) return id;
  return attrs.Add({std::string(name), loc, false});
}

OpId PatternGraph::NewOp(SourceOp op) { return ops.Add(std::move(op)); }

OpId PatternGraph::NewOp(SourceLoc loc) {
  SourceOp op;
  op.loc = loc;
  return NewOp(std::move(op));
}

void PatternGraph::AddAlternative(OpId op, const ir::OpDef& def) {
  ops[op].alternatives.push_back({&def, {}});
}

ResultOpId PatternGraph::NewResultOp(const ir::OpDef& def, OpId attrs_of, SourceLoc loc) {
  ResultOp op;
  op.def = &def;
  op.attrs_of = attrs_of;
  op.loc = loc;
  return NewResultOp(std::move(op));
}

ResultOpId PatternGraph::NewResultOp(ResultOp op) { return result_ops.Add(std::move(op)); }

ValueId PatternGraph::Call(OpId op, std::span<const ValueId> operands, size_t num_results) {
  if (ops[op].called) {
    Error(ops[op].loc,
          fmt::format("{} is applied twice; declare one op per occurrence", ops[op].Name()));
    ops[op].results.clear();
  }
  ops[op].called = true;
  ops[op].operands.assign(operands.begin(), operands.end());
  for (size_t i = 0; i < num_results; ++i) {
    const ValueId value = NewValue("", ops[op].loc);
    values[value].producer = op;
    values[value].result_index = static_cast<int>(i);
    ops[op].results.push_back(value);
  }
  return ValueId(values.size() - num_results);
}

ResultValueId PatternGraph::CallResult(ResultOpId op, std::span<const ResultOperand> operands,
                                       size_t num_results) {
  if (result_ops[op].called)
    Error(result_ops[op].loc, fmt::format("{} is applied twice; declare one op per occurrence",
                                          NameOf(result_ops[op])));
  result_ops[op].called = true;
  result_ops[op].operands.assign(operands.begin(), operands.end());
  result_ops[op].results.clear();
  for (size_t i = 0; i < num_results; ++i) result_ops[op].results.push_back(NewResultValue());
  return ResultValueId(num_result_values - num_results);
}

std::vector<OpId> PatternGraph::RootProducers() const {
  std::vector<OpId> producers;
  std::vector<ValueId> work{root_value_};
  while (!work.empty()) {
    const SourceValue& v = values[Resolve(work.back())];
    work.pop_back();
    if (v.producer) producers.push_back(v.producer);
    work.insert(work.end(), v.either.rbegin(), v.either.rend());
  }
  return producers;
}

bool PatternGraph::IsPlain() const {
  if (roots_.size() != 1 || has_lists_ || has_regions_) return false;
  const auto counts_results = [](const Alternative& a) { return IsVariadic(a.def->info->results); };
  return std::all_of(ops.begin(), ops.end(),
                     [&](const SourceOp& op) {
                       return !op.alternatives.empty() &&
                              std::none_of(op.alternatives.begin(), op.alternatives.end(),
                                           counts_results);
                     }) &&
         std::all_of(values.begin(), values.end(), [](const SourceValue& v) {
           return v.either.empty() && v.nots.empty() && !v.through &&
                  v.escape != Escape::kRecompute;
         });
}

ValueId PatternGraph::CallEach(OpId op, ValueId list) {
  Call(op, {&list, 1}, 1);
  ops[op].times = Times::kEach;
  const ValueId result = ops[op].results[0];
  values[result].list = true;
  return result;
}

ResultValueId PatternGraph::CallEachResult(ResultOpId op, std::span<const ResultOperand> operands) {
  CallResult(op, operands, 1);
  result_ops[op].each = true;
  return result_ops[op].results[0];
}

ValueId PatternGraph::Resolve(ValueId value) const {
  while (values[value].alias) value = values[value].alias;
  return value;
}

std::string PatternGraph::Describe(ValueId value) const {
  const SourceValue& v = values[Resolve(value)];
  if (!v.label.empty()) return v.label;
  const std::string& name = v.name.empty() ? values[value].name : v.name;
  return name.empty() ? fmt::format("the value of line {}", v.loc.line) : fmt::format("'{}'", name);
}

}  // namespace weft::drr
