// The non-template part of recording a rule (declared in drr/drr.h and drr/rule/pattern_graph.h).
#include <fmt/format.h>

#include <algorithm>

#include "drr/drr.h"
#include "drr/rule/arity.h"

namespace weft::drr {

std::string_view NumericClassName(NumericClass numerics) {
  switch (numerics) {
    case NumericClass::kExact:
      return "exact";
    case NumericClass::kReassociates:
      return "reassociates";
    case NumericClass::kApproximate:
      return "approximate";
    case NumericClass::kChangesMeaning:
      return "changes-meaning";
  }
  return "";
}

std::optional<NumericClass> FindNumericClass(std::string_view name) {
  for (const NumericClass numerics : kNumericClasses)
    if (NumericClassName(numerics) == name) return numerics;
  return std::nullopt;
}

PatternGraph::PatternGraph(std::string_view rule, ir::IrContext* context)
    : rule_(rule), context_(context) {}
PatternGraph::PatternGraph(const PatternGraph& other) = default;
PatternGraph::PatternGraph(PatternGraph&& other) noexcept = default;
PatternGraph::~PatternGraph() = default;
Rule::Rule(PatternGraph g) : graph(std::move(g)) {}
Rule::Rule(const Rule& other) = default;
Rule::Rule(Rule&& other) noexcept = default;
Rule::~Rule() = default;
DrrPatternContext::DrrPatternContext(std::string_view rule, ir::IrContext* context)
    : graph_(new PatternGraph(rule, context)) {}
DrrPatternContext::~DrrPatternContext() = default;
BuildResult::BuildResult() = default;
BuildResult::BuildResult(BuildResult&& other) noexcept = default;
BuildResult& BuildResult::operator=(BuildResult&& other) noexcept = default;
BuildResult::~BuildResult() = default;

void PatternGraph::Error(SourceLoc loc, const std::string& what) {
  errors_.push_back(fmt::format("{}:{}: error: [{}] {}", loc.file, loc.line, rule_, what));
}

void PatternGraph::Warning(SourceLoc loc, const std::string& what) {
  warnings_.push_back(fmt::format("{}:{}: warning: [{}] {}", loc.file, loc.line, rule_, what));
}

int PatternGraph::NewValue(std::string_view name, SourceLoc loc, bool list) {
  for (size_t i = 0; i < values.size() && !name.empty(); ++i) {
    if (values[i].name != name) continue;
    if (values[i].list != list)
      Error(loc, fmt::format("'{}' is a tensor and a list of tensors", name));
    return static_cast<int>(i);
  }
  SourceValue value;
  value.list = list;
  value.name = name;
  value.loc = loc;
  values.push_back(std::move(value));
  return static_cast<int>(values.size()) - 1;
}

int PatternGraph::NewAttr(std::string_view name, SourceLoc loc) {
  if (!name.empty())
    for (size_t i = 0; i < attrs.size(); ++i)
      if (attrs[i].name == name) return static_cast<int>(i);
  attrs.push_back({std::string(name), loc, false});
  return static_cast<int>(attrs.size()) - 1;
}

int PatternGraph::NewOp(SourceOp op) {
  ops.push_back(std::move(op));
  return static_cast<int>(ops.size()) - 1;
}

int PatternGraph::NewOp(SourceLoc loc) {
  SourceOp op;
  op.loc = loc;
  return NewOp(std::move(op));
}

void PatternGraph::AddAlternative(int op, const ir::OpDef& def) {
  ops[op].alternatives.push_back({&def, {}});
}

int PatternGraph::NewResultOp(const ir::OpDef& def, int attrs_of, SourceLoc loc) {
  ResultOp op;
  op.def = &def;
  op.attrs_of = attrs_of;
  op.loc = loc;
  return NewResultOp(std::move(op));
}

int PatternGraph::NewResultOp(ResultOp op) {
  result_ops.push_back(std::move(op));
  return static_cast<int>(result_ops.size()) - 1;
}

int PatternGraph::Call(int op, std::span<const int> operands, size_t num_results) {
  if (ops[op].called) {
    Error(ops[op].loc,
          fmt::format("{} is applied twice; declare one op per occurrence", ops[op].Name()));
    ops[op].results.clear();
  }
  ops[op].called = true;
  ops[op].operands.assign(operands.begin(), operands.end());
  for (size_t i = 0; i < num_results; ++i) {
    const int value = NewValue("", ops[op].loc);
    values[value].producer = op;
    values[value].result_index = static_cast<int>(i);
    ops[op].results.push_back(value);
  }
  return static_cast<int>(values.size() - num_results);
}

int PatternGraph::CallResult(int op, std::span<const ResultOperand> operands, size_t num_results) {
  if (result_ops[op].called)
    Error(result_ops[op].loc, fmt::format("{} is applied twice; declare one op per occurrence",
                                          NameOf(result_ops[op])));
  result_ops[op].called = true;
  result_ops[op].operands.assign(operands.begin(), operands.end());
  result_ops[op].results.clear();
  for (size_t i = 0; i < num_results; ++i) result_ops[op].results.push_back(num_result_values++);
  return num_result_values - static_cast<int>(num_results);
}

std::vector<int> PatternGraph::RootProducers() const {
  std::vector<int> producers, work{root_value_};
  while (!work.empty()) {
    const SourceValue& v = values[Resolve(work.back())];
    work.pop_back();
    if (v.producer >= 0) producers.push_back(v.producer);
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
           return v.either.empty() && v.nots.empty() && v.through < 0 &&
                  v.escape != Escape::kRecompute;
         });
}

int PatternGraph::CallEach(int op, int list) {
  Call(op, {&list, 1}, 1);
  ops[op].times = Times::kEach;
  const int result = ops[op].results[0];
  values[result].list = true;
  return result;
}

int PatternGraph::CallEachResult(int op, std::span<const ResultOperand> operands) {
  CallResult(op, operands, 1);
  result_ops[op].each = true;
  return result_ops[op].results[0];
}

int PatternGraph::Resolve(int value) const {
  while (values[value].alias >= 0) value = values[value].alias;
  return value;
}

std::string PatternGraph::Describe(int value) const {
  const SourceValue& v = values[Resolve(value)];
  if (!v.label.empty()) return v.label;
  const std::string& name = v.name.empty() ? values[value].name : v.name;
  return name.empty() ? fmt::format("the value of line {}", v.loc.line) : fmt::format("'{}'", name);
}

drr::Tensor SourcePattern::EitherOf(std::initializer_list<drr::Tensor> alternatives,
                                    SourceLoc loc) {
  const int value = graph_->NewValue("", loc);
  for (const drr::Tensor& t : alternatives) graph_->values[value].either.push_back(t.id());
  return {graph_, value};
}

TensorList SourcePattern::Tensors(std::string_view name, SourceLoc loc) {
  return {graph_, graph_->NewValue(name, loc, true)};
}

AnyOpPattern SourcePattern::AnyOp(uint32_t traits, SourceLoc loc) {
  SourceOp op;
  op.traits = traits;
  op.loc = loc;
  return {graph_, graph_->NewOp(std::move(op))};
}

AnyOpPattern SourcePattern::AnyOp(std::string_view name, SourceLoc loc) {
  SourceOp op;
  op.opcode = name;
  op.loc = loc;
  return {graph_, graph_->NewOp(std::move(op))};
}

RepeatPattern SourcePattern::RepeatAny(uint32_t traits, Range times, SourceLoc loc) {
  const int op = graph_->NewOp(loc);
  graph_->ops[op].traits = traits;
  return MakeRepeat(op, times);
}

RepeatPattern SourcePattern::MakeRepeat(int op, Range times) {
  SourceOp& repeated = graph_->ops[op];
  repeated.times = Times::kChain;
  repeated.min_times = times.min;
  repeated.max_times = times.max;
  return {graph_, op};
}

drr::Tensor SourcePattern::Not(const drr::Tensor& t, const drr::Tensor& pattern) {
  graph_->values[t.id()].nots.push_back(pattern.id());
  return t;
}

void SourcePattern::AddReturns(int op, int region, std::initializer_list<SourceOperand> values,
                               SourceLoc loc) {
  RegionPattern& r = graph_->ops[op].regions.emplace_back();
  r.region = region;
  r.loc = loc;
  for (const SourceOperand& v : values) r.returned.push_back(v.id());
}

void SourcePattern::AddConstraint(std::string_view why,
                                  ir::Function<bool(const MatchContext&)> holds, SourceLoc loc) {
  graph_->constraints.push_back({std::string(why), std::move(holds), loc});
}

void ResultPattern::AddPostHook(ir::Function<void(PostContext&)> run, SourceLoc loc) {
  graph_->post_hooks.push_back({std::move(run), loc});
}

void ResultPattern::Output::operator=(Operand with) && {
  graph_->replacements.push_back({source_, with.value, loc_});
}

drr::Tensor SourcePattern::MakeSkip(const drr::Tensor& t,
                                    std::initializer_list<const ir::OpDef*> skipped, bool same_type,
                                    SourceLoc loc) {
  const int value = graph_->NewValue("", loc);
  graph_->values[value].through = t.id();
  for (const ir::OpDef* def : skipped) graph_->values[value].skipped.push_back({def, same_type});
  return {graph_, value};
}

ResultOpLike ResultPattern::LikeOp(int source_op, SourceLoc loc) {
  ResultOp op;
  op.like = source_op;
  op.loc = loc;
  return ResultOpLike(graph_, graph_->NewResultOp(std::move(op)));
}

ResultTensor ResultPattern::ConstantInts(ir::Function<Ints(const MatchContext&)> fn,
                                         SourceLoc loc) {
  return Constant(
      [fn = std::move(fn)](const MatchContext& m) {
        const Ints values = fn(m);
        ir::IrContext& c = *m.context();
        const ir::Type type =
            c.TensorType(ir::DataType::kI64, {static_cast<int64_t>(values.size())});
        return c.DenseAttrOf(type, std::span<const int64_t>(values));
      },
      loc);
}

ResultTensor ResultPattern::ConstantInts(std::initializer_list<int64_t> values, SourceLoc loc) {
  return ConstantInts([values = Ints(values)](const MatchContext&) { return values; }, loc);
}

namespace internal {

void AddDefaultAttr(PatternGraph* graph, const ir::FieldDef& field, SourceLoc loc,
                    std::string_view op, std::vector<AttrPattern>* attrs) {
  AttrPattern pattern{field.name, AttrPattern::kIsOneOf, {}, -1};
  if (field.make_default) {
    pattern.values.push_back(field.make_default(*graph->context()));
    pattern.values.emplace_back();  // not written out means the same
  } else if (field.optional) {
    pattern.values.emplace_back();
  } else {
    graph->Error(loc, fmt::format("attribute '{}' of {} has no default: match a value, bind it, or "
                                  "say Any()",
                                  field.name.str(), op));
  }
  attrs->push_back(std::move(pattern));
}

void AddLiterals(PatternGraph* graph, const ir::FieldDef& field, std::vector<ir::Attribute> values,
                 std::vector<AttrPattern>* attrs) {
  // An attribute that is not written out has its default.
  if (field.make_default && std::find(values.begin(), values.end(),
                                      field.make_default(*graph->context())) != values.end())
    values.emplace_back();
  attrs->push_back({field.name, AttrPattern::kIsOneOf, std::move(values), -1});
}

void AddBind(PatternGraph* graph, const ir::FieldDef& field, int variable,
             std::vector<AttrPattern>* attrs) {
  graph->attrs[variable].bound = true;
  AttrPattern pattern{field.name, AttrPattern::kBind, {}, variable};
  if (field.make_default) pattern.values.push_back(field.make_default(*graph->context()));
  attrs->push_back(std::move(pattern));
}

void AddDefaultAttr(PatternGraph* graph, int op, size_t field) {
  Alternative& last = graph->ops[op].alternatives.back();
  AddDefaultAttr(graph, last.def->fields[field], graph->ops[op].loc, last.def->name(), &last.attrs);
}

void AddLiterals(PatternGraph* graph, int op, size_t field, std::vector<ir::Attribute> values) {
  Alternative& last = graph->ops[op].alternatives.back();
  AddLiterals(graph, last.def->fields[field], std::move(values), &last.attrs);
}

void AddBind(PatternGraph* graph, int op, size_t field, int variable) {
  Alternative& last = graph->ops[op].alternatives.back();
  AddBind(graph, last.def->fields[field], variable, &last.attrs);
}

void AddResultDefault(PatternGraph* graph, int op, size_t index) {
  ResultOp& result = graph->result_ops[op];
  const ir::FieldDef& field = result.def->fields[index];
  if (result.attrs_of >= 0) return;  // whatever the other op has
  if (field.make_default) {
    result.attrs.push_back({field.name, field.make_default(*graph->context()), -1, {}});
  } else if (!field.optional) {
    graph->Error(result.loc, fmt::format("attribute '{}' of {} has no default and is not set",
                                         field.name.str(), result.def->name()));
  }
}

void AddResultLiteral(PatternGraph* graph, int op, size_t index, ir::Attribute value) {
  ResultOp& result = graph->result_ops[op];
  result.attrs.push_back({result.def->fields[index].name, value, -1, {}});
}

void AddResultCopy(PatternGraph* graph, int op, size_t index, int variable) {
  ResultOp& result = graph->result_ops[op];
  const ir::FieldDef& field = result.def->fields[index];
  if (!graph->attrs[variable].bound)
    graph->Error(result.loc,
                 fmt::format("attribute '{}' of {} copies '{}', which no source op binds",
                             field.name.str(), result.def->name(), graph->attrs[variable].name));
  result.attrs.push_back({field.name, {}, variable, {}});
}

void AddResultCompute(PatternGraph* graph, int op, size_t index, const ComputeAttr& compute) {
  ResultOp& result = graph->result_ops[op];
  result.attrs.push_back({result.def->fields[index].name, {}, -1, compute});
}

BuildResult PatternRecorder::BuildRule(ir::IrContext* context, const RuleInfo& info) const {
  DrrPatternContext ctx(info.name, context);
  (*this)(&ctx);
  return FinishRule(std::move(ctx.graph()), info);
}

BuildResult FinishRule(PatternGraph graph, const RuleInfo& info) {
  BuildResult result;
  result.errors = graph.Check();
  result.warnings = graph.warnings();
  if (!result.errors.empty()) return result;
  const std::string name(graph.rule());
  result.rule = ir::Owned<Rule>(new Rule(std::move(graph)));
  result.rule->name = name;
  result.rule->algebra = info.algebra;
  result.rule->numerics = info.numerics;
  result.rule->benefit =
      info.benefit > 0 ? info.benefit : static_cast<int>(result.rule->graph.ops.size());
  return result;
}

}  // namespace internal
}  // namespace weft::drr
