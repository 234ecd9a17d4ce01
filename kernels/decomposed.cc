#include "kernels/decomposed.h"

#include <utility>

#include "ir/builder.h"
#include "kernels/plan.h"

namespace weft::kernels {
namespace {

class DecomposedKernel final : public Kernel {
 public:
  explicit DecomposedKernel(std::unique_ptr<Plan> plan) : plan_(std::move(plan)) {}
  absl::Status Run(const KernelArgs& args) override {
    inputs_.clear();
    for (const TensorView& input : args.inputs)
      if (input) inputs_.push_back(input);
    return plan_->Run(inputs_, args.outputs);
  }
  std::string_view name() const override { return "reference, decomposed"; }

 private:
  std::unique_ptr<Plan> plan_;
  std::vector<TensorView> inputs_;  // those given
};

// A program of the op's body alone.
std::unique_ptr<ir::Program> MakeBody(const KernelContext& context) {
  const ir::Operation op = context.op();
  auto program = std::make_unique<ir::Program>(op.context());
  ir::Builder builder(program.get());
  std::vector<ir::Value> operands;
  for (size_t i = 0; i < context.num_inputs(); ++i)
    operands.push_back(context.HasInput(i)
                           ? builder.AddInput("x" + std::to_string(i), context.input_type(i))
                           : ir::Value());
  const std::vector<ir::Value> results = op.def()->decompose(builder, operands, op.attrs());
  std::vector<std::pair<std::string, ir::Value>> outputs;
  for (size_t i = 0; i < results.size(); ++i)
    outputs.emplace_back("y" + std::to_string(i), results[i]);
  builder.Return(std::move(outputs));
  return program;
}

}  // namespace

bool CanDecompose(ir::Operation op) { return op.def() && op.def()->decompose; }

absl::StatusOr<std::unique_ptr<Kernel>> MakeDecomposed(const KernelContext& context) {
  const PlanResources resources{
      .providers = {"reference"}, .pool = &context.pool(), .packed = &context.packed()};
  auto plan = Plan::Create(MakeBody(context), resources);
  if (!plan.ok()) return ir::Annotate(plan.status(), context.op().name());
  if ((*plan)->output_types().size() != context.num_results())
    return context.Unsupported("the reference body has another number of results");
  for (size_t i = 0; i < context.num_results(); ++i) {
    if ((*plan)->output_types()[i] != context.result_type(i))
      return context.InvalidArgument("the reference body gives " +
                                     (*plan)->output_types()[i].ToString() + ", expected " +
                                     context.result_type(i).ToString());
  }
  return std::make_unique<DecomposedKernel>(*std::move(plan));
}

}  // namespace weft::kernels
