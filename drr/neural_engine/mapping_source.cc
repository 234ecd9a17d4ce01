// The source pattern of a mapping: its nodes, and every way in which they may read each other.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "drr/neural_engine/mapping_lowering.h"
#include "drr/rule/record_attributes.h"
#include "drr/rule/vocabulary.h"
#include "drr/text/attribute_literal.h"
#include "ir/base/suggest.h"

namespace weft::drr::text {

namespace {

constexpr size_t kMaxPlacements = 64;  // of one node
constexpr size_t kMaxWays = 4096;      // of all together

}  // namespace

void MappingLowering::Inputs() {
  for (const Mapping::OutNode& out : m_.out)
    for (const Mapping::Tensor& t : out.inputs)
      if (t.node >= 0) Ask(t.node, t.indices, t.at);
  for (const Mapping::Check& check : m_.checks)
    for (const Mapping::InputCheck& input : check.inputs) Ask(check.node, {input.input}, input.at);
  for (const Mapping::OutNode& out : m_.out)
    if (out.attrs)
      for (const Mapping::AttrValue& a : *out.attrs)
        if (a.input >= 0) Ask(a.node, {a.input}, a.at);
}

void MappingLowering::Ask(int node, const std::vector<int>& indices, Position at) {
  Node& n = NodeAt(node);
  if (indices.size() == 1) {
    if (!n.inputs.count(indices[0])) n.inputs[indices[0]] = NewValue(at);
  } else if (!FindEither(n, indices)) {
    n.either_inputs.emplace_back(indices, NewValue(at));
  }
}

const ValueId* MappingLowering::FindEither(const Node& n, const std::vector<int>& indices) {
  for (const auto& entry : n.either_inputs)
    if (entry.first == indices) return &entry.second;
  return nullptr;
}

std::vector<int> MappingLowering::TopologicalOrder() const {
  std::vector<int> order;
  std::vector<bool> done(m_.in.size(), false);
  std::function<void(int)> visit = [&](int node) {
    if (done[static_cast<size_t>(node)]) return;
    done[static_cast<size_t>(node)] = true;
    for (const Mapping::Edge& e : m_.edges)
      if (e.to == node) visit(e.from);
    order.push_back(node);
  };
  for (size_t i = 0; i < m_.in.size(); ++i) visit(static_cast<int>(i));
  return order;
}

bool MappingLowering::Placements(int node, const std::vector<int>& producers,
                                 std::vector<std::vector<int>>* placements) {
  Node& n = NodeAt(node);
  std::vector<int> chosen;
  std::function<void()> place = [&] {
    if (placements->size() > kMaxPlacements) return;
    if (chosen.size() == producers.size()) {
      placements->push_back(chosen);
      return;
    }
    const auto fixed = m_.operand_of.find({node, producers[chosen.size()]});
    for (int at = 0; at < static_cast<int>(n.num_operands); ++at) {
      if (n.inputs.count(at) || std::find(chosen.begin(), chosen.end(), at) != chosen.end())
        continue;
      if (fixed != m_.operand_of.end() && fixed->second != at) continue;
      chosen.push_back(at);
      place();
      chosen.pop_back();
      // The matcher swaps the first two operands by itself.
      if (n.commutative && at < 2 && !placements->empty()) return;
    }
  };
  place();
  if (placements->empty())
    return Error(In(node).at,
                 fmt::format("node {} reads {} nodes of the pattern, but has no operand left "
                             "for {}",
                             node, producers.size(), producers.size() == 1 ? "it" : "them"));
  if (placements->size() > kMaxPlacements)
    return Error(In(node).at, fmt::format("node {} can read its nodes in more than {} ways; say "
                                          "which in 'operands'",
                                          node, kMaxPlacements));
  return true;
}

bool MappingLowering::Operands(int node, const ir::OpDef& def, const std::vector<int>& producers,
                               const std::vector<int>& placement, std::vector<ValueId>* rest,
                               std::vector<ValueId>* operands) {
  Node& n = NodeAt(node);
  operands->assign(n.num_operands, ValueId());
  for (size_t i = 0; i < producers.size(); ++i)
    (*operands)[static_cast<size_t>(placement[i])] = NodeAt(producers[i]).results[0];
  for (const auto& [at, value] : n.inputs) (*operands)[static_cast<size_t>(at)] = value;
  for (const auto& [indices, value] : n.either_inputs) {
    const bool first_taken = bool{(*operands)[static_cast<size_t>(indices[0])]};
    ValueId& operand = (*operands)[static_cast<size_t>(indices[first_taken ? 1 : 0])];
    if (operand)
      return Error(In(node).at, fmt::format("inputs {} and {} of node {} are both taken",
                                            indices[0], indices[1], node));
    operand = value;
  }
  size_t next = 0;
  for (size_t i = 0; i < n.num_operands; ++i) {
    if ((*operands)[i]) continue;
    const bool optional = def.info->operands[i].arity == ir::Arity::kOptional;
    if (optional && !has_body_) continue;  // what the rule would drop must not be there
    if (next == rest->size()) rest->push_back(NewValue(In(node).at));
    graph_->values[(*rest)[next]].optional |= optional;
    (*operands)[i] = (*rest)[next++];
  }
  while (!operands->empty() && !operands->back()) operands->pop_back();
  return true;
}

bool MappingLowering::Shape(int node, const ir::OpDef& def) {
  Node& n = NodeAt(node);
  n.commutative = def.Has(ir::kCommutative);
  n.num_operands = def.info->operands.size();
  const auto in_range = [&](int at) {
    return static_cast<size_t>(at) < n.num_operands ||
           Error(In(node).at, fmt::format("{} has no input {}", def.name(), at));
  };
  for (const auto& entry : n.inputs)
    if (!in_range(entry.first)) return false;
  for (const auto& entry : n.either_inputs)
    if (!in_range(entry.first[0]) || !in_range(entry.first[1])) return false;
  return true;
}

bool MappingLowering::AttrPatterns(int node, const ir::OpDef& def,
                                   std::vector<AttrPattern>* attrs) {
  for (const Mapping::Check& check : m_.checks) {
    if (check.node != node) continue;
    for (const Mapping::AttrValue& a : check.attrs) {
      ir::Attribute value;
      const ir::FieldDef* field = FieldNamed(def, a);
      if (!field || !AttributeOf(*a.literal, *field, *graph_->context(), &mistakes_, &value))
        return false;
      drr::internal::AddLiterals(graph_.get(), *field, {value}, attrs);
    }
  }
  return true;
}

const ir::FieldDef* MappingLowering::FieldNamed(const ir::OpDef& def, const Mapping::AttrValue& a) {
  const ir::FieldDef* field = def.FindField(ir::Name(a.name));
  if (field) return field;
  std::vector<std::string_view> names;
  for (const ir::FieldDef& f : def.fields) names.push_back(f.name.str());
  Error(a.at, fmt::format("{} has no attribute '{}'{}", def.name(), a.name,
                          ir::DidYouMean(a.name, names)));
  return nullptr;
}

size_t MappingLowering::NumResults(int node) const {
  int most = 0;
  for (const Mapping::OutNode& out : m_.out)
    for (const Mapping::Tensor& t : out.outputs)
      if (t.node == node) most = std::max(most, t.indices[0]);
  return static_cast<size_t>(most) + 1;
}

bool MappingLowering::LowerNode(int node, const std::vector<const ir::OpDef*>& defs) {
  const ir::OpDef& def = *defs[0];
  if (!Shape(node, def)) return false;
  std::vector<int> producers;
  for (const Mapping::Edge& e : m_.edges)
    if (e.to == node) producers.push_back(e.from);
  std::vector<std::vector<int>> placements;
  if (!Placements(node, producers, &placements)) return false;
  ways_ *= placements.size();
  if (ways_ > kMaxWays) {
    ways_ = 0;  // said once
    return Error(m_.at, fmt::format("the chains can be read in more than {} ways; say in "
                                    "'operands' which inputs the edges lead to",
                                    kMaxWays));
  }
  const size_t num_results = NumResults(node);
  if (num_results > def.info->results.size())
    return Error(In(node).at, fmt::format("{} has no output {}", def.name(), num_results - 1));
  std::vector<ValueId> rest;
  std::vector<std::vector<ValueId>> results;  // by placement
  for (const std::vector<int>& placement : placements) {
    SourceOp op;
    op.loc = Loc(In(node).at);
    for (const ir::OpDef* alternative : defs) {
      op.alternatives.push_back({alternative, {}});
      if (!AttrPatterns(node, *alternative, &op.alternatives.back().attrs)) return false;
    }
    std::vector<ValueId> operands;
    if (!Operands(node, def, producers, placement, &rest, &operands)) return false;
    const OpId id = graph_->NewOp(std::move(op));
    graph_->Call(id, operands, num_results);
    results.push_back(graph_->ops[id].results);
  }
  Node& n = NodeAt(node);
  n.results = results[0];
  for (size_t r = 0; results.size() > 1 && r < num_results; ++r) {
    const ValueId either = NewValue(In(node).at);
    for (const std::vector<ValueId>& list : results)
      graph_->values[either].either.push_back(list[r]);
    n.results[r] = either;
  }
  if (!has_body_) WarnAboutRest(node, rest);
  return true;
}

void MappingLowering::WarnAboutRest(int node, const std::vector<ValueId>& rest) {
  if (rest.empty()) return;
  mistakes_.Warning(In(node).at, fmt::format("nothing checks or reads {} of node {}: the rule "
                                             "drops it",
                                             rest.size() == 1 ? "an input" : "some inputs", node));
}

bool MappingLowering::LowerNamedNodes(const std::vector<ir::Operation>& ops) {
  std::vector<int> order(ops.size());
  std::iota(order.begin(), order.end(), 0);
  for (const ir::Operation op : ops)
    if (!(op.block() == ops[0].block()))
      return Error(m_.at, "the named nodes lie in different blocks");
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return ops[static_cast<size_t>(a)].IsBefore(ops[static_cast<size_t>(b)]);
  });
  std::map<uint32_t, ValueId> values;  // of the program -> of the pattern
  for (int node : order) {
    const ir::Operation found = ops[static_cast<size_t>(node)];
    if (!found.def() || found.num_results() == 0)
      return Error(In(node).at, fmt::format("node '{}' is {}, which no rule can match",
                                            In(node).types[0], found.name()));
    SourceOp op;
    op.alternatives.push_back({found.def(), {}});
    op.loc = Loc(In(node).at);
    std::vector<ValueId> operands;
    for (uint32_t i = 0; i < found.num_operands(); ++i) {
      const ir::Value v = found.operand(i);
      if (!v) {
        operands.push_back(kAbsent);
        continue;
      }
      const auto [it, is_new] = values.emplace(v.id(), ValueId());
      if (is_new) it->second = NewValue(In(node).at);
      operands.push_back(it->second);
      NodeAt(node).inputs[static_cast<int>(i)] = it->second;
    }
    const OpId id = graph_->NewOp(std::move(op));
    graph_->Call(id, operands, found.num_results());
    NodeAt(node).results = graph_->ops[id].results;
    for (uint32_t r = 0; r < found.num_results(); ++r)
      values[found.result(r).id()] = NodeAt(node).results[r];
    graph_->constraints.push_back(MakeConstraint(
        {"named",
         {ValueArgument(NodeAt(node).results[0]),
          LiteralArgument(graph_->context()->StringAttr(In(node).types[0]))}},
        fmt::format("the node is called '{}'", In(node).types[0]), Loc(In(node).at)));
  }
  return true;
}

}  // namespace weft::drr::text
