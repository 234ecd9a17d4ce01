// The non-template part of recording a rule: what the headers beside it declare.
#include <cmath>

#include "drr/drr.h"
#include "drr/rule/convert_attr.h"
#include "drr/rule/vocabulary_functions.h"
#include "ir/dialects/builtin.h"

namespace weft::drr {

DrrPatternContext::DrrPatternContext(std::string_view rule, ir::IrContext* context)
    : graph_(new PatternGraph(rule, context)) {}
DrrPatternContext::~DrrPatternContext() = default;

std::vector<BoundTensor> TensorList::In(const MatchContext& m) const {
  std::vector<BoundTensor> tensors;
  for (ir::Value v : m.list(id())) tensors.emplace_back(v);
  return tensors;
}

BoundTensor Tensor::After(const PostContext& p) const {
  const ir::Value v = p.match().value(id());
  return BoundTensor(v && v.IsAlive() ? v : ir::Value());
}

drr::Tensor SourcePattern::EitherOf(std::initializer_list<drr::Tensor> alternatives,
                                    SourceLoc loc) {
  const ValueId value = graph_->NewValue("", loc);
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
  const OpId op = graph_->NewOp(loc);
  graph_->ops[op].traits = traits;
  return MakeRepeat(op, times);
}

RepeatPattern SourcePattern::MakeRepeat(OpId op, Range times) {
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

void SourcePattern::AddReturns(OpId op, int region, std::initializer_list<SourceOperand> values,
                               SourceLoc loc) {
  RegionPattern& r = graph_->ops[op].regions.emplace_back();
  r.region = region;
  r.loc = loc;
  for (const SourceOperand& v : values) r.returned.push_back(v.id());
}

void SourcePattern::AddConstraint(std::string_view why,
                                  ir::Function<bool(const MatchContext&)> holds, SourceLoc loc,
                                  bool profitable) {
  graph_->constraints.push_back({std::string(why), std::move(holds), loc, {}, profitable});
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
  const ValueId value = graph_->NewValue("", loc);
  graph_->values[value].through = t.id();
  for (const ir::OpDef* def : skipped) graph_->values[value].skipped.push_back({def, same_type});
  return {graph_, value};
}

ResultOpLike ResultPattern::LikeOp(OpId source_op, SourceLoc loc) {
  ResultOp op;
  op.like = source_op;
  op.loc = loc;
  return ResultOpLike(graph_, graph_->NewResultOp(std::move(op)));
}

ResultTensor ResultPattern::Constant(ir::Attribute value, SourceLoc loc) {
  return Op<ir::ConstantOp>({.value = value}, {}, loc)();
}

ResultTensor ResultPattern::Constant(const Expression<ir::Attribute>& value, SourceLoc loc) {
  return Op<ir::ConstantOp>({.value = value}, {}, loc)();
}

ResultTensor ResultPattern::ComputedConstant(ComputeAttr compute, SourceLoc loc) {
  return Op<ir::ConstantOp>({.value = std::move(compute)}, {}, loc)();
}

ResultTensor ResultPattern::ConstantInts(std::initializer_list<int64_t> values, SourceLoc loc) {
  ir::IrContext& c = *graph_->context();
  return Constant(ConvertAttr(c, c.IntsAttr(Ints(values)), ir::AttrKind::kDense), loc);
}

ResultTensor ResultPattern::ConstantInts(const Expression<Ints>& values, SourceLoc loc) {
  return Op<ir::ConstantOp>({.value = values}, {}, loc)();
}

ResultTensor ResultPattern::ConstantInts(ir::Function<Ints(const MatchContext&)> fn,
                                         SourceLoc loc) {
  return ComputedConstant(
      [fn = std::move(fn)](const MatchContext& m) {
        ir::IrContext& c = *m.context();
        return ConvertAttr(c, c.IntsAttr(fn(m)), ir::AttrKind::kDense);
      },
      loc);
}

void SourcePattern::AddCondition(const Condition& condition, std::string_view why,
                                 bool profitable) {
  Formula formula = internal::MakeFormula(graph_, condition, true);
  if (formula.name.empty()) return;
  graph_->constraints.push_back(
      MakeConstraint(std::move(formula), std::string(why), condition.loc));
  graph_->constraints.back().profitable = profitable;
}

drr::Tensor SourcePattern::Splat(double number, SourceLoc loc) {
  return Splat(number, internal::SplatTolerance(number), loc);
}

drr::Tensor SourcePattern::Splat(double number, double tolerance, SourceLoc loc) {
  const drr::Tensor t(graph_, graph_->NewValue("", loc));
  AddCondition(IsSplat(IfGiven(t), number, tolerance, loc), "", false);
  return t;
}

namespace internal {

std::vector<ir::Attribute> AttributesOf(PatternGraph* graph, const MakeLiterals& literals) {
  std::vector<ir::Attribute> attributes;
  literals(*graph->context(), &attributes);
  return attributes;
}

BuildResult PatternRecorder::BuildRule(ir::IrContext* context, const RuleInfo& info) const {
  DrrPatternContext ctx(info.name, context);
  (*this)(&ctx);
  return FinishRule(std::move(ctx.graph()), info);
}

}  // namespace internal
}  // namespace weft::drr
