#include <utility>

#include "ir/dialects/onnx/control.h"
#include "kernels/reference/control/control.h"
#include "kernels/runtime/isolate.h"

namespace weft::kernels::reference {
namespace {

// Inputs of the body: an element or the whole of each operand, captured values.
class SequenceMapKernel final : public ValueKernel, public PlansWhileRunning {
 public:
  SequenceMapKernel(const KernelContext& context, std::unique_ptr<RegionProgram> body,
                    size_t num_operands)
      : ValueKernel(context),
        body_(std::move(body)),
        num_operands_(num_operands),
        num_results_(context.num_results()) {}

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override;

  const std::unique_ptr<RegionProgram> body_;
  const size_t num_operands_, num_results_;
};

absl::StatusOr<std::vector<RuntimeValue>> SequenceMapKernel::Results(const KernelArgs& args) {
  const std::vector<RuntimeValue> operands = ValuesFrom(args, 0);
  if (!operands[0].IsSequence()) return ir::InvalidArgument("its first operand is no sequence");
  const size_t length = operands[0].sequence->size();
  for (size_t k = 1; k < num_operands_; ++k)
    if (operands[k].IsSequence() && operands[k].sequence->size() != length)
      return ir::InvalidArgument("operand " + std::to_string(k) + " is a sequence of " +
                                 std::to_string(operands[k].sequence->size()) +
                                 " but the first is one of " + std::to_string(length));
  std::vector<Sequence::Elements> mapped(num_results_);
  std::vector<RuntimeValue> inputs = operands, outputs;
  size_t total = 0;
  for (size_t i = 0; i < length; ++i) {
    for (size_t k = 0; k < num_operands_; ++k)
      if (operands[k].IsSequence()) inputs[k] = RuntimeValue::Of((*operands[k].sequence)[i]);
    WEFT_RETURN_IF_ERROR(body_->Run(inputs, &outputs));
    for (size_t r = 0; r < num_results_; ++r) {
      if (!outputs[r].IsTensor())
        return ir::InvalidArgument("its body gives a value that is no tensor");
      WEFT_ASSIGN_OR_RETURN(std::shared_ptr<Tensor> kept, KeepTensor(outputs[r]));
      total += HeldBytes(kept->view());
      mapped[r].push_back(std::move(kept));
    }
    if (total > kMaxDynamicBytes)
      return ir::InvalidArgument("its results take more than " +
                                 std::to_string(kMaxDynamicBytes >> 30) + " GiB");
  }
  std::vector<RuntimeValue> results;
  results.reserve(mapped.size());
  for (Sequence::Elements& elements : mapped)
    results.push_back(RuntimeValue::Of(Sequence(std::move(elements))));
  return results;
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeSequenceMap(const KernelContext& context) {
  WEFT_ASSIGN_OR_RETURN(auto body, RegionProgram::Create(context, 0));
  const size_t operands = context.num_inputs() - NumCaptured(context.op());
  if (operands == 0 || body->num_arguments() != context.num_inputs() ||
      body->num_outputs() < context.num_results())
    return context.InvalidArgument("its body does not fit its operands");
  return std::make_unique<SequenceMapKernel>(context, std::move(body), operands);
}
const RegisterKernel<ir::ops::SequenceMap> kSequenceMap("reference", &MakeSequenceMap,
                                                        kValueKernel);

}  // namespace
}  // namespace weft::kernels::reference
