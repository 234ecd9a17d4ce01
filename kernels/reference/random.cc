// Ops that make random numbers.
#include "ir/dialects/onnx/creation.h"
#include "kernels/reference/generator.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

template <class Draw>
absl::Status Fill(const TensorView& y, const Draw& draw) {
  std::vector<double> values(static_cast<size_t>(y.NumElements()));
  for (double& value : values) value = draw();
  WriteDoubles(values, y);
  return absl::OkStatus();
}

template <class O>
absl::Status Normal(const AttrsOf<O>& attrs, const KernelArgs& args) {
  Generator generator(attrs.seed);
  return Fill(args.outputs[0], [&] { return attrs.mean + attrs.scale * generator.Normal(); });
}
template <class O>
absl::Status Uniform(const AttrsOf<O>& attrs, const KernelArgs& args) {
  Generator generator(attrs.seed);
  const double low = attrs.low, range = attrs.high - low;
  return Fill(args.outputs[0], [&] { return low + range * generator.Uniform(); });
}

absl::Status CheckResult(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  if (!VisitNumber(dtype, [](auto) {}))
    return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  return absl::OkStatus();
}
absl::Status CheckLike(const KernelContext& context) {
  if (context.input_type(0).shape() != context.result_type(0).shape())
    return context.InvalidArgument("the result has another shape than the operand");
  return CheckResult(context);
}
const RegisterReference<ops::RandomNormal> kNormal(&Normal<ops::RandomNormal>, &CheckResult);
const RegisterReference<ops::RandomNormalLike> kNormalLike(&Normal<ops::RandomNormalLike>,
                                                           &CheckLike);
const RegisterReference<ops::RandomUniform> kUniform(&Uniform<ops::RandomUniform>, &CheckResult);
const RegisterReference<ops::RandomUniformLike> kUniformLike(&Uniform<ops::RandomUniformLike>,
                                                             &CheckLike);

// --- with probabilities ----------------------------------------------------------------------------

absl::Status Bernoulli(const AttrsOf<ops::Bernoulli>& attrs, const KernelArgs& args) {
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  Generator generator(attrs.seed);
  for (double& value : values) {
    if (!(value >= 0 && value <= 1))
      return ir::InvalidArgument("a probability is " + std::to_string(value));
    value = generator.Uniform() < value ? 1 : 0;
  }
  if (args.outputs[0].dtype == ir::DataType::kBool) {
    std::copy(values.begin(), values.end(), args.output<uint8_t>(0));
  } else {
    WriteDoubles(values, args.outputs[0]);
  }
  return absl::OkStatus();
}
absl::Status CheckBernoulli(const KernelContext& context) {
  if (!VisitFloat(context.input_type(0).dtype(), [](auto) {}))
    return context.Unsupported("probabilities that are no floats");
  if (context.result_type(0).dtype() != ir::DataType::kBool) return CheckLike(context);
  if (context.input_type(0).shape() != context.result_type(0).shape())
    return context.InvalidArgument("the result has another shape than the operand");
  return absl::OkStatus();
}
const RegisterReference<ops::Bernoulli> kBernoulli(&Bernoulli, &CheckBernoulli);

absl::Status Multinomial(const AttrsOf<ops::Multinomial>& attrs, const KernelArgs& args) {
  const std::vector<double> x = ReadDoubles(args.inputs[0]);
  const auto batches = static_cast<size_t>(args.inputs[0].dims[0]);
  const auto classes = static_cast<size_t>(args.inputs[0].dims[1]);
  const auto samples = static_cast<size_t>(args.outputs[0].dims[1]);
  Generator generator(attrs.seed);
  std::vector<double> drawn(batches * samples), sums(classes);
  for (size_t batch = 0; batch < batches; ++batch) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(batch * classes);
    const double largest =
        classes == 0 ? 0 : *std::max_element(row, row + static_cast<std::ptrdiff_t>(classes));
    double sum = 0;
    for (size_t i = 0; i < classes; ++i)
      sums[i] = sum += std::exp(x[batch * classes + i] - largest);
    if (!(sum > 0 && std::isfinite(sum)))
      return ir::InvalidArgument("batch " + std::to_string(batch) + " has no probabilities");
    for (size_t i = 0; i < samples; ++i) {
      const auto at = std::upper_bound(sums.begin(), sums.end(), generator.Uniform() * sum);
      const auto last = static_cast<std::ptrdiff_t>(classes) - 1;  // if the product rounds up
      drawn[batch * samples + i] = static_cast<double>(std::min(at - sums.begin(), last));
    }
  }
  WriteDoubles(drawn, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckMultinomial(const KernelContext& context) {
  if (!VisitFloat(context.input_type(0).dtype(), [](auto) {}) ||
      !VisitInteger(context.result_type(0).dtype(), [](auto) {}))
    return context.Unsupported("these element types");
  if (context.dims(0).size() != 2 || context.result_dims(0).size() != 2 ||
      context.dims(0)[0] != context.result_dims(0)[0])
    return context.InvalidArgument("needs a row of logarithms and a row of results per batch");
  return absl::OkStatus();
}
const RegisterReference<ops::Multinomial> kMultinomial(&Multinomial, &CheckMultinomial);

}  // namespace
}  // namespace weft::kernels::reference
