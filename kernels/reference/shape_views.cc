// Ops whose result is their first operand under another shape.
#include <cstring>

#include "ir/dialects/onnx.h"
#include "kernels/kernel.h"
#include "kernels/reference/generator.h"
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

// Outside training, dropout is the identity and its mask is all true. In training an element is
// dropped with probability `ratio`, and the others grow so that the mean stays.
class DropoutKernel final : public Kernel {
 public:
  explicit DropoutKernel(int64_t seed) : seed_(seed) {}

  absl::Status Run(const KernelArgs& args) override {
    const TensorView& x = args.inputs[0];
    const bool training = args.HasInput(2) && args.input<uint8_t>(2)[0] != 0;
    const double ratio = args.HasInput(1) ? ReadDoubles(args.inputs[1])[0] : 0.5;
    if (training && !(ratio >= 0 && ratio < 1))
      return ir::InvalidArgument("onnx.Dropout: ratio is " + std::to_string(ratio) +
                                 " but must be from 0 to below 1");
    std::vector<uint8_t> mask(static_cast<size_t>(x.NumElements()), 1);
    if (!training || ratio == 0) {
      std::memcpy(args.outputs[0].data, x.data, args.outputs[0].NumBytes());
    } else {
      Generator generator(seed_);
      std::vector<double> values = ReadDoubles(x);
      for (size_t i = 0; i < values.size(); ++i) {
        mask[i] = generator.Uniform() >= ratio;
        values[i] = mask[i] != 0 ? values[i] / (1 - ratio) : 0;
      }
      WriteDoubles(values, args.outputs[0]);
    }
    if (args.outputs.size() > 1 && args.outputs[1])
      std::copy(mask.begin(), mask.end(), args.output<uint8_t>(1));
    return absl::OkStatus();
  }
  std::string_view name() const override { return "reference"; }

 private:
  const int64_t seed_;
};

absl::Status CheckDropout(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (context.input_type(2).dtype() != ir::DataType::kBool ||
      context.input_type(2).NumElements() != 1)
    return context.InvalidArgument("training_mode must be one bool");
  if (context.HasInput(1) && (!VisitFloat(context.input_type(1).dtype(), [](auto) {}) ||
                              context.input_type(1).NumElements() != 1))
    return context.InvalidArgument("ratio must be one float");
  return VisitFloat(dtype, [](auto) {}) ? absl::OkStatus()
                                        : context.Unsupported("only floats are dropped");
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeDropout(const KernelContext& context) {
  const int64_t seed = context.attrs_of<ops::Dropout>().seed.value_or(0);
  const ir::Attribute training = context.constant(2);
  const bool never = !context.HasInput(2) || (training && training.bytes().size() == 1 &&
                                              training.bytes()[0] == std::byte());
  if (!never) {
    WEFT_RETURN_IF_ERROR(CheckDropout(context));
    return std::make_unique<DropoutKernel>(seed);
  }
  if (context.num_results() == 1 || context.op().result(1).IsUnused()) return MakeView(context);
  return std::make_unique<DropoutKernel>(seed);
}
const RegisterKernel<ops::Dropout> kDropout("reference", &MakeDropout);

}  // namespace
}  // namespace weft::kernels::reference
