// Normalizations and softmax.
#include <limits>

#include "ir/dialects/onnx.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

absl::Status BatchNormalization(const AttrsOf<ops::BatchNormalization>& attrs,
                                const KernelArgs& args) {
  const std::vector<double> scale = ReadDoubles(args.inputs[1]), b = ReadDoubles(args.inputs[2]);
  const std::vector<double> mean = ReadDoubles(args.inputs[3]), var = ReadDoubles(args.inputs[4]);
  const AxisView view(args.inputs[0].dims, 1);
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = i / view.inner % view.extent;
    values[i] = (values[i] - mean[c]) / std::sqrt(var[c] + attrs.epsilon) * scale[c] + b[c];
  }
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}
absl::Status CheckBatchNormalization(const KernelContext& context) {
  if (context.attrs_of<ops::BatchNormalization>().training_mode != 0)
    return context.Unsupported("training_mode 1");
  if (context.num_results() > 1) return context.Unsupported("running statistics as results");
  if (context.dims(0).size() < 2) return context.Unsupported("x of rank below 2");
  for (size_t i = 1; i < 5; ++i) {
    if (context.input_type(i).NumElements() != context.dims(0)[1])
      return context.InvalidArgument("operand " + std::to_string(i) +
                                     " does not have one element per channel");
  }
  return SameFloats(context);
}
const RegisterReference<ops::BatchNormalization> kBatchNormalization(&BatchNormalization,
                                                                     &CheckBatchNormalization);

// Mean and 1 / standard deviation of n values.
std::pair<double, double> Statistics(const double* values, int64_t n, double epsilon) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += values[i];
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (values[i] - mean) * (values[i] - mean);
  return {mean, 1 / std::sqrt(squares / static_cast<double>(n) + epsilon)};
}

absl::Status LayerNormalization(const AttrsOf<ops::LayerNormalization>& attrs,
                                const KernelArgs& args) {
  const AxisView view(args.inputs[0].dims, attrs.axis);
  const int64_t size = view.extent * view.inner;
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  const std::vector<double> scale = ReadDoubles(args.inputs[1]);
  // Adding -0 changes nothing, not even a zero.
  const std::vector<double> bias =
      args.HasInput(2) ? ReadDoubles(args.inputs[2]) : std::vector<double>(scale.size(), -0.0);
  std::vector<double> means, inverses;
  for (int64_t row = 0; row < view.outer; ++row) {
    double* x = values.data() + row * size;
    const auto [mean, inverse] = Statistics(x, size, attrs.epsilon);
    for (int64_t i = 0; i < size; ++i)
      x[i] = (x[i] - mean) * inverse * scale[i % scale.size()] + bias[i % bias.size()];
    means.push_back(mean);
    inverses.push_back(inverse);
  }
  WriteDoubles(values, args.outputs[0]);
  if (args.outputs.size() > 1) WriteDoubles(means, args.outputs[1]);
  if (args.outputs.size() > 2) WriteDoubles(inverses, args.outputs[2]);
  return absl::OkStatus();
}
absl::Status CheckLayerNormalization(const KernelContext& context) {
  const AxisView view(context.dims(0), context.attrs_of<ops::LayerNormalization>().axis);
  for (size_t i : {1, 2}) {
    if (!context.HasInput(i)) continue;
    const int64_t size = context.input_type(i).NumElements();
    if (size < 1 || view.extent * view.inner % size != 0)
      return context.Unsupported("scale or bias of shape " + ir::ToString(context.dims(i)));
  }
  return SameFloats(context);
}
const RegisterReference<ops::LayerNormalization> kLayerNormalization(&LayerNormalization,
                                                                     &CheckLayerNormalization);

absl::Status Softmax(const AttrsOf<ops::Softmax>& attrs, const KernelArgs& args) {
  const AxisView view(args.inputs[0].dims, attrs.axis);
  std::vector<double> values = ReadDoubles(args.inputs[0]);
  for (int64_t row = 0; row < view.outer * view.inner; ++row) {
    double* x = values.data() + row / view.inner * view.extent * view.inner + row % view.inner;
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t i = 0; i < view.extent; ++i) largest = std::max(largest, x[i * view.inner]);
    for (int64_t i = 0; i < view.extent; ++i) {
      x[i * view.inner] = std::exp(x[i * view.inner] - largest);
      sum += x[i * view.inner];
    }
    for (int64_t i = 0; i < view.extent; ++i) x[i * view.inner] /= sum;
  }
  WriteDoubles(values, args.outputs[0]);
  return absl::OkStatus();
}
const RegisterReference<ops::Softmax> kSoftmax(&Softmax, &SameFloats);

}  // namespace
}  // namespace weft::kernels::reference
