#include "kernels/runtime/segment.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <unordered_map>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/infer.h"
#include "ir/origin/origin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "kernels/runtime/dense_tensor.h"
#include "kernels/runtime/evaluator.h"
#include "kernels/runtime/registry.h"
#include "kernels/runtime/specialize.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

bool AreInPlans(const auto&... values) {
  const auto is_in_plans = [](ir::Value v) { return !v || IsInPlans(v.type()); };
  return (std::all_of(values.begin(), values.end(), is_in_plans) && ...);
}

bool HasKnownSizes(ir::Operation op) {
  return AreInPlans(op.operands(), op.results()) &&
         std::all_of(op.results().begin(), op.results().end(),
                     [](ir::Value value) { return value.type().IsStatic(); });
}

// Whether operand i may say how large the results are, and so becomes a constant: those that are no
// data, if there are any to learn; else those that are short.
bool IsLearnable(ir::Operation op, uint32_t i, bool short_ones) {
  const ir::Value value = op.operand(i);
  if (!value || ir::ConstantValue(value) || !value.type().IsStatic()) return false;
  if (value.type().NumBytes() > Segment::kMaxLearnedBytes ||
      ir::ElementSize(value.type().dtype()) == 0)
    return false;
  if (short_ones) return value.type().rank() <= 1 && value.type().NumElements() <= 64;
  return op.def() && i < 32 && (op.def()->info->data >> i & 1) == 0;
}
std::vector<uint32_t> LearnableOperands(ir::Operation op) {
  std::vector<uint32_t> operands;
  for (const bool short_ones : {false, true}) {
    for (uint32_t i = 0; i < op.num_operands(); ++i)
      if (IsLearnable(op, i, short_ones)) operands.push_back(i);
    if (!operands.empty()) break;
  }
  return operands;
}

std::vector<ir::Operation> OpsOf(ir::Program& program) {
  std::vector<ir::Operation> ops;
  for (const ir::Operation op : program.body()) ops.push_back(op);
  return ops;
}

// The operands of an op, and what its regions read from outside.
std::vector<ir::Value> ValuesRead(ir::Operation op) {
  std::vector<ir::Value> values = op.operands().vec();
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    ir::Walk(op.region(i), [&](ir::Operation inner) {
      for (const ir::Value v : inner.operands())
        if (v && v.ParentBlock() == op.block()) values.push_back(v);
    });
  return values;
}

bool IsConstantOp(ir::Operation op) {
  return op.num_results() == 1 && ir::ConstantValue(op.result());
}

}  // namespace

bool HasKnownSizes(ir::Program& program) {
  const ir::Block body = program.body();
  return AreInPlans(body.arguments()) &&
         std::all_of(body.begin(), body.end(), [](ir::Operation op) { return HasKnownSizes(op); });
}

// --- where a program is cut -----------------------------------------------------------------------

// Ops by their place in the body, values by number: the program's inputs, what its planned ops give
// away, results of dynamic ops.
struct Segment::Cut {
  enum class Role { kConstant, kPlanned, kDynamic, kWaiting, kReturn };
  std::vector<Role> roles;
  std::vector<ir::Operation> ops;
  bool is_progress = false;  // whether a value that somebody waits for will be known
  std::vector<ir::Value> values;
  size_t num_inputs = 0, num_planned = 0;                // of values
  std::unordered_map<uint32_t, size_t> number_of_value;  // looked up only
  std::unordered_map<uint32_t, bool> needed_by_rest;     // by value; whether it is learned

  Cut(ir::Program& program, const std::vector<std::string>& providers);

 private:
  Role RoleOf(ir::Operation op, const std::vector<std::string>& providers);
  void Add(ir::Value value) {
    number_of_value.emplace(value.id(), values.size());
    values.push_back(value);
  }
  std::unordered_map<uint32_t, bool> ready_;  // values that this segment plans
  // Results of its dynamic ops whose types are known all the same: sequences, tensors of strings and
  // those of static type. Other dynamic ops may read them.
  std::unordered_map<uint32_t, bool> given_;
};

Segment::Cut::Role Segment::Cut::RoleOf(ir::Operation op,
                                        const std::vector<std::string>& providers) {
  if (op.Is<ir::ReturnOp>()) return Role::kReturn;
  if (IsConstantOp(op)) return Role::kConstant;
  bool reads_given = false;
  for (const ir::Value v : ValuesRead(op)) {
    if (!v || ir::ConstantValue(v) || ready_.count(v.id())) continue;
    if (!given_.count(v.id())) return Role::kWaiting;
    reads_given = true;
  }
  const std::string provider = StepProvider(op, providers);
  if (reads_given && !KernelHas(op.opcode(), provider, kTakesSequences)) return Role::kWaiting;
  if (!reads_given && HasKnownSizes(op)) return Role::kPlanned;
  if (provider.empty()) {
    for (const uint32_t i : LearnableOperands(op)) {
      needed_by_rest[op.operand(i).id()] = true;
      is_progress = true;
    }
    return Role::kWaiting;
  }
  is_progress = true;
  return Role::kDynamic;
}

Segment::Cut::Cut(ir::Program& program, const std::vector<std::string>& providers)
    : ops(OpsOf(program)) {
  for (const ir::Value v : program.body().arguments()) {
    ready_[v.id()] = true;
    Add(v);
  }
  num_inputs = values.size();
  std::unordered_map<uint32_t, bool> needed;  // by others than planned ops
  for (const ir::Operation op : ops) {
    const Role role = roles.emplace_back(RoleOf(op, providers));
    if (role == Role::kPlanned)
      for (const ir::Value v : op.results()) ready_[v.id()] = true;
    if (role == Role::kDynamic)
      for (const ir::Value v : op.results())
        if (v.type().HasElement() || HoldsStrings(v.type()) || v.type().IsStatic())
          given_[v.id()] = true;
    if (role == Role::kPlanned || role == Role::kConstant) continue;
    for (const ir::Value v : ValuesRead(op)) {
      if (!v || ir::ConstantValue(v)) continue;
      needed[v.id()] = true;
      if (role != Role::kDynamic) needed_by_rest.emplace(v.id(), false);
    }
  }
  for (const Role wanted : {Role::kPlanned, Role::kDynamic}) {
    for (size_t i = 0; i < ops.size(); ++i)
      for (const ir::Value v : ops[i].results())
        if (roles[i] == wanted && (wanted == Role::kDynamic || needed.count(v.id()))) Add(v);
    if (wanted == Role::kPlanned) num_planned = values.size() - num_inputs;
  }
}

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
  const Cut cut(*program, resources.providers);
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
    if (cut.roles[i] == Cut::Role::kDynamic || cut.roles[i] == Cut::Role::kWaiting)
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

absl::Status Segment::AddSteps(const Cut& cut) {
  for (size_t at = 0; at < cut.ops.size(); ++at)
    if (cut.roles[at] == Cut::Role::kDynamic) WEFT_RETURN_IF_ERROR(AddStep(cut, cut.ops[at]));
  return absl::OkStatus();
}

absl::Status Segment::AddStep(const Cut& cut, ir::Operation op) {
  const std::string provider = StepProvider(op, resources_.providers);
  DynamicStep dynamic;
  Step& step = dynamic.step;
  step.op = op.name();
  step.location = ir::DescribeOrigin(op);
  step.provider = provider;
  dynamic.runs_on_values = KernelHas(op.opcode(), provider, kTakesSequences);
  std::vector<ir::Type> input_types;
  std::vector<ir::Attribute> constants;
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    const ir::Value v = op.operand(i);
    input_types.push_back(v ? v.type() : ir::Type());
    constants.push_back(ir::ConstantValue(v));
    Source& source = dynamic.operands.emplace_back();
    if (!v) continue;
    if (!dynamic.runs_on_values || IsInPlans(v.type()))
      WEFT_RETURN_IF_ERROR(CheckRunnable(v.type(), op, "operand", i));
    if (constants.back()) {
      WEFT_ASSIGN_OR_RETURN(Tensor copy, TensorOf(constants.back()));
      source.constant = RuntimeValue::Of(std::move(copy));
    } else {
      source.value = static_cast<int>(cut.number_of_value.at(v.id()));
    }
  }
  for (const ir::Value v : op.results()) dynamic.result_types.push_back(v.type());
  KernelContext context(op, std::move(input_types), dynamic.result_types, std::move(constants),
                        resources_.pool, resources_.packed);
  if (op.num_regions() > 0) context.set_providers(resources_.providers);
  auto chosen = MakeKernel(context, {provider});
  if (!chosen.ok())
    return step.location.empty() ? chosen.status() : ir::Annotate(chosen.status(), step.location);
  step.kernel = std::move(chosen->kernel);
  steps_.push_back(std::move(dynamic));
  return absl::OkStatus();
}

// The ops that wait, as a program whose inputs are the values that they and the outputs need.
absl::Status Segment::MakeRest(const Cut& cut, const ir::Program& program) {
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
    if (cut.roles[i] == Cut::Role::kPlanned || cut.roles[i] == Cut::Role::kDynamic)
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

absl::StatusOr<Segment::Values> Segment::RunKernel(const DynamicStep& dynamic,
                                                   const KernelArgs& args) {
  Kernel& kernel = *dynamic.step.kernel;
  if (dynamic.runs_on_values) return kernel.RunValues(args);
  Values results;
  WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, kernel.RunDynamic(args));
  for (Tensor& tensor : tensors) results.push_back(RuntimeValue::Of(std::move(tensor)));
  return results;
}

absl::StatusOr<Segment::Values> Segment::RunStep(DynamicStep& dynamic, const Values& values) {
  Step& step = dynamic.step;
  Values operands;
  std::vector<TensorView> views;
  for (const Source& source : dynamic.operands) {
    operands.push_back(source.value >= 0 ? values[static_cast<size_t>(source.value)]
                                         : source.constant);
    views.push_back(operands.back().view);
  }
  const AlignedBytes scratch(step.kernel->scratch_bytes());
  if (scratch.data() == nullptr) return absl::ResourceExhaustedError("not enough memory");
  KernelArgs args{views, {}, scratch.data(), resources_.pool};
  if (dynamic.runs_on_values) args.values = operands;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  WEFT_ASSIGN_OR_RETURN(Values results, RunKernel(dynamic, args));
  if (resources_.profile) {
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    step.nanoseconds += time.count();
    ++step.runs;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const ir::Type stated = dynamic.result_types[i];
    if (stated && !Fits(results[i], stated, *stated.context()))
      return ir::InvalidArgument("result " + std::to_string(i) + " is " +
                                 TypeOf(results[i], {}, *stated.context()).ToString() +
                                 " but the program says " + stated.ToString());
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
    const std::string& location = dynamic.step.location;
    if (parts != nullptr) parts->push_back({.step = &dynamic.step});
    auto results = RunStep(dynamic, values);
    if (!results.ok())
      return location.empty() ? results.status() : ir::Annotate(results.status(), location);
    add(*std::move(results));
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
