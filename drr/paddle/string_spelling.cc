// String spelling: recording.
#include "drr/paddle/string_spelling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "drr/paddle/recorder.h"
#include "drr/rule/record_attributes.h"

namespace weft::drr::string_spelling {

namespace {

const ir::OpDef& UnknownOp() {
  static constexpr ir::OpInfo kInfo = {.name = "<unknown>",
                                       .operands = {ir::Variadic("inputs")},
                                       .results = {ir::Variadic("outputs")}};
  static const ir::OpDef* def = [] {
    auto* d = new ir::OpDef;
    d->info = &kInfo;
    return d;
  }();
  return *def;
}

template <class Defs>
bool HasVariadic(const Defs& defs) {
  return defs.size() > 0 && defs[defs.size() - 1].arity == ir::Arity::kVariadic;
}

}  // namespace

const ir::OpDef* Recorder::FindOp(std::string_view name, SourceLoc loc) {
  if (const ir::OpDef* def = graph_->context()->FindOp(name)) return def;
  std::vector<std::string_view> names;
  for (const ir::OpDef* def : graph_->context()->Ops()) names.push_back(def->name());
  graph_->Error(loc, fmt::format("no op is named '{}'{}", name, ir::DidYouMean(name, names)));
  return &UnknownOp();
}

void Recorder::NoAttribute(const ir::OpDef& def, std::string_view attr, SourceLoc loc) {
  if (&def == &UnknownOp()) return;
  std::vector<std::string_view> names;
  for (const ir::FieldDef& field : def.fields) names.push_back(field.name.str());
  graph_->Error(loc, fmt::format("{} has no attribute '{}'{}", def.name(), attr,
                                 ir::DidYouMean(attr, names)));
}

const Op& Recorder::SourceOp(std::string_view name, Attributes attrs, SourceLoc loc) {
  OpNode node;
  node.def = FindOp(name, loc);
  node.loc = loc;
  node.source = graph_->NewOp(loc);
  graph_->AddAlternative(node.source, *node.def);
  for (const NamedAttribute& a : attrs) {
    const ir::FieldDef* field = node.def->FindField(ir::Name(a.name));
    if (!field) {
      NoAttribute(*node.def, a.name, loc);
    } else if (a.value.compute()) {
      graph_->Error(loc, fmt::format("attribute '{}' of source op {} is a function; bind it with "
                                     "Attr(\"name\")",
                                     a.name, name));
    } else {
      drr::internal::AddBind(graph_.get(), node.source, field - node.def->fields.data(),
                             graph_->NewAttr(a.value.name(), loc));
    }
  }
  ops_.push_back(std::move(node));
  return op_handles_.emplace_back(this, static_cast<int>(ops_.size()) - 1);
}

const Op& Recorder::ResultOp(std::string_view name, Attributes attrs, SourceLoc loc) {
  OpNode node;
  node.is_result = true;
  node.def = FindOp(name, loc);
  node.loc = loc;
  for (const NamedAttribute& a : attrs) node.attrs.emplace_back(a.name, a.value);
  drr::ResultOp op;
  op.def = node.def;
  op.loc = loc;
  node.result = graph_->NewResultOp(std::move(op));
  ops_.push_back(std::move(node));
  return op_handles_.emplace_back(this, static_cast<int>(ops_.size()) - 1);
}

// Of result ops only the upper bound: attributes may feed the other operands.
bool Recorder::CheckArity(const OpNode& op, size_t inputs, size_t outputs) {
  const auto& operands = op.def->info->operands;
  const auto& results = op.def->info->results;
  const size_t required = std::count_if(operands.begin(), operands.end(),
                                        [](const auto& o) { return o.arity == ir::Arity::kOne; });
  if ((inputs > operands.size() && !HasVariadic(operands)) ||
      (inputs < required && !op.is_result)) {
    std::string names;
    for (const ir::OperandDef& o : operands)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", o.name);
    graph_->Error(op.loc, fmt::format("{} takes ({}) but is given {} operand{}", op.def->name(),
                                      names, inputs, inputs == 1 ? "" : "s"));
    return false;
  }
  if (outputs <= results.size() || HasVariadic(results)) return true;
  graph_->Error(op.loc, fmt::format("{} has {} result{} but {} are named", op.def->name(),
                                    results.size(), results.size() == 1 ? "" : "s", outputs));
  return false;
}

void Recorder::AliasSource(const Node& to, ValueId value) {
  SourceValue& named = graph_->values[to.value];
  if (named.producer || named.alias) {
    graph_->Error(to.loc, fmt::format("'{}' is defined twice", to.name));
    return;
  }
  if (graph_->Resolve(value) == to.value) {
    graph_->Error(to.loc, fmt::format("'{}' is defined by itself", to.name));
    return;
  }
  named.alias = value;
  SourceValue& target = graph_->values[graph_->Resolve(value)];
  if (target.name.empty()) target.name = to.name;
}

Tensor* Recorder::Call(int id, std::initializer_list<const Tensor*> inputs,
                       const std::initializer_list<const Tensor*>* outputs) {
  const bool is_result = ops_[id].is_result;
  const SourceLoc loc = ops_[id].loc;
  const size_t num_results = outputs ? outputs->size() : 1;
  CheckArity(ops_[id], inputs.size(), num_results);
  std::vector<ValueId> operands;
  std::vector<int> result_inputs;
  for (const Tensor* input : inputs) {
    const Node& node = nodes_[input->id()];
    if (!is_result && node.is_result && !node.is_none)
      graph_->Error(loc, fmt::format("'{}' of the result pattern is an operand of source op {}",
                                     node.name, ops_[id].def->name()));
    if (is_result) {
      result_inputs.push_back(input->id());
    } else {
      operands.push_back(node.value);  // absent where it is none
    }
  }
  if (is_result) {
    drr::ResultOp& op = graph_->result_ops[ops_[id].result];
    if (op.called)
      graph_->Error(
          loc, fmt::format("{} is applied twice; declare one op per occurrence", op.def->name()));
    op.called = true;
    op.results.clear();
    for (size_t i = 0; i < num_results; ++i) op.results.push_back(graph_->NewResultValue());
    ops_[id].inputs = std::move(result_inputs);
  } else {
    graph_->Call(ops_[id].source, operands, num_results);
  }
  auto result = [&](size_t i) {
    Node node;
    node.is_result = is_result;
    node.loc = loc;
    if (is_result) {
      node.op = id;
      node.result = static_cast<int>(i);
    } else {
      node.value = graph_->ops[ops_[id].source].results[i];
    }
    return New(std::move(node)).id();
  };
  if (!outputs) return &tensors_[result(0)];
  size_t i = 0;
  for (const Tensor* output : *outputs) {
    const int made = result(i++);
    if (!nodes_[output->id()].is_none) Assign(output->id(), made);
  }
  return nullptr;
}

void Recorder::Assign(int to, int from) {
  Node& target = nodes_[to];
  if (target.is_none || nodes_[from].is_none) {
    graph_->Error(target.loc, "a NoneTensor is assigned");
  } else if (!target.is_result) {
    if (nodes_[from].is_result) {
      graph_->Error(target.loc, fmt::format("source tensor '{}' is defined by the result pattern; "
                                            "use the result pattern's Tensor(\"{}\")",
                                            target.name, target.name));
    } else {
      AliasSource(target, nodes_[from].value);
    }
  } else if (IsDefined(target)) {
    graph_->Error(target.loc, fmt::format("'{}' is defined twice", target.name));
  } else {
    target.alias = from;
    definitions_.push_back(to);
  }
}

void Recorder::Require(std::string_view why, std::function<bool(const MatchContext&)> holds,
                       SourceLoc loc) {
  std::string reason(why);
  if (reason.empty()) {
    const std::string_view file = loc.file;
    reason = fmt::format("the native call of {}:{}", file.substr(file.rfind('/') + 1), loc.line);
  }
  auto guarded = [holds = std::move(holds)](const drr::MatchContext& match) {
    bool result = false;
    return Guarded(match, [&](const MatchContext& m) { result = holds(m); }) && result;
  };
  graph_->constraints.push_back({std::move(reason), std::move(guarded), loc});
}

// --- the handles ------------------------------------------------------------------------

// Assigns nothing, but records that the rule does.  NOLINTNEXTLINE(bugprone-unhandled-self-assignment)
const Tensor& Tensor::operator=(const Tensor& value) const {
  recorder_->Assign(id_, value.id_);
  return *this;
}

Tensor& Op::Call(std::initializer_list<const Tensor*> inputs) const {
  return *recorder_->Call(id_, inputs, nullptr);
}
void Op::operator()(std::initializer_list<const Tensor*> inputs,
                    std::initializer_list<const Tensor*> outputs) const {
  recorder_->Call(id_, inputs, &outputs);
}

const Op& ResultPattern::Op(std::string_view name, Attributes attrs, SourceLoc loc) {
  return recorder_->ResultOp(name, attrs, loc);
}
Tensor& ResultPattern::Tensor(std::string_view name, SourceLoc loc) {
  return recorder_->Named(true, name, loc);
}
Tensor& ResultPattern::NoneTensor() { return recorder_->None(true); }

const Op& SourcePattern::Op(std::string_view name, Attributes attrs, SourceLoc loc) {
  return recorder_->SourceOp(name, attrs, loc);
}
Tensor& SourcePattern::Tensor(std::string_view name, SourceLoc loc) {
  return recorder_->Named(false, name, loc);
}
Tensor& SourcePattern::NoneTensor() { return recorder_->None(false); }
void SourcePattern::RequireNativeCall(std::string_view why,
                                      std::function<bool(const MatchContext&)> holds,
                                      SourceLoc loc) {
  recorder_->Require(why, std::move(holds), loc);
}

DrrPatternContext::DrrPatternContext(std::string_view rule, ir::IrContext* context)
    : recorder_(std::make_unique<Recorder>(rule, context)) {}
DrrPatternContext::~DrrPatternContext() = default;

BuildResult DrrPatternContext::Finish(std::string_view algebra, NumericClass numerics,
                                      int benefit) {
  return drr::internal::FinishRule(recorder_->Finish(), algebra, numerics, benefit);
}

namespace internal {

std::string RuleName(std::string_view function) {
  std::string_view name = function;
  if (const size_t at = name.find("T = "); at != std::string_view::npos) name.remove_prefix(at + 4);
  name = name.substr(0, name.find_first_of(";]"));
  if (const size_t at = name.rfind("::"); at != std::string_view::npos) name.remove_prefix(at + 2);
  if (name.size() > 7 && name.ends_with("Pattern")) name.remove_suffix(7);
  std::string result;
  for (char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) && !result.empty() && result.back() != '-')
      result += '-';
    result += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace internal
}  // namespace weft::drr::string_spelling
