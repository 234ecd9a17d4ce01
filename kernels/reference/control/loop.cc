#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "ir/dialects/onnx/control.h"
#include "kernels/reference/control/control.h"
#include "kernels/runtime/isolate.h"

namespace weft::kernels::reference {
namespace {

using ir::ops::Loop;

// A loop that nothing but its trip count ends does not end within hours when that is larger.
constexpr int64_t kMaxUnconditionalTrips = int64_t{1} << 36;

// A tensor of one element of the rank that the body asks for.
RuntimeValue OneElement(ir::DataType dtype, ir::Type asked) {
  auto owner = asked && asked.HasRank() && asked.rank() == 1
                   ? std::make_shared<Tensor>(dtype, std::initializer_list<int64_t>{1})
                   : std::make_shared<Tensor>(dtype, std::initializer_list<int64_t>{});
  return {owner->view(), owner};
}

// Inputs of the body: iteration, condition, carried values, captured ones. Its outputs: condition,
// carried values, scan outputs.
class LoopKernel final : public ValueKernel, public PlansWhileRunning {
 public:
  LoopKernel(const KernelContext& context, std::unique_ptr<RegionProgram> body, size_t num_carried)
      : ValueKernel(context), body_(std::move(body)), num_carried_(num_carried) {}

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override;

  const std::unique_ptr<RegionProgram> body_;
  const size_t num_carried_;
};

absl::StatusOr<std::vector<RuntimeValue>> LoopKernel::Results(const KernelArgs& args) {
  int64_t trips = std::numeric_limits<int64_t>::max();  // as good as for ever
  bool condition = true;
  if (args.HasInput(0)) {
    if (args.inputs[0].dtype != ir::DataType::kI64 || args.inputs[0].NumElements() != 1)
      return ir::InvalidArgument("the trip count is not one i64");
    trips = *args.input<int64_t>(0);
  }
  const bool has_condition = args.HasInput(1);
  if (has_condition) {
    WEFT_ASSIGN_OR_RETURN(condition, ReadCondition(args.inputs[1]));
  }
  if (!has_condition && trips > kMaxUnconditionalTrips)
    return ir::InvalidArgument("a loop of " + std::to_string(trips) +
                               " iterations that no condition ends");
  std::vector<RuntimeValue> inputs = ValuesFrom(args, 0);
  inputs[0] = OneElement(ir::DataType::kI64, body_->argument_type(0));
  inputs[1] = OneElement(ir::DataType::kBool, body_->argument_type(1));
  const std::shared_ptr<Tensor> index = inputs[0].owner, flag = inputs[1].owner;
  std::vector<ScanOutput> scans;
  for (size_t s = 1 + num_carried_; s < body_->num_outputs(); ++s) scans.emplace_back(0, false);
  std::vector<RuntimeValue> outputs;
  size_t total = 0;
  int64_t i = 0;
  for (; i < trips && condition; ++i) {
    index->values<int64_t>()[0] = i;
    flag->view().data[0] = std::byte{condition};
    WEFT_RETURN_IF_ERROR(body_->Run(inputs, &outputs));
    WEFT_ASSIGN_OR_RETURN(const bool go_on, ReadCondition(outputs[0].view));
    condition = go_on || !has_condition;
    for (size_t s = 0; s < scans.size(); ++s)
      WEFT_RETURN_IF_ERROR(scans[s].Add(outputs[1 + num_carried_ + s].view, &total));
    // What was carried until now is memory for the results of the next iteration.
    for (size_t k = 0; k < num_carried_; ++k) {
      WEFT_RETURN_IF_ERROR(KeepApart(index, &outputs[1 + k]));
      WEFT_RETURN_IF_ERROR(KeepApart(flag, &outputs[1 + k]));
      std::swap(inputs[Loop::kFirstCarried + k], outputs[1 + k]);
    }
  }
  outputs.clear();
  return LoopResults(*body_, std::move(inputs), Loop::kFirstCarried, num_carried_, scans, i > 0);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeLoop(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(auto body, RegionProgram::Create(context, 0));
  const size_t carried = context.num_inputs() - Loop::kFirstCarried - NumCaptured(context.op());
  if (body->num_arguments() != context.num_inputs() || body->num_outputs() < 1 + carried)
    return context.InvalidArgument("its body does not fit its operands");
  return std::make_unique<LoopKernel>(context, std::move(body), carried);
}
const RegisterKernel<Loop> kLoop("reference", &MakeLoop, kValueKernel);

}  // namespace
}  // namespace weft::kernels::reference
