// The result of a mapping: its new nodes, and the constraints under which they are put in.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "drr/equivalence/body_equivalence.h"
#include "drr/neural_engine/mapping_lowering.h"
#include "drr/rule/arity.h"
#include "drr/rule/rule.h"
#include "drr/rule/vocabulary.h"
#include "drr/text/attribute_literal.h"
#include "drr/text/captured_values.h"
#include "ir/base/suggest.h"

namespace weft::drr::text {

namespace {

size_t NumRequired(const ir::FixedList<ir::OperandDef, 12>& operands) {
  return static_cast<size_t>(std::count_if(
      operands.begin(), operands.end(), [](const auto& o) { return o.arity == ir::Arity::kOne; }));
}
size_t NumRequiredResults(const ir::OpDef& def) {
  return static_cast<size_t>(
      std::count_if(def.info->results.begin(), def.info->results.end(),
                    [](const auto& r) { return r.arity == ir::Arity::kOne; }));
}

}  // namespace

ValueId MappingLowering::InputValue(const Mapping::Tensor& t) {
  const Node& n = nodes_[static_cast<size_t>(t.node)];
  if (m_.by_name || t.indices.size() == 1) {
    const auto it = n.inputs.find(t.indices[0]);
    if (it != n.inputs.end()) return it->second;
  } else if (const ValueId* value = FindEither(n, t.indices)) {
    return *value;
  }
  Error(t.at, fmt::format("node {} has no input {}", t.node, t.indices[0]));
  return {};
}

bool MappingLowering::Outside(const Mapping::Tensor& t, ResultOperand* operand) {
  if (!program_)
    return Error(t.at, fmt::format("'{}' names a node of a program, and there is none", t.outside));
  const ir::Value value = FindOutside(*program_, t.outside, t.indices[0]);
  if (!value)
    return Error(t.at, fmt::format("the program has no node '{}' with an output {}", t.outside,
                                   t.indices[0]));
  *operand =
      ResultOperand::Outside(graph_->outside.Add({t.outside, t.indices[0], value, Loc(t.at)}));
  return true;
}

bool MappingLowering::ResultOperands(size_t i, ResultOp* op) {
  const Mapping::OutNode& out = m_.out[i];
  const ir::OpDef& def = *out_defs_[i];
  const size_t given = out.inputs.size() + (out.linked ? 1 : 0);
  const size_t count = static_cast<size_t>(out.num_inputs);
  if (count != given)
    return Error(out.inputs_at,
                 fmt::format("node {} of 'out' has {} inputs, but {} are given{}", i, count, given,
                             out.linked ? " with the node before it" : ""));
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
    op->operands[at] = ResultOperand::Source(InputValue(out.inputs[k]));
    if (!op->operands[at].source) return false;
  }
  for (size_t at = 0; at < count; ++at)
    if (!filled[at])
      op->operands[at] = ResultOperand::Result(graph_->result_ops[ResultOpId(i - 1)].results[0]);
  return true;
}

bool MappingLowering::ResultAttrs(size_t i, ResultOp* op) {
  const Mapping::OutNode& out = m_.out[i];
  const ir::OpDef& def = *out_defs_[i];
  const bool open = def.IsComposite();  // read off the match
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
      op->attrs.push_back(MakeComputedAttr(field, {std::string(kFromBody), {}}, ResultOpId(i)));
    } else if (field.make_default) {
      op->attrs.push_back({field.name, field.make_default(*graph_->context()), {}, {}, {}});
    } else if (!field.optional) {
      return Error(out.at, fmt::format("attribute '{}' of {} has no default and is not given",
                                       field.name.str(), def.name()));
    }
  }
  return true;
}

bool MappingLowering::ResultAttrOf(const Mapping::AttrValue& a, const ir::FieldDef& field, size_t i,
                                   ResultOp* op) {
  if (a.literal) {
    ir::Attribute value;
    if (!AttributeOf(*a.literal, field, *graph_->context(), &mistakes_, &value)) return false;
    op->attrs.push_back({field.name, value, {}, {}, {}});
    return true;
  }
  Formula formula;
  if (a.input >= 0) {
    const ValueId value = InputValue({a.at, a.node, "", {a.input}});
    if (!value) return false;
    formula = {field.kind == ir::AttrKind::kInts ? "ints" : "splat", {ValueArgument(value)}};
  } else {
    formula = {"attribute",
               {ValueArgument(NodeAt(a.node).results[0]),
                LiteralArgument(graph_->context()->StringAttr(a.attribute))}};
  }
  op->attrs.push_back(MakeComputedAttr(field, std::move(formula), ResultOpId(i)));
  return true;
}

bool MappingLowering::LowerOut(size_t i) {
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
    op.results.push_back(graph_->NewResultValue());
  if (!ResultOperands(i, &op) || !ResultAttrs(i, &op)) return false;
  for (size_t k = 0; k < out.outputs.size(); ++k) {
    const Mapping::Tensor& t = out.outputs[k];
    const std::vector<ValueId>& results = NodeAt(t.node).results;
    const size_t from = static_cast<size_t>(t.indices[0]);
    if (from >= results.size())
      return Error(t.at, fmt::format("node {} has no output {}", t.node, from));
    const ResultValueId with = op.results[static_cast<size_t>(out.output_positions[k])];
    graph_->replacements.push_back({results[from], ResultOperand::Result(with), Loc(t.at)});
  }
  graph_->NewResultOp(std::move(op));
  return true;
}

void MappingLowering::InputChecks() {
  for (const Mapping::Check& check : m_.checks)
    for (const Mapping::InputCheck& input : check.inputs) {
      const ValueId value = InputValue({input.at, check.node, "", {input.input}});
      if (!value) continue;
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

std::string MappingLowering::Algebra() const {
  std::string text;
  const auto short_name = [](const ir::OpDef* def) {
    return std::string(def->name().substr(def->name().starts_with("onnx.") ? 5 : 0));
  };
  for (size_t i = 0; i < m_.in.size(); ++i) {
    std::vector<std::string> names = m_.in[i].types;
    if (!types_.empty()) {
      names.clear();
      for (const ir::OpDef* def : types_[i]) names.push_back(short_name(def));
    }
    text += fmt::format("{}{}", text.empty() ? "" : ", ", fmt::join(names, "|"));
  }
  text += " =>";
  for (const ir::OpDef* def : out_defs_)
    text += fmt::format("{}{}", text.ends_with('>') ? " " : ", ", short_name(def));
  return text;
}

bool MappingLowering::IsTailReplaced() {
  const ValueId tail = NodeAt(m_.tail).results[0];
  return std::any_of(graph_->replacements.begin(), graph_->replacements.end(),
                     [&](const Replacement& r) { return r.source == tail; }) ||
         Error(m_.out.back().outputs_at,
               fmt::format("no node of 'out' gives what node {}, the last of 'in', gave; see "
                           "'output_tensors'",
                           m_.tail));
}

void MappingLowering::Finish(std::vector<std::unique_ptr<Rule>>* rules) {
  for (size_t i = 0; i < m_.out.size(); ++i) {
    if (LowerOut(i)) continue;
    ResultOp placeholder;  // so that the nodes behind it can be looked at
    placeholder.results.push_back(graph_->NewResultValue());
    graph_->NewResultOp(std::move(placeholder));
  }
  InputChecks();
  if (mistakes_.num_errors() != errors_before_ || !IsTailReplaced()) return;
  if (has_body_)
    graph_->constraints.push_back(MakeConstraint({std::string(kComputesResult), {}},
                                                 "the match computes what the result computes",
                                                 Loc(m_.at)));
  if (!m_.single_use)
    for (SourceValue& v : graph_->values) v.escape = Escape::kKeep;
  BuildResult built = drr::internal::FinishRule(
      std::move(graph_), Algebra(), m_.numerics.value_or(NumericClass::kReassociates),
      m_.benefit > 0 ? m_.benefit : static_cast<int>(m_.in.size()));
  for (std::string& error : built.errors) mistakes_.Add(std::move(error));
  if (built.rule) rules->push_back(std::move(built.rule));
}

}  // namespace weft::drr::text
