#include "drr/equivalence/body_equivalence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "drr/equivalence/normal_form.h"
#include "drr/rule/evaluation.h"
#include "ir/infer.h"

namespace weft::drr::text {

using ir::Attribute;
using ir::AttrKind;
using ir::Operation;
using ir::Value;

namespace {

constexpr size_t kMaxTries = 2000;
constexpr size_t kMaxShape = 8;
constexpr size_t kMaxCandidates = 64;  // for one attribute
constexpr size_t kMaxShown = 160;
constexpr size_t kMaxWork = 8'000'000;  // NormalForms::work(), for all proofs at one op

// What attributes that are left open may be.
class Candidates {
 public:
  explicit Candidates(const MatchContext& match) : context_(*match.context()) {
    for (OpId id : match.rule().graph.ops.ids())
      if (const Operation op = match.op(id)) Collect(op);
  }

  std::vector<Attribute> For(const ir::FieldDef& field) {
    std::vector<Attribute> list;
    const auto add = [&](Attribute a) {
      if (a && field.accepts(a) && list.size() < kMaxCandidates &&
          std::find(list.begin(), list.end(), a) == list.end())
        list.push_back(a);
    };
    if (field.make_default) add(field.make_default(context_));
    for (std::string_view name : field.enumerators) add(context_.StringAttr(name));
    if (field.kind == AttrKind::kBool)
      for (bool value : {false, true}) add(context_.BoolAttr(value));
    for (Attribute a : attrs_) add(a);
    for (double number : numbers_) {
      if (field.kind == AttrKind::kFloat) add(context_.FloatAttr(static_cast<float>(number)));
      if (field.kind == AttrKind::kDouble) add(context_.DoubleAttr(number));
    }
    for (int64_t integer : integers_) add(context_.IntAttr(integer));
    if (field.kind == AttrKind::kFloats)
      for (double a : numbers_)
        for (double b : numbers_)
          add(context_.FloatsAttr(ir::Floats{static_cast<float>(a), static_cast<float>(b)}));
    return list;
  }

 private:
  void AddNumber(double value) {
    if (std::isfinite(value) &&
        std::find(numbers_.begin(), numbers_.end(), value) == numbers_.end())
      numbers_.push_back(value);
  }

  void AddInteger(int64_t value, int64_t rank) {
    for (int64_t v : {value, value + rank, value - rank})
      if (std::find(integers_.begin(), integers_.end(), v) == integers_.end())
        integers_.push_back(v);
  }

  void Collect(Operation op) {
    int64_t rank = 0;
    for (Value v : op.operands()) {
      if (!v) continue;
      if (v.type().HasRank()) rank = std::max(rank, static_cast<int64_t>(v.type().rank()));
      if (v.type().IsTensor()) attrs_.push_back(context_.DataTypeAttr(v.type().dtype()));
      if (const auto splat = ir::ConstantSplat(v)) {
        AddNumber(*splat);
        AddNumber(1 / *splat);  // the scale that a division stands for
      }
      const Attribute dense = ir::ConstantValue(v);
      if (!dense || dense.dense_type().NumElements() > 64) continue;
      if (const auto ints = ir::ConstantInts(v)) {
        attrs_.push_back(context_.IntsAttr(*ints));
        if (ints->size() == 1) AddInteger((*ints)[0], rank);
        if (ints->size() <= kMaxShape)  // such as the number of groups in a shape
          for (int64_t value : *ints) AddInteger(value, 0);
      }
    }
    for (const ir::NamedAttribute& a : op.attrs()) {
      attrs_.push_back(a.value);
      if (a.value.Is(AttrKind::kInt)) AddInteger(a.value.AsInt(), rank);
      if (a.value.Is(AttrKind::kInts))
        for (int64_t v : a.value.AsInts()) AddInteger(v, rank);
    }
  }

  ir::IrContext& context_;
  std::vector<Attribute> attrs_;
  std::vector<double> numbers_;
  std::vector<int64_t> integers_;
};

class Solver {
 public:
  Solver(const MatchContext& match, size_t max_work)
      : match_(match), graph_(match.rule().graph), forms_(match.context()), max_work_(max_work) {}
  size_t work() const { return forms_.work(); }
  BodySolution Run();

 private:
  struct OpenAttr {
    ResultOpId op;
    size_t attr;
    std::vector<Attribute> candidates;
    size_t choice = 0;
  };
  bool Fail(std::string why);
  std::vector<Operation> Inside() const;
  Value Source(const ResultOperand& operand) const;
  bool StandIn(const ResultOperand& operand);
  bool StandIns();
  bool FixedAttrs();
  bool OpenAttrs();
  bool NextChoice();
  // Builds the result in the scratch program and compares.
  bool Try();

  const MatchContext& match_;
  const PatternGraph& graph_;
  NormalForms forms_;
  const size_t max_work_;
  IdVector<ResultOp, std::vector<Attribute>> attrs_;
  std::vector<OpenAttr> open_;
  std::vector<Expression> wanted_;
  std::string why_;  // of the first try whose result could be built, else of the first
  bool compared_ = false;
};

BodySolution Solver::Run() {
  BodySolution solution;
  for (const ResultOp& op : graph_.result_ops) attrs_.Add(std::vector<Attribute>(op.attrs.size()));
  if (graph_.HasLists() || graph_.HasRegions()) {
    solution.why = "rules with lists or regions are not compared with their results";
    return solution;
  }
  if (!StandIns() || !FixedAttrs() || !OpenAttrs()) {
    solution.why = why_;
    return solution;
  }
  for (const Replacement& r : graph_.replacements)
    wanted_.push_back(forms_.Of(match_.value(r.source), Inside()));
  size_t tries = 0;
  do {
    if (Try()) {
      solution.proved = true;
      solution.attrs = attrs_;
      return solution;
    }
  } while (++tries < kMaxTries && forms_.work() < max_work_ && NextChoice());
  solution.why = why_;
  if (forms_.work() >= max_work_) solution.why += "; given up before all was tried";
  return solution;
}

bool Solver::Fail(std::string why) {
  if (why_.empty()) why_ = std::move(why);
  return false;
}

std::vector<Operation> Solver::Inside() const {
  std::vector<Operation> ops;
  for (OpId id : graph_.ops.ids())
    if (const Operation op = match_.op(id)) ops.push_back(op);
  return ops;
}

Value Solver::Source(const ResultOperand& operand) const {
  if (operand.kind == ResultOperand::kSource) return match_.value(operand.source);
  if (operand.kind == ResultOperand::kOutside) return graph_.outside[operand.outside].value;
  return {};
}

bool Solver::StandIn(const ResultOperand& operand) {
  const Value v = Source(operand);
  if (!v || (v.IsAlive() && forms_.StandIn(v))) return true;
  return Fail("the rank or element type of an input of the result is not known");
}

bool Solver::StandIns() {
  for (const ResultOp& op : graph_.result_ops)
    for (const ResultOperand& operand : op.operands)
      if (!StandIn(operand)) return false;
  for (const Replacement& r : graph_.replacements)
    if (!StandIn(r.with)) return false;
  return true;
}

bool Solver::FixedAttrs() {
  for (ResultOpId i : graph_.result_ops.ids()) {
    const ResultOp& op = graph_.result_ops[i];
    if (!op.def || op.attrs_of) return Fail("it copies all attributes of a matched op");
    for (size_t k = 0; k < op.attrs.size(); ++k) {
      const ResultAttr& a = op.attrs[k];
      if (a.formula.name == kFromBody) continue;
      attrs_[i][k] = a.variable  ? match_.attr(a.variable)
                     : a.compute ? a.compute(match_)
                                 : a.literal;
      if (!attrs_[i][k])
        return Fail(
            fmt::format("attribute {} of {} cannot be computed", a.name.str(), op.def->name()));
    }
  }
  return true;
}

bool Solver::OpenAttrs() {
  Candidates candidates(match_);
  for (ResultOpId i : graph_.result_ops.ids())
    for (size_t k = 0; k < graph_.result_ops[i].attrs.size(); ++k) {
      const ResultAttr& a = graph_.result_ops[i].attrs[k];
      if (a.formula.name != kFromBody) continue;
      const ir::OpDef& def = *graph_.result_ops[i].def;
      open_.push_back({i, k, candidates.For(*def.FindField(a.name))});
      if (open_.back().candidates.empty())
        return Fail(fmt::format("nothing in the match can be attribute {} of {}", a.name.str(),
                                def.name()));
      attrs_[i][k] = open_.back().candidates[0];
    }
  return true;
}

bool Solver::NextChoice() {
  for (OpenAttr& open : open_) {
    const bool wraps = ++open.choice == open.candidates.size();
    if (wraps) open.choice = 0;
    attrs_[open.op][open.attr] = open.candidates[open.choice];
    if (!wraps) return true;
  }
  return false;
}

bool Solver::Try() {
  IdVector<ResultValue, Value> results(graph_.num_result_values);
  const auto value_of = [&](const ResultOperand& operand) {
    if (operand.kind == ResultOperand::kResult) return results[operand.result];
    const Value v = Source(operand);
    return v ? forms_.StandIn(v) : Value();
  };
  for (ResultOpId i : graph_.result_order()) {
    const ResultOp& op = graph_.result_ops[i];
    ir::OperationState state;
    state.opcode = op.def->opcode;
    for (const ResultOperand& operand : op.operands) state.operands.push_back(value_of(operand));
    std::vector<ir::NamedAttribute> attrs;
    for (size_t k = 0; k < op.attrs.size(); ++k) attrs.push_back({op.attrs[k].name, attrs_[i][k]});
    state.attrs = match_.context()->Dict(std::move(attrs));
    Operation made;
    std::string error;
    if (!forms_.scratch().TryCreate(std::move(state), op.results.size(), &made, &error))
      return Fail(std::move(error));  // perhaps only for these attributes
    // The body may broadcast an operand that the op itself demands in full.
    if (op.def->IsComposite() && !ir::ProveOperandShapes(made, &error))
      return Fail(std::move(error));
    for (size_t k = 0; k < op.results.size(); ++k)
      results[op.results[k]] = made.result(static_cast<uint32_t>(k));
  }
  for (size_t r = 0; r < graph_.replacements.size(); ++r) {
    const Expression found = forms_.Of(value_of(graph_.replacements[r].with));
    if (!forms_.Equal(wanted_[r], found)) {
      if (!std::exchange(compared_, true)) why_.clear();
      const std::string not_in_full = forms_.WhyNotInFull();
      return Fail(fmt::format(
          "the match computes {}, the result {}{}{}", forms_.ToString(wanted_[r], kMaxShown),
          forms_.ToString(found, kMaxShown), not_in_full.empty() ? "" : "; ", not_in_full));
    }
  }
  return true;
}

// What was found out in the ways in which one op may match, by the question: operand orders that only
// exchange what the result does not read ask the same.
struct Proofs : MatchMemo {
  std::map<std::vector<uint32_t>, BodySolution> solutions;
  size_t work = 0;
};

// The ops of the match, and the values and attributes that the result has of it.
std::vector<uint32_t> QuestionOf(const MatchContext& match) {
  const PatternGraph& graph = match.rule().graph;
  std::vector<uint32_t> question;
  const auto add = [&](ValueId value) {
    const Value v = match.value(value);
    question.push_back(v ? v.id() : ir::kNoId);
  };
  for (OpId id : graph.ops.ids())
    if (const Operation op = match.op(id)) question.push_back(op.id());
  std::sort(question.begin(), question.end());
  bool reads_all = false;
  for (const ResultOp& op : graph.result_ops) {
    for (const ResultOperand& operand : op.operands)
      if (operand.kind == ResultOperand::kSource) add(operand.source);
    for (const ResultAttr& a : op.attrs) {
      for (const Formula::Argument& argument : a.formula.arguments)
        if (argument.kind == Formula::Argument::kValue) add(argument.value);
      reads_all |= a.compute && a.formula.name.empty();
    }
  }
  for (const Replacement& r : graph.replacements) {
    add(r.source);
    if (r.with.kind == ResultOperand::kSource) add(r.with.source);
  }
  if (reads_all)
    for (ValueId id : graph.values.ids()) add(id);
  for (AttrId id : graph.attrs.ids()) question.push_back(match.attr(id).id());
  return question;
}

}  // namespace

BodySolution SolveBodies(const MatchContext& match) {
  if (!match.memo()) match.memo() = ir::Owned<MatchMemo>(new Proofs);
  Proofs& proofs = static_cast<Proofs&>(*match.memo());
  const auto [it, is_new] = proofs.solutions.try_emplace(QuestionOf(match));
  if (!is_new) return it->second;
  if (proofs.work >= kMaxWork) {
    it->second.why = "given up: there are too many ways to compare the match with the result";
    return it->second;
  }
  Solver solver(match, kMaxWork - proofs.work);
  it->second = solver.Run();
  proofs.work += solver.work();
  return it->second;
}

bool HasBody(const PatternGraph& graph) {
  return std::any_of(graph.result_ops.begin(), graph.result_ops.end(),
                     [](const ResultOp& op) { return op.def && op.def->IsComposite(); });
}

}  // namespace weft::drr::text

namespace weft::drr::internal {

bool ComputesResult(const Evaluation& e) {
  const text::BodySolution solution = text::SolveBodies(e.m);
  if (!solution.proved) e.m.Explain(solution.why);
  return solution.proved;
}

ir::Attribute AttributeFromBody(const MatchContext& m, ir::Name name, ResultOpId result_op) {
  const text::BodySolution solution = text::SolveBodies(m);
  if (!solution.proved) {
    m.Explain(solution.why);
    return {};
  }
  const std::vector<ResultAttr>& attrs = m.rule().graph.result_ops[result_op].attrs;
  for (size_t i = attrs.size(); i > 0; --i)
    if (attrs[i - 1].name == name) return solution.attrs[result_op][i - 1];
  return {};
}

}  // namespace weft::drr::internal
