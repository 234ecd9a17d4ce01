// Ops whose result is their first operand under another shape.
#include <cstring>

#include "ir/dialects/onnx.h"
#include "kernels/kernel.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

class ViewKernel final : public Kernel {
 public:
  absl::Status Run(const KernelArgs& args) override {  // where nobody plans memory: in evaluation
    std::memcpy(args.outputs[0].data, args.inputs[0].data, args.outputs[0].NumBytes());
    return absl::OkStatus();
  }
  std::string_view name() const override { return "view"; }
  bool IsView() const override { return true; }
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeView(const KernelContext& context) {
  const ir::Type from = context.input_type(0), to = context.result_type(0);
  if (from.dtype() != to.dtype() || from.NumElements() != to.NumElements())
    return context.InvalidArgument("the result has type " + to.ToString() + " but the operand " +
                                   from.ToString());
  return std::make_unique<ViewKernel>();
}

const RegisterKernel<ops::Reshape> kReshape("reference", &MakeView);
const RegisterKernel<ops::Flatten> kFlatten("reference", &MakeView);
const RegisterKernel<ops::Squeeze> kSqueeze("reference", &MakeView);
const RegisterKernel<ops::Unsqueeze> kUnsqueeze("reference", &MakeView);
const RegisterKernel<ops::Identity> kIdentity("reference", &MakeView);

// Outside training, dropout is the identity and its mask is all true.
class DropoutKernel final : public Kernel {
 public:
  absl::Status Run(const KernelArgs& args) override {
    std::memcpy(args.outputs[0].data, args.inputs[0].data, args.outputs[0].NumBytes());
    std::memset(args.outputs[1].data, 1, args.outputs[1].NumBytes());
    return absl::OkStatus();
  }
  std::string_view name() const override { return "reference"; }
};

absl::StatusOr<std::unique_ptr<Kernel>> MakeDropout(const KernelContext& context) {
  if (context.HasInput(2)) {
    const ir::Attribute training = context.constant(2);
    if (!training || training.bytes().size() != 1 || training.bytes()[0] != std::byte{0})
      return context.Unsupported("training_mode that is not a constant false");
  }
  if (context.num_results() == 1 || context.op().result(1).IsUnused()) return MakeView(context);
  return std::make_unique<DropoutKernel>();
}
const RegisterKernel<ops::Dropout> kDropout("reference", &MakeDropout);

}  // namespace
}  // namespace weft::kernels::reference
