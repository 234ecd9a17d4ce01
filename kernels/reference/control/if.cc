#include <array>
#include <utility>

#include "ir/dialects/onnx/control.h"
#include "kernels/reference/control/control.h"

namespace weft::kernels::reference {
namespace {

class IfKernel final : public ValueKernel, public PlansWhileRunning {
 public:
  IfKernel(const KernelContext& context, std::array<std::unique_ptr<RegionProgram>, 2> branches)
      : ValueKernel(context), branches_(std::move(branches)) {}

 private:
  absl::StatusOr<std::vector<RuntimeValue>> Results(const KernelArgs& args) override {
    WEFT_ASSIGN_OR_RETURN(const bool condition, ReadCondition(args.inputs[0]));
    std::vector<RuntimeValue> results;
    WEFT_RETURN_IF_ERROR(branches_[condition ? 0 : 1]->Run(ValuesFrom(args, 1), &results));
    return results;
  }

  std::array<std::unique_ptr<RegionProgram>, 2> branches_;
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeIf(const KernelContext& context) {
  std::array<std::unique_ptr<RegionProgram>, 2> branches;
  for (uint32_t i = 0; i < branches.size(); ++i) {
    WEFT_ASSIGN_OR_RETURN(branches[i], RegionProgram::Create(context, i));
  }
  return std::make_unique<IfKernel>(context, std::move(branches));
}
const RegisterKernel<ir::ops::If> kIf("reference", &MakeIf, kValueKernel);

}  // namespace
}  // namespace weft::kernels::reference
