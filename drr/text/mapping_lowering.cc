// From a mapping to rules. An edge of a chain says only that a node reads another: at which operand
// is left open, so where order matters every place is an alternative (Either). Types of another
// arity, or with other traits, make rules of their own.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <numeric>

#include "drr/arity.h"
#include "drr/drr.h"
#include "drr/internal/string_recorder.h"
#include "drr/text/internal/attribute_literal.h"
#include "drr/text/internal/mapping.h"
#include "drr/text/internal/outside.h"
#include "drr/text/reference_body.h"
#include "drr/text/vocabulary.h"
#include "ir/walk.h"

namespace weft::drr::text {
namespace {

constexpr size_t kMaxRules = 64;
constexpr size_t kMaxPlacements = 64;  // of one node
constexpr size_t kMaxWays = 4096;      // of all together

// Names of the Neural Engine that are not those of an op here.
const ir::OpDef* FindOpNamed(const ir::IrContext& context, std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
      {"AddV2", "onnx.Add"},
      {"BatchMatMul", "onnx.MatMul"},
      {"BatchMatMulV2", "onnx.MatMul"},
      {"BiasAdd", "onnx.Add"},
      {"Convolution", "onnx.Conv"},
      {"InnerProduct", "fused.linear"},
      {"Matmul", "onnx.MatMul"},
      {"MatMulWithBias", "fused.linear"},
      {"MultiHeadAttention", "fused.attention"},
      {"Mean", "onnx.ReduceMean"},
      {"RealDiv", "onnx.Div"},
  };
  if (name.find('.') != std::string_view::npos) return context.FindOp(name);
  for (const auto& [alias, meaning] : kAliases)
    if (alias == name) return context.FindOp(meaning);
  if (const ir::OpDef* def = context.FindOp("onnx." + std::string(name))) return def;
  std::string snake = KebabCase(name);
  std::replace(snake.begin(), snake.end(), '-', '_');
  return context.FindOp("fused." + snake);
}

size_t NumRequired(const ir::FixedList<ir::OperandDef, 12>& operands) {
  return static_cast<size_t>(std::count_if(
      operands.begin(), operands.end(), [](const auto& o) { return o.arity == ir::Arity::kOne; }));
}
size_t NumRequiredResults(const ir::OpDef& def) {
  return static_cast<size_t>(
      std::count_if(def.info->results.begin(), def.info->results.end(),
                    [](const auto& r) { return r.arity == ir::Arity::kOne; }));
}

// One rule of a mapping: which types each node may have.
class Lowering {
 public:
  using Types = std::vector<std::vector<const ir::OpDef*>>;  // by in-node

  Lowering(const Mapping& mapping, std::string name, ir::IrContext* context, ir::Program* program,
           Diagnostics* mistakes)
      : m_(mapping),
        program_(program),
        mistakes_(*mistakes),
        file_(ir::Name(mistakes->file()).str().data()),
        graph_(std::make_unique<PatternGraph>(name, context)),
        nodes_(mapping.in.size()) {
    graph_->loc = Loc(mapping.at);
  }

  void RunOnTypes(const Types& types, std::vector<std::unique_ptr<Rule>>* rules) {
    if (!FindOut() || !Inputs()) return;
    for (int node : TopologicalOrder())
      if (!LowerNode(node, types[static_cast<size_t>(node)])) return;
    Finish(rules);
  }

  void RunOnNodes(const std::vector<ir::Operation>& ops,
                  std::vector<std::unique_ptr<Rule>>* rules) {
    if (!FindOut() || !LowerNamedNodes(ops)) return;
    Finish(rules);
  }

 private:
  struct Node {
    std::vector<int> results;                                     // source values
    std::map<int, int> inputs;                                    // fixed operand -> value
    std::vector<std::pair<std::vector<int>, int>> either_inputs;  // {j0, j1} -> value
    bool commutative = false;
    size_t num_operands = 0;
  };

  bool Error(Position at, const std::string& what) { return mistakes_.Error(at, what); }
  SourceLoc Loc(Position at) const { return {file_, at.line}; }
  int NewValue(Position at) { return graph_->NewValue("", Loc(at)); }
  const Mapping::InNode& In(int node) const { return m_.in[static_cast<size_t>(node)]; }
  Node& NodeAt(int node) { return nodes_[static_cast<size_t>(node)]; }

  bool FindOut() {
    for (const Mapping::OutNode& out : m_.out) {
      const ir::OpDef* def = FindOpNamed(*graph_->context(), out.type);
      if (!def) return Error(out.at, UnknownOp(out.type));
      out_defs_.push_back(def);
      has_body_ |= def->decompose != nullptr;
    }
    return true;
  }

 public:
  std::string UnknownOp(const std::string& type) const {
    std::vector<std::string_view> names;
    for (const ir::OpDef* def : graph_->context()->Ops()) {
      names.push_back(def->name());
      names.push_back(def->name().substr(def->name().find('.') + 1));
    }
    return fmt::format("no op is called '{}'{}", type, string_spelling::Suggest(type, names));
  }

 private:
  // Which operands of in-nodes somebody asks for: they come from outside.
  bool Inputs() {
    for (const Mapping::OutNode& out : m_.out)
      for (const Mapping::Tensor& t : out.inputs)
        if (t.node >= 0) Ask(t.node, t.indices, t.at);
    for (const Mapping::Check& check : m_.checks)
      for (const Mapping::InputCheck& input : check.inputs)
        Ask(check.node, {input.input}, input.at);
    for (const Mapping::OutNode& out : m_.out)
      if (out.attrs)
        for (const Mapping::AttrValue& a : *out.attrs)
          if (a.input >= 0) Ask(a.node, {a.input}, a.at);
    return true;
  }
  void Ask(int node, const std::vector<int>& indices, Position at) {
    Node& n = NodeAt(node);
    if (indices.size() == 1) {
      if (!n.inputs.count(indices[0])) n.inputs[indices[0]] = NewValue(at);
    } else if (!FindEither(n, indices)) {
      n.either_inputs.emplace_back(indices, NewValue(at));
    }
  }
  static const int* FindEither(const Node& n, const std::vector<int>& indices) {
    for (const auto& entry : n.either_inputs)
      if (entry.first == indices) return &entry.second;
    return nullptr;
  }

  std::vector<int> TopologicalOrder() const {
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

  // --- source ---------------------------------------------------------------------

  // Every way to put the producers at operands: [producer] -> operand.
  bool Placements(int node, const std::vector<int>& producers,
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

  // The value at each operand of `node`, for one placement of its producers.
  bool Operands(int node, const ir::OpDef& def, const std::vector<int>& producers,
                const std::vector<int>& placement, std::vector<int>* rest,
                std::vector<int>* operands) {
    Node& n = NodeAt(node);
    operands->assign(n.num_operands, -2);
    for (size_t i = 0; i < producers.size(); ++i)
      (*operands)[static_cast<size_t>(placement[i])] = NodeAt(producers[i]).results[0];
    for (const auto& [at, value] : n.inputs) (*operands)[static_cast<size_t>(at)] = value;
    for (const auto& [indices, value] : n.either_inputs) {
      const bool first_taken = (*operands)[static_cast<size_t>(indices[0])] != -2;
      int& operand = (*operands)[static_cast<size_t>(indices[first_taken ? 1 : 0])];
      if (operand != -2)
        return Error(In(node).at, fmt::format("inputs {} and {} of node {} are both taken",
                                              indices[0], indices[1], node));
      operand = value;
    }
    size_t next = 0;
    for (size_t i = 0; i < n.num_operands; ++i) {
      if ((*operands)[i] != -2) continue;
      const bool optional = def.info->operands[i].arity == ir::Arity::kOptional;
      if (optional && !has_body_) {  // what the rule would drop must not be there
        (*operands)[i] = kAbsent;
        continue;
      }
      if (next == rest->size()) rest->push_back(NewValue(In(node).at));
      graph_->values[static_cast<size_t>((*rest)[next])].optional |= optional;
      (*operands)[i] = (*rest)[next++];
    }
    while (!operands->empty() && operands->back() == kAbsent) operands->pop_back();
    return true;
  }

  bool Shape(int node, const ir::OpDef& def) {
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

  bool AttrPatterns(int node, const ir::OpDef& def, std::vector<AttrPattern>* attrs) {
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

  const ir::FieldDef* FieldNamed(const ir::OpDef& def, const Mapping::AttrValue& a) {
    const ir::FieldDef* field = def.FindField(ir::Name(a.name));
    if (field) return field;
    std::vector<std::string_view> names;
    for (const ir::FieldDef& f : def.fields) names.push_back(f.name.str());
    Error(a.at, fmt::format("{} has no attribute '{}'{}", def.name(), a.name,
                            string_spelling::Suggest(a.name, names)));
    return nullptr;
  }

  size_t NumResults(int node) const {
    int most = 0;
    for (const Mapping::OutNode& out : m_.out)
      for (const Mapping::Tensor& t : out.outputs)
        if (t.node == node) most = std::max(most, t.indices[0]);
    return static_cast<size_t>(most) + 1;
  }

  bool LowerNode(int node, const std::vector<const ir::OpDef*>& defs) {
    const ir::OpDef& def = *defs[0];
    if (!Shape(node, def)) return false;
    std::vector<int> producers;
    for (const Mapping::Edge& e : m_.edges)
      if (e.to == node) producers.push_back(e.from);
    std::vector<std::vector<int>> placements;
    if (!Placements(node, producers, &placements)) return false;
    ways_ *= placements.size();
    if (ways_ > kMaxWays)
      return Error(m_.at, fmt::format("the chains can be read in more than {} ways; say in "
                                      "'operands' which inputs the edges lead to",
                                      kMaxWays));
    const size_t num_results = NumResults(node);
    if (num_results > def.info->results.size())
      return Error(In(node).at, fmt::format("{} has no output {}", def.name(), num_results - 1));
    std::vector<int> rest;
    std::vector<std::vector<int>> results;  // by placement
    for (const std::vector<int>& placement : placements) {
      SourceOp op;
      op.loc = Loc(In(node).at);
      for (const ir::OpDef* alternative : defs) {
        op.alternatives.push_back({alternative, {}});
        if (!AttrPatterns(node, *alternative, &op.alternatives.back().attrs)) return false;
      }
      std::vector<int> operands;
      if (!Operands(node, def, producers, placement, &rest, &operands)) return false;
      const int id = graph_->NewOp(std::move(op));
      graph_->Call(id, operands, num_results);
      results.push_back(graph_->ops[static_cast<size_t>(id)].results);
    }
    Node& n = NodeAt(node);
    n.results = results[0];
    for (size_t r = 0; results.size() > 1 && r < num_results; ++r) {
      const int either = NewValue(In(node).at);
      for (const std::vector<int>& list : results)
        graph_->values[static_cast<size_t>(either)].either.push_back(list[r]);
      n.results[r] = either;
    }
    if (!has_body_) WarnAboutRest(node, rest);
    return true;
  }

  void WarnAboutRest(int node, const std::vector<int>& rest) {
    if (rest.empty()) return;
    mistakes_.Warning(In(node).at,
                      fmt::format("nothing checks or reads {} of node {}: the rule "
                                  "drops it",
                                  rest.size() == 1 ? "an input" : "some inputs", node));
  }

  // search_mode node_name: the pattern is what the program has there.
  bool LowerNamedNodes(const std::vector<ir::Operation>& ops) {
    std::vector<int> order(ops.size());
    std::iota(order.begin(), order.end(), 0);
    for (const ir::Operation op : ops)
      if (!(op.block() == ops[0].block()))
        return Error(m_.at, "the named nodes lie in different blocks");
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      return ops[static_cast<size_t>(a)].IsBefore(ops[static_cast<size_t>(b)]);
    });
    std::map<uint32_t, int> values;  // of the program -> of the pattern
    for (int node : order) {
      const ir::Operation found = ops[static_cast<size_t>(node)];
      if (!found.def() || found.num_results() == 0)
        return Error(In(node).at, fmt::format("node '{}' is {}, which no rule can match",
                                              In(node).types[0], found.name()));
      SourceOp op;
      op.alternatives.push_back({found.def(), {}});
      op.loc = Loc(In(node).at);
      std::vector<int> operands;
      for (uint32_t i = 0; i < found.num_operands(); ++i) {
        const ir::Value v = found.operand(i);
        if (!v) {
          operands.push_back(kAbsent);
          continue;
        }
        const auto [it, is_new] = values.emplace(v.id(), 0);
        if (is_new) it->second = NewValue(In(node).at);
        operands.push_back(it->second);
        NodeAt(node).inputs[static_cast<int>(i)] = it->second;
      }
      const int id = graph_->NewOp(std::move(op));
      graph_->Call(id, operands, found.num_results());
      NodeAt(node).results = graph_->ops[static_cast<size_t>(id)].results;
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

  // --- result ---------------------------------------------------------------------

  // The pattern value that a tensor of input_tensors stands for; < 0 after an error.
  int InputValue(const Mapping::Tensor& t) {
    const Node& n = nodes_[static_cast<size_t>(t.node)];
    if (m_.by_name || t.indices.size() == 1) {
      const auto it = n.inputs.find(t.indices[0]);
      if (it != n.inputs.end()) return it->second;
    } else if (const int* value = FindEither(n, t.indices)) {
      return *value;
    }
    Error(t.at, fmt::format("node {} has no input {}", t.node, t.indices[0]));
    return -1;
  }

  // A result of the node of that name, wherever it is in the program.
  bool Outside(const Mapping::Tensor& t, ResultOperand* operand) {
    if (!program_)
      return Error(t.at,
                   fmt::format("'{}' names a node of a program, and there is none", t.outside));
    const ir::Value value = FindOutside(*program_, t.outside, t.indices[0]);
    if (!value)
      return Error(t.at, fmt::format("the program has no node '{}' with an output {}", t.outside,
                                     t.indices[0]));
    *operand = {ResultOperand::kOutside, static_cast<int>(graph_->outside.size())};
    graph_->outside.push_back({t.outside, t.indices[0], value, Loc(t.at)});
    return true;
  }

  bool ResultOperands(size_t i, ResultOp* op) {
    const Mapping::OutNode& out = m_.out[i];
    const ir::OpDef& def = *out_defs_[i];
    const size_t given = out.inputs.size() + (out.linked ? 1 : 0);
    const size_t count = static_cast<size_t>(out.num_inputs);
    if (count != given)
      return Error(out.inputs_at,
                   fmt::format("node {} of 'out' has {} inputs, but {} are given{}", i, count,
                               given, out.linked ? " with the node before it" : ""));
    const size_t most = IsVariadic(def.info->operands) ? count : def.info->operands.size();
    if (count < NumRequired(def.info->operands) || count > most)
      return Error(out.inputs_at, fmt::format("{} takes {} to {} inputs, not {}", def.name(),
                                              NumRequired(def.info->operands), most, count));
    std::vector<bool> filled(count, false);
    op->operands.resize(count);
    for (size_t k = 0; k < out.inputs.size(); ++k) {
      const size_t at = static_cast<size_t>(out.input_positions[k]);
      filled[at] = true;
      if (!out.inputs[k].outside.empty()) {
        if (!Outside(out.inputs[k], &op->operands[at])) return false;
        continue;
      }
      op->operands[at] = {ResultOperand::kSource, InputValue(out.inputs[k])};
      if (op->operands[at].id < 0) return false;
    }
    for (size_t at = 0; at < count; ++at)
      if (!filled[at])
        op->operands[at] = {ResultOperand::kResult, graph_->result_ops[i - 1].results[0]};
    return true;
  }

  bool ResultAttrs(size_t i, ResultOp* op) {
    const Mapping::OutNode& out = m_.out[i];
    const ir::OpDef& def = *out_defs_[i];
    const bool open = def.decompose != nullptr;  // read off the match
    if (!open && !out.attrs && !def.fields.empty())
      return Error(out.at, fmt::format("{} has no reference body to read its attributes off: give "
                                       "'attrs' for node {} of 'out' ({{}} for the defaults)",
                                       def.name(), i));
    if (out.attrs)
      for (const Mapping::AttrValue& a : *out.attrs) {
        const ir::FieldDef* field = FieldNamed(def, a);
        if (!field || !ResultAttrOf(a, *field, i, op)) return false;
      }
    for (const ir::FieldDef& field : def.fields) {
      const bool set = std::any_of(op->attrs.begin(), op->attrs.end(),
                                   [&](const ResultAttr& a) { return a.name == field.name; });
      if (set) continue;
      if (open && !field.optional) {
        op->attrs.push_back(MakeComputedAttr(field.name, field.kind, {std::string(kFromBody), {}},
                                             static_cast<int>(i)));
      } else if (field.make_default) {
        op->attrs.push_back({field.name, field.make_default(*graph_->context()), -1, {}, {}});
      } else if (!field.optional) {
        return Error(out.at, fmt::format("attribute '{}' of {} has no default and is not given",
                                         field.name.str(), def.name()));
      }
    }
    return true;
  }

  bool ResultAttrOf(const Mapping::AttrValue& a, const ir::FieldDef& field, size_t i,
                    ResultOp* op) {
    if (a.literal) {
      ir::Attribute value;
      if (!AttributeOf(*a.literal, field, *graph_->context(), &mistakes_, &value)) return false;
      op->attrs.push_back({field.name, value, -1, {}, {}});
      return true;
    }
    Formula formula;
    if (a.input >= 0) {
      const int value = InputValue({a.at, a.node, "", {a.input}});
      if (value < 0) return false;
      formula = {field.kind == ir::AttrKind::kInts ? "ints" : "splat", {ValueArgument(value)}};
    } else {
      formula = {"attribute",
                 {ValueArgument(NodeAt(a.node).results[0]),
                  LiteralArgument(graph_->context()->StringAttr(a.attribute))}};
    }
    op->attrs.push_back(
        MakeComputedAttr(field.name, field.kind, std::move(formula), static_cast<int>(i)));
    return true;
  }

  bool LowerOut(size_t i) {
    const Mapping::OutNode& out = m_.out[i];
    const ir::OpDef& def = *out_defs_[i];
    ResultOp op;
    op.def = &def;
    op.loc = Loc(out.at);
    op.called = true;
    op.location = out.name;
    if (out.name_of >= 0) op.location_of = NodeAt(out.name_of).results[0];
    const size_t count = std::max<size_t>(1, static_cast<size_t>(out.num_outputs));
    if (count > def.info->results.size())
      return Error(out.outputs_at, fmt::format("{} has {} outputs, not {}", def.name(),
                                               def.info->results.size(), count));
    for (size_t k = 0; k < std::max(count, NumRequiredResults(def)); ++k)
      op.results.push_back(graph_->num_result_values++);
    if (!ResultOperands(i, &op) || !ResultAttrs(i, &op)) return false;
    for (size_t k = 0; k < out.outputs.size(); ++k) {
      const Mapping::Tensor& t = out.outputs[k];
      const std::vector<int>& results = NodeAt(t.node).results;
      const size_t from = static_cast<size_t>(t.indices[0]);
      if (from >= results.size())
        return Error(t.at, fmt::format("node {} has no output {}", t.node, from));
      const int with = op.results[static_cast<size_t>(out.output_positions[k])];
      graph_->replacements.push_back({results[from], {ResultOperand::kResult, with}, Loc(t.at)});
    }
    graph_->NewResultOp(std::move(op));
    return true;
  }

  void InputChecks() {
    for (const Mapping::Check& check : m_.checks)
      for (const Mapping::InputCheck& input : check.inputs) {
        const int value = InputValue({input.at, check.node, "", {input.input}});
        if (value < 0) continue;
        const std::string what = fmt::format("input {} of node {}", input.input, check.node);
        Formula formula{input.word, {ValueArgument(value)}};
        std::string reason = fmt::format("{} is a {} constant", what, input.word);
        if (input.word == "constant") reason = fmt::format("{} is a constant", what);
        if (input.word.empty()) {
          formula.name = "splat_is";
          formula.arguments.push_back(LiteralArgument(graph_->context()->DoubleAttr(input.number)));
          reason = fmt::format("{} is {}", what, input.number);
        }
        graph_->constraints.push_back(
            MakeConstraint(std::move(formula), std::move(reason), Loc(input.at)));
      }
  }

  std::string Algebra() const {
    std::string text;
    for (const Mapping::InNode& node : m_.in)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", fmt::join(node.types, "|"));
    text += " =>";
    for (const Mapping::OutNode& node : m_.out)
      text += fmt::format("{}{}", text.ends_with('>') ? " " : ", ", node.type);
    return text;
  }

  void Finish(std::vector<std::unique_ptr<Rule>>* rules) {
    const size_t before = mistakes_.num_errors();
    for (size_t i = 0; i < m_.out.size(); ++i)
      if (!LowerOut(i)) return;
    const int tail = NodeAt(m_.tail).results[0];
    const bool replaced = std::any_of(graph_->replacements.begin(), graph_->replacements.end(),
                                      [&](const Replacement& r) { return r.source == tail; });
    if (!replaced) {
      Error(m_.out.back().outputs_at,
            fmt::format("no node of 'out' gives what node {}, the last of 'in', gave; see "
                        "'output_tensors'",
                        m_.tail));
      return;
    }
    InputChecks();
    if (has_body_)
      graph_->constraints.push_back(MakeConstraint({std::string(kComputesResult), {}},
                                                   "the match computes what the result computes",
                                                   Loc(m_.at)));
    if (!m_.single_use)
      for (SourceValue& v : graph_->values) v.escape = Escape::kKeep;
    if (mistakes_.num_errors() != before) return;
    BuildResult built = drr::internal::FinishRule(
        std::move(graph_), Algebra(), m_.numerics.value_or(NumericClass::kReassociates),
        m_.benefit > 0 ? m_.benefit : static_cast<int>(m_.in.size()));
    for (std::string& error : built.errors) mistakes_.Add(std::move(error));
    if (built.rule) rules->push_back(std::move(built.rule));
  }

  const Mapping& m_;
  ir::Program* program_;
  Diagnostics& mistakes_;
  const char* file_;  // interned: names outlive every rule
  std::unique_ptr<PatternGraph> graph_;
  std::vector<Node> nodes_;
  std::vector<const ir::OpDef*> out_defs_;
  bool has_body_ = false;
  size_t ways_ = 1;
};

// The types of a node, grouped by how many operands they take and whether these may be swapped.
bool GroupTypes(const Mapping::InNode& node, const ir::IrContext& context, const Lowering& messages,
                Diagnostics* mistakes, std::vector<std::vector<const ir::OpDef*>>* groups) {
  for (const std::string& type : node.types) {
    const ir::OpDef* def = FindOpNamed(context, type);
    if (!def) return mistakes->Error(node.at, messages.UnknownOp(type));
    if (IsVariadic(def->info->operands))
      return mistakes->Error(node.at, fmt::format("{} takes any number of operands, which chains "
                                                  "cannot say",
                                                  def->name()));
    if (def->info->results.size() == 0)
      return mistakes->Error(node.at, fmt::format("{} has no output", def->name()));
    const auto same = [&](const ir::OpDef* other) {
      if (other->info->operands.size() != def->info->operands.size()) return false;
      for (size_t i = 0; i < def->info->operands.size(); ++i)
        if (other->info->operands[i].arity != def->info->operands[i].arity) return false;
      return other->Has(ir::kCommutative) == def->Has(ir::kCommutative);
    };
    const auto group =
        std::find_if(groups->begin(), groups->end(), [&](const auto& g) { return same(g[0]); });
    if (group == groups->end()) {
      groups->push_back({def});
    } else if (std::find(group->begin(), group->end(), def) == group->end()) {
      group->push_back(def);
    }
  }
  return true;
}

// The ops of these names. Empty when one is not there: the rule then has no match.
bool FindNamedNodes(const Mapping& mapping, ir::Program& program, Diagnostics* mistakes,
                    std::vector<ir::Operation>* ops) {
  ops->resize(mapping.in.size());
  bool ok = true;
  ir::Walk(program, [&](ir::Operation op) {
    for (size_t i = 0; i < mapping.in.size(); ++i) {
      if (op.location().str() != mapping.in[i].types[0] || op.HasTrait(ir::kConstantLike)) continue;
      if ((*ops)[i])
        ok = mistakes->Error(mapping.in[i].at, fmt::format("several nodes of the program are "
                                                           "called '{}'",
                                                           mapping.in[i].types[0]));
      (*ops)[i] = op;
    }
  });
  for (size_t i = 0; ok && i < ops->size(); ++i)
    if (!(*ops)[i]) {
      mistakes->Warning(mapping.in[i].at,
                        fmt::format("the program has no node '{}'", mapping.in[i].types[0]));
      ops->clear();
    }
  return ok;
}

}  // namespace

void LowerMapping(const Mapping& mapping, ir::IrContext* context, ir::Program* program,
                  Diagnostics* mistakes, std::vector<std::unique_ptr<Rule>>* rules) {
  if (mapping.by_name) {
    if (!program) {
      mistakes->Error(mapping.at, "search_mode 'node_name' needs a program, and there is none");
      return;
    }
    std::vector<ir::Operation> ops;
    if (FindNamedNodes(mapping, *program, mistakes, &ops) && !ops.empty())
      Lowering(mapping, mapping.name, context, program, mistakes).RunOnNodes(ops, rules);
    return;
  }
  const Lowering messages(mapping, mapping.name, context, program, mistakes);
  std::vector<std::vector<std::vector<const ir::OpDef*>>> groups(mapping.in.size());
  size_t count = 1;
  bool ok = true;
  for (size_t i = 0; i < mapping.in.size(); ++i) {
    ok &= GroupTypes(mapping.in[i], *context, messages, mistakes, &groups[i]);
    count = std::min(kMaxRules + 1, count * std::max<size_t>(1, groups[i].size()));
  }
  if (ok && count > kMaxRules)
    ok = mistakes->Error(
        mapping.at, fmt::format("types of different arity make more than {} rules", kMaxRules));
  for (size_t which = 0; ok && which < count; ++which) {
    Lowering::Types types;
    size_t rest = which;
    for (const auto& node : groups) {
      types.push_back(node[rest % node.size()]);
      rest /= node.size();
    }
    const std::string name =
        which == 0 ? mapping.name : fmt::format("{}.{}", mapping.name, which + 1);
    const size_t errors = mistakes->num_errors();
    Lowering(mapping, name, context, program, mistakes).RunOnTypes(types, rules);
    ok = mistakes->num_errors() == errors;
  }
}

}  // namespace weft::drr::text
