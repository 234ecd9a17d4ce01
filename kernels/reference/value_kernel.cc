#include "kernels/reference/value_kernel.h"

#include <utility>

#include "kernels/reference/reference.h"

namespace weft::kernels::reference {

absl::Status ValueKernel::Run(const KernelArgs& args) {
  auto results = RunDynamic(args);
  if (!results.ok()) return results.status();
  const absl::Status status = CopyResults(*results, args.outputs);
  return status.ok() ? status : ir::Annotate(status, op_name_);
}

absl::StatusOr<std::vector<Tensor>> ValueKernel::RunDynamic(const KernelArgs& args) {
  WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> values, RunValues(args));
  std::vector<Tensor> results;
  for (RuntimeValue& value : values) {
    if (!value.IsTensor()) return ir::Unsupported(op_name_ + ": a result that is no tensor");
    WEFT_ASSIGN_OR_RETURN(Tensor tensor, TakeTensor(std::move(value)));
    results.push_back(std::move(tensor));
  }
  return results;
}

absl::StatusOr<std::vector<RuntimeValue>> ValueKernel::RunValues(const KernelArgs& args) {
  WEFT_ASSIGN_OR_RETURN(std::vector<RuntimeValue> values, Results(args));
  values.resize(num_results_);
  return values;
}

std::vector<RuntimeValue> ValuesFrom(const KernelArgs& args, size_t first) {
  std::vector<RuntimeValue> values;
  for (size_t i = first; i < args.inputs.size(); ++i)
    values.push_back(args.values.empty() ? RuntimeValue{.view = args.inputs[i]} : args.values[i]);
  return values;
}

}  // namespace weft::kernels::reference
