#include "kernels/runtime/segments/segment.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "kernels/runtime/dense_tensor.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/specialize.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {

// --- making a segment -------------------------------------------------------------------------------

Segment::~Segment() = default;

absl::StatusOr<std::unique_ptr<Segment>> Segment::Create(std::unique_ptr<ir::Program> program,
                                                         const PlanResources& resources,
                                                         int number) {
  std::unique_ptr<Segment> segment(new Segment(resources, number));
  for (const ir::Value v : program->body().arguments()) segment->input_types_.push_back(v.type());
  if (number >= kMaxSegments)
    return ir::Unsupported("more than " + std::to_string(kMaxSegments) +
                           " ops in a row wait for the values of others to know their sizes");
  const ProgramCut cut(*program, resources.providers);
  if (HasKnownSizes(*program) || !cut.is_progress) {  // then the plan says what is in its way
    WEFT_RETURN_IF_ERROR(segment->MakeLastPlan(std::move(program)));
    return segment;
  }
  WEFT_RETURN_IF_ERROR(segment->AddSteps(cut));
  WEFT_RETURN_IF_ERROR(segment->MakeRest(cut, *program));
  if (cut.num_planned == 0) return segment;
  ir::Rewriter rewriter(program.get());
  rewriter.SetOperands(
      cut.ops.back(),
      {cut.values.begin() + static_cast<std::ptrdiff_t>(cut.num_inputs),
       cut.values.begin() + static_cast<std::ptrdiff_t>(cut.num_inputs + cut.num_planned)});
  for (size_t i = cut.ops.size(); i-- > 0;)
    if (cut.roles[i] == ProgramCut::Role::kDynamic || cut.roles[i] == ProgramCut::Role::kWaiting)
      rewriter.Erase(cut.ops[i]);
  WEFT_RETURN_IF_ERROR(segment->MakePlan(std::move(program)));
  return segment;
}

// Plans a program that reads none of its inputs and constants that no plan holds.
absl::Status Segment::MakePlan(std::unique_ptr<ir::Program> program) {
  ir::Rewriter rewriter(program.get());
  for (const ir::Operation op : OpsOf(*program))
    if (IsConstantOp(op) && !IsInPlans(op.result().type())) rewriter.Erase(op);
  for (uint32_t i = program->body().num_arguments(); i-- > 0;) {
    if (IsInPlans(program->body().argument(i).type())) {
      plan_inputs_.push_back(i);
    } else {
      rewriter.EraseArgument(program->body(), i);
    }
  }
  std::reverse(plan_inputs_.begin(), plan_inputs_.end());
  WEFT_ASSIGN_OR_RETURN(plan_, Plan::Create(std::move(program), resources_));
  return absl::OkStatus();
}

// Outputs that no plan holds are inputs or constants, unless an op is in the way.
absl::Status Segment::MakeLastPlan(std::unique_ptr<ir::Program> program) {
  const std::vector<ir::Operation> ops = OpsOf(*program);
  const auto stuck = std::find_if(ops.begin(), ops.end(), [](ir::Operation op) {
    return !op.Is<ir::ReturnOp>() && !IsConstantOp(op) && !AreInPlans(op.operands(), op.results());
  });
  if (stuck != ops.end())
    return ir::Unsupported(
        std::string(stuck->name()) + ": no kernel runs this op on " +
        (HandlesStrings(*stuck) ? "tensors of strings" : "sequences or optionals"));
  std::vector<ir::Value> tensors;
  for (const ir::Value v : ops.back().operands()) {
    Output& output = outputs_.emplace_back();
    if (IsInPlans(v.type())) {
      output.number = tensors.size();
      tensors.push_back(v);
    } else if (const ir::Attribute dense = ir::ConstantValue(v)) {
      WEFT_ASSIGN_OR_RETURN(Tensor constant, TensorOf(dense));
      output.constant = RuntimeValue::Of(std::move(constant));
    } else {
      output.is_input = true;
      output.number = v.index();
    }
  }
  ir::Rewriter(program.get()).SetOperands(ops.back(), tensors);
  return MakePlan(std::move(program));
}

absl::Status Segment::AddSteps(const ProgramCut& cut) {
  for (size_t at = 0; at < cut.ops.size(); ++at) {
    if (cut.roles[at] != ProgramCut::Role::kDynamic) continue;
    WEFT_ASSIGN_OR_RETURN(DynamicStep step, DynamicStep::Create(cut, cut.ops[at], resources_));
    steps_.push_back(std::move(step));
  }
  return absl::OkStatus();
}

// The ops that wait, as a program whose inputs are the values that they and the outputs need.
absl::Status Segment::MakeRest(const ProgramCut& cut, const ir::Program& program) {
  rest_ = program.Clone();
  const std::vector<ir::Operation> ops = OpsOf(*rest_);
  if (ops.size() != cut.ops.size()) return absl::InternalError("a copy has other ops");
  ir::Rewriter rewriter(rest_.get());
  std::vector<ir::Value> copies;
  std::unordered_map<uint32_t, ir::Value> copy_of;
  for (size_t i = 0; i < ops.size(); ++i)
    for (uint32_t r = 0; r < ops[i].num_results(); ++r)
      copy_of[cut.ops[i].result(r).id()] = ops[i].result(r);
  for (size_t i = 0; i < cut.values.size(); ++i) {
    const auto needed = cut.needed_by_rest.find(cut.values[i].id());
    if (needed == cut.needed_by_rest.end()) continue;
    rest_inputs_.push_back(i);
    learned_.push_back(needed->second);
    if (i < cut.num_inputs) continue;
    const ir::Value from = copy_of.at(cut.values[i].id());
    rewriter.ReplaceAllUses(from, rewriter.AddArgument(rest_->body(), from.type()));
  }
  for (size_t i = ops.size(); i-- > 0;)
    if (cut.roles[i] == ProgramCut::Role::kPlanned || cut.roles[i] == ProgramCut::Role::kDynamic)
      rewriter.Erase(ops[i]);
  for (size_t i = cut.num_inputs; i-- > 0;)
    if (!cut.needed_by_rest.count(cut.values[i].id()))
      rewriter.EraseArgument(rest_->body(), static_cast<uint32_t>(i));
  return absl::OkStatus();
}

// --- running ------------------------------------------------------------------------------------------

absl::StatusOr<std::vector<RuntimeValue>> Segment::Run(std::span<const RuntimeValue> inputs,
                                                       std::vector<RunPart>* parts) {
  Values live(inputs.begin(), inputs.end());
  Segment* segment = this;
  while (segment->rest_ != nullptr) {
    WEFT_ASSIGN_OR_RETURN(live, segment->RunPlanAndSteps(live, parts));
    WEFT_ASSIGN_OR_RETURN(segment, segment->FindNext(live));
  }
  return segment->RunLast(live, parts);
}

absl::StatusOr<Segment::Values> Segment::RunPlan(const Values& inputs,
                                                 std::vector<RunPart>* parts) {
  std::vector<TensorView> input_views, output_views;
  for (const size_t i : plan_inputs_) input_views.push_back(inputs[i].view);
  Values outputs;
  for (const ir::Type type : plan_->output_types()) {
    WEFT_ASSIGN_OR_RETURN(Tensor output, Tensor::Uninitialized(type.dtype(), type.shape()));
    outputs.push_back(RuntimeValue::Of(std::move(output)));
    output_views.push_back(outputs.back().view);
  }
  if (parts != nullptr) parts->push_back({.plan = plan_.get()});
  WEFT_RETURN_IF_ERROR(plan_->Run(input_views, output_views));
  return outputs;
}

absl::StatusOr<Segment::Values> Segment::RunLast(const Values& inputs,
                                                 std::vector<RunPart>* parts) {
  WEFT_ASSIGN_OR_RETURN(Values planned, RunPlan(inputs, parts));
  Values results;
  for (const Output& output : outputs_) {
    if (output.constant)
      results.push_back(output.constant);
    else if (output.is_input)
      results.push_back(inputs[output.number]);
    else
      results.push_back(std::move(planned[output.number]));
  }
  return results;
}

absl::StatusOr<Segment::Values> Segment::RunPlanAndSteps(const Values& inputs,
                                                         std::vector<RunPart>* parts) {
  Values values = inputs;
  const auto add = [&](Values results) {
    std::move(results.begin(), results.end(), std::back_inserter(values));
  };
  if (plan_ != nullptr) {
    WEFT_ASSIGN_OR_RETURN(Values results, RunPlan(inputs, parts));
    add(std::move(results));
  }
  for (DynamicStep& dynamic : steps_) {
    if (parts != nullptr) parts->push_back({.step = &dynamic.step()});
    WEFT_ASSIGN_OR_RETURN(Values results, dynamic.Run(values, resources_));
    add(std::move(results));
  }
  Values kept;
  for (const size_t i : rest_inputs_) kept.push_back(values[i]);
  return kept;
}

// --- the next segment ---------------------------------------------------------------------------------

absl::StatusOr<Segment*> Segment::FindNext(const Values& inputs) {
  Next wanted;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ir::Type stated = rest_->body().argument(static_cast<uint32_t>(i)).type();
    wanted.types.push_back(TypeOf(inputs[i], stated, *rest_->context()));
    const TensorView& view = inputs[i].view;
    if (learned_[i])
      wanted.learned.insert(wanted.learned.end(), view.data, view.data + view.NumBytes());
  }
  const auto found = std::find_if(next_.begin(), next_.end(), [&](const Next& next) {
    return next.types == wanted.types && next.learned == wanted.learned;
  });
  if (found != next_.end()) {
    std::rotate(found, found + 1, next_.end());
    return next_.back().segment.get();
  }
  WEFT_ASSIGN_OR_RETURN(wanted.segment, MakeNext(inputs, wanted.types));
  while (!next_.empty() && (next_.size() >= MaxNext(number_) || NextBytes() > kMostNextBytes))
    next_.erase(next_.begin());
  next_.push_back(std::move(wanted));
  return next_.back().segment.get();
}

absl::StatusOr<std::unique_ptr<Segment>> Segment::MakeNext(
    const Values& inputs, const std::vector<ir::Type>& types) const {
  auto own = std::make_unique<PackedWeights>(resources_.packed);
  std::unique_ptr<ir::Program> program = rest_->Clone();
  ir::Rewriter rewriter(program.get());
  rewriter.SetInsertionPointToStart(program->body());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!learned_[i]) continue;
    const TensorView& view = inputs[i].view;
    const ir::Value constant =
        rewriter.Constant(own->AdoptCopy(types[i], {view.data, view.NumBytes()}));
    rewriter.ReplaceAllUses(program->body().argument(static_cast<uint32_t>(i)), constant);
  }
  KernelEvaluator evaluator(resources_.providers, resources_.pool, own.get());
  WEFT_RETURN_IF_ERROR(Specialize(*program, types, evaluator, kFoldForSegment));
  own->KeepConstantsOf(*program);
  for (const ir::Operation op : program->body()) {
    for (const ir::Value v : op.results()) {
      const bool is_weight = op.HasTrait(ir::kConstantLike);
      if (is_weight || v.type().NumBytes() <= static_cast<int64_t>(kMaxDynamicBytes)) continue;
      const std::string place =
          op.location().empty() ? "" : std::string(op.location().str()) + ": ";
      return ir::InvalidArgument(place + std::string(op.name()) + ": a result of type " +
                                 v.type().ToString() + " would take more than " +
                                 std::to_string(kMaxDynamicBytes >> 30) + " GiB");
    }
  }
  PlanResources resources = resources_;
  resources.packed = own.get();
  WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Segment> next,
                        Create(std::move(program), resources, number_ + 1));
  next->own_ = std::move(own);
  return next;
}

size_t Segment::NextBytes() const {
  size_t bytes = 0;
  for (const Next& next : next_) bytes += next.segment->arena_bytes();
  return bytes;
}

size_t Segment::arena_bytes() const {
  return (plan_ != nullptr ? plan_->arena_bytes() : 0) + NextBytes();
}

}  // namespace weft::kernels
