#include "kernels/runtime/decomposed.h"

#include <utility>

#include "ir/analysis/reference_body.h"
#include "kernels/runtime/plan.h"
#include "kernels/runtime/plans_while_running.h"

namespace weft::kernels {
namespace {

class BodyKernel final : public Kernel, public PlansWhileRunning {
 public:
  // `operands` are the numbers of those that are inputs of the plan.
  BodyKernel(std::string_view name, std::unique_ptr<Plan> plan, std::vector<size_t> operands)
      : name_(name),
        plan_(std::move(plan)),
        operands_(std::move(operands)),
        inputs_(operands_.size()) {}
  absl::Status Run(const KernelArgs& args) override {
    for (size_t i = 0; i < operands_.size(); ++i) inputs_[i] = args.inputs[operands_[i]];
    return plan_->Run(inputs_, args.outputs);
  }
  std::string_view name() const override { return name_; }
  bool Reads(size_t operand) const override {
    return std::find(operands_.begin(), operands_.end(), operand) != operands_.end();
  }
  bool plans_while_running() const override { return plan_->plans_while_running(); }

 private:
  const std::string_view name_;
  const std::unique_ptr<Plan> plan_;
  const std::vector<size_t> operands_;
  std::vector<TensorView> inputs_;
};

// The op's operands as constants, where they are known, and inputs of a program; `inputs`: the numbers of those.
std::vector<ir::Value> AddOperands(const KernelContext& context, ir::Builder& builder,
                                   std::vector<size_t>* inputs) {
  std::vector<ir::Value> operands;
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    if (!context.HasInput(i)) {
      operands.emplace_back();
    } else if (context.constant(i)) {
      operands.push_back(builder.Constant(context.constant(i)));
    } else {
      operands.push_back(builder.AddInput("x" + std::to_string(i), context.input_type(i)));
      inputs->push_back(i);
    }
  }
  return operands;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeFromBody(const KernelContext& context,
                                                     std::string_view name,
                                                     std::vector<std::string> providers,
                                                     const BuildBody& build) {
  auto program = std::make_unique<ir::Program>(context.op().context());
  ir::Builder builder(program.get());
  std::vector<size_t> inputs;
  const std::vector<ir::Value> operands = AddOperands(context, builder, &inputs);
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (const ir::Value result : build(builder, operands))
    outputs.emplace_back("y" + std::to_string(outputs.size()), result);
  builder.Return(std::move(outputs));

  const PlanResources resources{
      .providers = std::move(providers), .pool = &context.pool(), .packed = &context.packed()};
  auto plan = Plan::Create(std::move(program), resources);
  if (!plan.ok()) return ir::Annotate(plan.status(), context.op().name());
  if ((*plan)->output_types().size() != context.num_results())
    return context.Unsupported("its body has another number of results");
  for (size_t i = 0; i < context.num_results(); ++i) {
    if ((*plan)->output_types()[i] != context.result_type(i))
      return context.InvalidArgument("its body gives " + (*plan)->output_types()[i].ToString() +
                                     ", expected " + context.result_type(i).ToString());
  }
  return std::make_unique<BodyKernel>(name, *std::move(plan), std::move(inputs));
}

std::string ResultWithoutBody(const KernelContext& context) {
  const ir::Operation op = context.op();
  const size_t wanted = op.num_results();
  if (!op.def()->decompose || wanted < 2 || wanted > op.def()->info->results.size()) return "";
  for (size_t i = 0; i < context.num_inputs(); ++i)
    if (!context.HasInput(i) && op.HasOperand(static_cast<uint32_t>(i))) return "";  // of no type
  for (size_t count = wanted; count > 0; --count) {
    ir::Program program(op.context());
    ir::Builder builder(&program);
    std::vector<size_t> inputs;
    const std::vector<ir::Value> operands = AddOperands(context, builder, &inputs);
    if (ir::BuildReferenceBody(builder, op, operands, count).size() != count) continue;
    return count == wanted ? "" : std::string(op.def()->info->results[count].name);
  }
  return "";
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeDecomposed(const KernelContext& context) {
  const ir::Operation op = context.op();
  auto kernel = MakeFromBody(context, "reference, decomposed", {"reference"},
                             [&](ir::Builder& builder, std::span<const ir::Value> operands) {
                               return ir::BuildReferenceBody(builder, op, operands);
                             });
  if (absl::IsUnimplemented(kernel.status()))
    if (const std::string result = ResultWithoutBody(context); !result.empty())
      return context.Unsupported("no kernel computes its result " + result);
  return kernel;
}

}  // namespace weft::kernels
