// The statements of a result block.
#include <fmt/format.h>

#include <algorithm>

#include "drr/rule/arity.h"
#include "drr/rule/record_attributes.h"
#include "drr/rule/vocabulary.h"
#include "drr/text/captured_values.h"
#include "drr/text/rule_parser.h"

namespace weft::drr::text {

bool RuleParser::Operand(ResultOperand* operand) {
  const char* at = s_.position();
  if (s_.ConsumeWord("none")) return true;
  if (s_.ConsumeWord("outside")) return ParseOutside(at, operand);
  if (s_.Peek() == '!') {
    std::string label;
    bool is_name = false;
    s_.Consume('!');
    if (!Label(&label, &is_name)) return false;
    const auto it = results_.find(label);
    if (it == results_.end()) return Fail(at, fmt::format("!{} is not made above", label));
    *operand = ResultOperand::Result(it->second);
  } else {
    operand->kind = ResultOperand::kSource;
    if (!Value(&operand->source)) return false;
  }
  operand->list = s_.Consume('*');
  return true;
}

bool RuleParser::ParseOutside(const char* at, ResultOperand* operand) {
  OutsideValue outside;
  outside.loc = Here();
  if (!Quoted(&outside.node) || !s_.Expect(':', "after the name of the node") ||
      !Integer(-1000, 1000, &outside.result))
    return false;
  if (!program_) return Fail(at, "a node of a program is named, and there is no program");
  outside.value = FindOutside(*program_, outside.node, outside.result);
  if (!outside.value)
    return Fail(at, fmt::format("the program has no node '{}' with an output {}", outside.node,
                                outside.result));
  *operand = ResultOperand::Outside(graph_->outside.Add(std::move(outside)));
  return true;
}

bool RuleParser::ProducerOf(OpId* op) {
  const char* at = s_.position();
  ValueId value;
  if (!Value(&value)) return false;
  *op = At(value).producer;
  return *op || Fail(at, fmt::format("no source op makes {}", graph_->Describe(value)));
}

bool RuleParser::ParseResult() {
  if (graph_->result_ops.size() >= kMaxOps) return Fail(fmt::format("more than {} ops", kMaxOps));
  ResultOp op;
  op.loc = Here();
  op.called = true;
  std::vector<std::string> labels;
  do {
    bool is_name = false;
    if (!s_.Expect('!', "in front of a value of the result")) return false;
    const char* at = s_.position();
    if (!Label(&labels.emplace_back(), &is_name)) return false;
    if (results_.count(labels.back()) ||
        std::count(labels.begin(), labels.end(), labels.back()) > 1)
      return Fail(at, fmt::format("!{} is made twice", labels.back()));
  } while (s_.Consume(','));
  if (!s_.Expect('=', "after the values that are made")) return false;
  op.each = s_.ConsumeWord("each");
  if (s_.ConsumeWord("like")) {
    if (!ProducerOf(&op.like) || !ParseOverrides(&op)) return false;
  } else if (!OpName(&op.def) || !ParseResultAttrs(&op)) {
    return false;
  }
  const char* at = s_.position();
  if (!s_.Expect('(', "before the operands") ||
      !List(')', [&] { return Operand(&op.operands.emplace_back()); }))
    return false;
  if (!CheckResultArity(at, op, labels.size())) return false;
  if (s_.ConsumeWord("at") && !Value(&op.location_of)) return false;
  if (s_.ConsumeWord("named") && !Quoted(&op.location)) return false;
  for (const std::string& label : labels) {
    op.results.push_back(graph_->NewResultValue());
    results_[label] = op.results.back();
  }
  const bool overrides = op.like && !op.attrs.empty();
  const ResultOpId id = graph_->NewResultOp(std::move(op));
  if (overrides) drr::internal::CheckOverrides(graph_.get(), id);
  return true;
}

bool RuleParser::CheckResultArity(const char* at, const ResultOp& op, size_t num_results) {
  if (op.each || !op.def) {
    if (num_results != 1) return Fail(at, "each, or like, gives one value");
    return !op.operands.empty() || Fail(at, "each, or like, reads a value");
  }
  const auto& operands = op.def->info->operands;
  if (!IsVariadic(operands) && op.operands.size() > operands.size())
    return Fail(at, fmt::format("{} takes at most {} operands, not {}", op.def->name(),
                                operands.size(), op.operands.size()));
  for (size_t i = op.operands.size(); i < operands.size(); ++i)
    if (operands[i].arity == ir::Arity::kOne)
      return Fail(at,
                  fmt::format("operand '{}' of {} is not given", operands[i].name, op.def->name()));
  const auto& results = op.def->info->results;
  if (!IsVariadic(results) && num_results > results.size())
    return Fail(at, fmt::format("{} has at most {} results, not {}", op.def->name(), results.size(),
                                num_results));
  return true;
}

bool RuleParser::ParseOverrides(ResultOp* op) {
  const char* at = s_.position();
  if (!s_.Consume('{')) return true;
  const ir::OpDef* def = graph_->DefOf(*op);
  if (!def) return Fail(at, "the attributes of an op of any name are not known");
  return List('}', [&] {
    const ir::FieldDef* field = nullptr;
    return FieldName(*def, &field) && ParseResultAttr(*field, op);
  });
}

bool RuleParser::ParseResultAttrs(ResultOp* op) {
  if (s_.Consume('{')) {
    const bool ok = List('}', [&] {
      if (op->attrs.empty() && !op->attrs_of && s_.ConsumeWord("attrs")) {
        if (!s_.ConsumeWord("of")) return Fail("expected 'of' but found " + s_.Found());
        return ProducerOf(&op->attrs_of);
      }
      const ir::FieldDef* field = nullptr;
      return FieldName(*op->def, &field) && ParseResultAttr(*field, op);
    });
    if (!ok) return false;
  }
  for (const ir::FieldDef& field : op->def->fields) {
    const bool set = std::any_of(op->attrs.begin(), op->attrs.end(),
                                 [&](const ResultAttr& a) { return a.name == field.name; });
    if (set || op->attrs_of) continue;
    if (field.make_default) {
      op->attrs.push_back({field.name, field.make_default(*context_), {}, {}, {}});
    } else if (!field.optional) {
      return Fail(fmt::format("attribute '{}' of {} has no default and is not set",
                              field.name.str(), op->def->name()));
    }
  }
  return true;
}

bool RuleParser::ParseResultAttr(const ir::FieldDef& field, ResultOp* op) {
  const char* at = s_.position();
  ResultAttr attr{field.name, {}, {}, {}, {}};
  if (s_.Peek() == '$') {
    if (!Variable(&attr.variable)) return false;
    if (!graph_->attrs[attr.variable].bound) return Fail(at, "no source op binds this variable");
  } else if (s_.ConsumeWord("native")) {
    return Fail(at, fmt::format("attribute '{}' is computed by native code: it can only be "
                                "written in C++",
                                field.name.str()));
  } else if (s_.Consume('=')) {
    const char* formula_at = s_.position();
    Formula formula;
    if (!ParseFormula(std::string(s_.Name()), false, formula_at, &formula)) return false;
    attr = MakeComputedAttr(field, std::move(formula), ResultOpId(graph_->result_ops.size()));
  } else if (!Literal(field, &attr.literal)) {
    return false;
  }
  op->attrs.push_back(std::move(attr));
  return true;
}

}  // namespace weft::drr::text
