#include "kernels/runtime/segments/dynamic_step.h"

#include <chrono>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/origin/origin.h"
#include "kernels/runtime/dense_tensor.h"
#include "kernels/runtime/registry.h"
#include "kernels/runtime/value_type.h"

namespace weft::kernels {
namespace {

absl::Status At(const std::string& location, const absl::Status& status) {
  return location.empty() ? status : ir::Annotate(status, location);
}

}  // namespace

absl::Status DynamicStep::AddOperand(const ProgramCut& cut, ir::Operation op, uint32_t i) {
  Source& source = operands_.emplace_back();
  const ir::Value v = op.operand(i);
  if (!v) return absl::OkStatus();
  if (!takes_sequences_ || IsInPlans(v.type()))
    WEFT_RETURN_IF_ERROR(CheckRunnable(v.type(), op, "operand", i));
  if (const ir::Attribute dense = ir::ConstantValue(v)) {
    WEFT_ASSIGN_OR_RETURN(Tensor copy, TensorOf(dense));
    source.constant = RuntimeValue::Of(std::move(copy));
  } else {
    source.value = static_cast<int>(cut.number_of_value.at(v.id()));
  }
  return absl::OkStatus();
}

absl::StatusOr<DynamicStep> DynamicStep::Create(const ProgramCut& cut, ir::Operation op,
                                                const PlanResources& resources) {
  DynamicStep dynamic;
  Step& step = dynamic.step_;
  step.op = op.name();
  step.location = ir::DescribeOrigin(op);
  step.provider = StepProvider(op, resources.providers);
  dynamic.takes_sequences_ = KernelHas(op.opcode(), step.provider, kTakesSequences);
  std::vector<ir::Type> input_types;
  std::vector<ir::Attribute> constants;
  for (uint32_t i = 0; i < op.num_operands(); ++i) {
    WEFT_RETURN_IF_ERROR(dynamic.AddOperand(cut, op, i));
    const ir::Value v = op.operand(i);
    input_types.push_back(v ? v.type() : ir::Type());
    constants.push_back(ir::ConstantValue(v));
  }
  for (const ir::Value v : op.results()) dynamic.result_types_.push_back(v.type());
  KernelContext context(op, std::move(input_types), dynamic.result_types_, std::move(constants),
                        resources.pool, resources.packed);
  if (op.num_regions() > 0) context.set_providers(resources.providers);
  auto chosen = MakeKernel(context, {step.provider});
  if (!chosen.ok()) return At(step.location, chosen.status());
  step.kernel = std::move(chosen->kernel);
  return dynamic;
}

absl::StatusOr<std::vector<RuntimeValue>> DynamicStep::RunKernel(const KernelArgs& args) {
  if (takes_sequences_) return step_.kernel->RunValues(args);
  std::vector<RuntimeValue> results;
  WEFT_ASSIGN_OR_RETURN(std::vector<Tensor> tensors, step_.kernel->RunDynamic(args));
  for (Tensor& tensor : tensors) results.push_back(RuntimeValue::Of(std::move(tensor)));
  return results;
}

absl::StatusOr<std::vector<RuntimeValue>> DynamicStep::RunUnlocated(
    const std::vector<RuntimeValue>& values, const PlanResources& resources) {
  std::vector<RuntimeValue> operands;
  std::vector<TensorView> views;
  for (const Source& source : operands_) {
    operands.push_back(source.value >= 0 ? values[static_cast<size_t>(source.value)]
                                         : source.constant);
    views.push_back(operands.back().view);
  }
  const AlignedBytes scratch(step_.kernel->scratch_bytes());
  if (scratch.data() == nullptr) return absl::ResourceExhaustedError("not enough memory");
  KernelArgs args{views, {}, scratch.data(), resources.pool};
  if (takes_sequences_) args.values = operands;
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> results, RunKernel(args));
  if (resources.profile) {
    const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin);
    step_.nanoseconds += time.count();
    ++step_.runs;
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const ir::Type stated = result_types_[i];
    if (stated && !Fits(results[i], stated, *stated.context()))
      return ir::InvalidArgument("result " + std::to_string(i) + " is " +
                                 TypeOf(results[i], {}, *stated.context()).ToString() +
                                 " but the program says " + stated.ToString());
  }
  return results;
}

absl::StatusOr<std::vector<RuntimeValue>> DynamicStep::Run(const std::vector<RuntimeValue>& values,
                                                           const PlanResources& resources) {
  auto results = RunUnlocated(values, resources);
  if (!results.ok()) return At(step_.location, results.status());
  return results;
}

}  // namespace weft::kernels
