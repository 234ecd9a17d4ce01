// loop-unrolling: a Loop of a known number of steps that makes few operations becomes those operations.
// loop-invariant-code-motion: what a Loop or Scan computes anew in each step from values outside is
// computed before it. That may be before a Loop which then has no step, so only what cannot fail moves.
#include <algorithm>
#include <optional>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/analysis/shape_inference.h"
#include "ir/clone.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/pd.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/control_flow/decided_control.h"
#include "passes/control_flow/try_make.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

using ir::Operation;
using ir::Value;
using ir::ops::Loop;

// Operations of all steps together: enough for a stack of few layers, and no more than a reader of the
// result would mind.
constexpr int64_t kMostUnrolled = 64;

// Nothing of a body that holds others, or an op that draws the next random numbers in each step.
std::optional<int64_t> NumOperations(ir::Block body) {
  int64_t count = 0;
  for (const Operation op : body) {
    if (op.num_regions() > 0 || op.HasTrait(ir::kRandom)) return std::nullopt;
    count += !op.HasTrait(ir::kConstantLike) && !op.HasTrait(ir::kTerminator);
  }
  return count;
}

// How many steps there are, where that is known before the first one; at least 1.
std::optional<int64_t> NumSteps(Operation loop) {
  if (loop.num_operands() < Loop::kFirstCarried) return std::nullopt;
  const std::optional<double> trips = ConstantNumber(loop.operand(0));
  if (!trips || *trips < 1 || *trips > kMostUnrolled) return std::nullopt;
  if (loop.HasOperand(1) && ConstantNumber(loop.operand(1)) != 1) return std::nullopt;
  const ir::Block body = loop.region(0).front();
  Value goes_on = body.Terminator().operand(0);
  while (goes_on.DefiningOp() && goes_on.DefiningOp().Is<ir::ops::Identity>())
    goes_on = goes_on.DefiningOp().operand(0);  // as exporters hand the condition on
  if (goes_on != body.argument(1) && ConstantNumber(goes_on) != 1) return std::nullopt;
  return static_cast<int64_t>(*trips);
}

class Unroller {
 public:
  Unroller(Operation loop, ir::Rewriter& rewriter)
      : loop_(loop),
        body_(loop.region(0).front()),
        end_(body_.Terminator()),
        num_carried_(loop.num_operands() - Loop::kFirstCarried),
        rewriter_(rewriter) {}

  // False, and nothing has changed, where what a step computes does not fit what the next one or a
  // reader takes: the error belongs to run time.
  bool Run(int64_t steps) {
    for (uint32_t i = 1 + num_carried_; i < end_.num_operands(); ++i)
      if (end_.operand(i).IsBlockArgument()) return false;
    const Operation before = loop_.prev();
    rewriter_.SetInsertionPoint(loop_);
    std::vector<Value> values;
    for (uint32_t i = 0; i < num_carried_; ++i)
      values.push_back(loop_.operand(Loop::kFirstCarried + i));
    slices_.resize(loop_.num_results() - num_carried_);
    bool fits = true;
    for (int64_t step = 0; fits && step < steps; ++step) fits = Step(step, &values);
    if (fits) {
      rewriter_.set_location(loop_.location());
      for (const std::vector<Value>& slices : slices_) {
        const Operation joined = TryMake<ir::ops::Concat>(rewriter_, slices, {.axis = 0});
        fits &= joined != Operation();
        if (joined) values.push_back(joined.result());
      }
      rewriter_.set_location({});
      fits = fits && FitsAllReaders(loop_, values);
    }
    if (fits) {
      rewriter_.Replace(loop_, values);
    } else {
      while (loop_.prev() != before) rewriter_.Erase(loop_.prev());
    }
    return fits;
  }

 private:
  bool Step(int64_t step, std::vector<Value>* state) {
    ir::ValueMap map;
    rewriter_.set_location(loop_.location());
    map.Set(body_.argument(0), rewriter_.ConstantScalar(ir::DataType::kI64, double(step)));
    map.Set(body_.argument(1), rewriter_.ConstantScalar(ir::DataType::kBool, 1));
    for (uint32_t i = 0; i < num_carried_; ++i)
      map.Set(body_.argument(Loop::kFirstCarried + i), (*state)[i]);
    for (const Operation op : body_) {
      if (op == end_) break;
      const Operation copy = ir::CloneOperation(rewriter_, op, map);
      if (!ir::RefineResultTypes(copy, rewriter_).ok()) return false;
    }
    for (uint32_t i = 0; i < num_carried_; ++i) (*state)[i] = map.Get(end_.operand(1 + i));
    rewriter_.set_location(loop_.location());
    for (size_t i = 0; i < slices_.size(); ++i) {
      const Value slice = map.Get(end_.operand(static_cast<uint32_t>(1 + num_carried_ + i)));
      const Operation row =
          TryMake<ir::ops::Unsqueeze>(rewriter_, {slice, rewriter_.ConstantInts({0})}, {});
      if (!row) return false;
      slices_[i].push_back(row.result());
    }
    return true;
  }

  const Operation loop_;
  const ir::Block body_;
  const Operation end_;
  const uint32_t num_carried_;
  ir::Rewriter& rewriter_;
  std::vector<std::vector<Value>> slices_;  // of each scan output
};

// Operations that hold a body, inner ones first.
template <class Hold>
std::vector<Operation> BodyHolders(ir::Program& program, Hold&& holds) {
  std::vector<Operation> found;
  ir::Walk(program, [&](Operation op) {
    if (op.num_regions() == 1 && holds(op)) found.push_back(op);
  });
  std::reverse(found.begin(), found.end());
  return found;
}

class LoopUnrolling : public Pass {
 public:
  LoopUnrolling()
      : Pass("loop-unrolling", "replaces a loop of few known steps by what the steps compute") {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    TracedRewriter rewriter(program, trace_);
    bool changed = false;
    for (const Operation op : BodyHolders(program, [](Operation it) { return it.Is<Loop>(); })) {
      const std::optional<int64_t> steps = NumSteps(op);
      const std::optional<int64_t> size = NumOperations(op.region(0).front());
      if (!steps || !size || *steps * *size > kMostUnrolled) continue;
      if (rewriter.AtLimit()) break;
      rewriter.Begin("unroll", op);
      if (!Unroller(op, rewriter).Run(*steps)) continue;
      rewriter.Commit();
      Count("loops unrolled");
      MarkChanged();
      changed = true;
    }
    // A reader of the last step may know more than one of the loop. Where that does not fit, the error
    // belongs to run time, and types stay what they are.
    if (changed && ir::PropagateTypes(*program.Clone()).ok())
      ir::PropagateTypes(program).IgnoreError();
    return absl::OkStatus();
  }

 private:
  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(LoopUnrolling);

template <class... Os>
bool IsOneOf(Operation op) {
  return (op.Is<Os>() || ...);
}

// Whether inference has seen the integers: it refuses indices, sizes and axes that do not fit.
bool IsSeenByInference(Value integers) {
  const auto entries = ir::EvaluateShapeValue(integers);
  return entries && std::ranges::all_of(*entries, &ir::ShapeEntry::is_number);
}

// Whether it runs on the integers that its operands are, which are constants. What inference does not look
// at, such as the indices of GatherElements, may be wrong.
bool RunsOnIntegers(Operation op) {
  namespace ops = ir::ops;
  if (IsOneOf<ops::Div, ops::Mod, ir::pd::Divide>(op)) {
    const auto divisors = ir::ConstantInts(op.operand(1));
    return divisors && std::ranges::find(*divisors, 0) == divisors->end();
  }
  if (op.HasTrait(ir::kElementwise) || IsOneOf<ops::QuantizeLinear, ops::DequantizeLinear>(op))
    return true;
  if (!IsOneOf<ops::Expand, ops::Gather, ops::ReduceMax, ops::ReduceMean, ops::ReduceMin,
               ops::ReduceProd, ops::ReduceSum, ops::Reshape, ops::Slice, ops::Split, ops::Squeeze,
               ops::Tile, ops::TopK, ops::Unsqueeze>(op))
    return false;
  for (uint32_t i = 1; i < op.num_operands(); ++i)
    if (op.HasOperand(i) && !IsSeenByInference(op.operand(i))) return false;
  return true;
}

// Whether it runs on whatever it is given: shapes are known, and integers, which may be indices, sizes
// or divisors, are constants that it runs on. Compress and MaxRoiPool are told places in other types.
bool CannotFail(Operation op) {
  if (op.Is<ir::ops::Shape>()) return true;
  if (IsOneOf<ir::ops::Compress, ir::ops::MaxRoiPool>(op)) return false;
  bool has_integers = false;
  for (const Value operand : op.operands()) {
    if (!operand) continue;
    const ir::Type type = operand.type();
    if (!type.IsStatic()) return false;
    if (ir::IsFloat(type.dtype()) || type.dtype() == ir::DataType::kBool) continue;
    if (type.dtype() == ir::DataType::kString || !ir::IsConstant(operand)) return false;
    has_integers = true;
  }
  return (!has_integers || RunsOnIntegers(op)) &&
         std::all_of(op.results().begin(), op.results().end(),
                     [](Value result) { return result.type().IsStatic(); });
}

class LoopInvariantCodeMotion : public Pass {
 public:
  LoopInvariantCodeMotion()
      : Pass("loop-invariant-code-motion", "computes before a loop what is the same in each step") {
  }

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    TracedRewriter rewriter(program, trace_);
    for (const Operation loop : BodyHolders(
             program, [](Operation it) { return it.Is<Loop>() || it.Is<ir::ops::Scan>(); })) {
      const ir::Block body = loop.region(0).front();
      for (Operation op = body.front(), next; op; op = next) {
        next = op.next();
        if (rewriter.AtLimit()) return absl::OkStatus();
        if (!IsInvariant(op, body)) continue;
        rewriter.Begin("hoist", op);
        rewriter.MoveBefore(op, loop);
        rewriter.Commit();
        Count("operations hoisted");
        MarkChanged();
      }
    }
    return absl::OkStatus();
  }

 private:
  static bool IsInvariant(Operation op, ir::Block body) {
    if (op.num_regions() > 0 || op.num_results() == 0 || !op.HasTrait(ir::kPure) ||
        op.HasTrait(ir::kRandom))
      return false;
    for (const Value operand : op.operands())
      if (operand && operand.ParentBlock() == body) return false;
    return op.HasTrait(ir::kConstantLike) || CannotFail(op);
  }

  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(LoopInvariantCodeMotion);

}  // namespace
}  // namespace weft::passes
