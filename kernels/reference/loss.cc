// Losses of classifiers.
#include "ir/dialects/onnx/nn/loss.h"

#include <numeric>

#include "kernels/reference/reference.h"
#include "kernels/reference/softmax.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// Of log_probs [N, C, samples...] against args.inputs[1]; args.inputs[2] are weights, if given.
absl::Status NegativeLogLikelihood(const std::vector<double>& log_probs,
                                   std::optional<int64_t> ignore_index,
                                   ops::LossReduction reduction, const KernelArgs& args) {
  const AxisView view(args.inputs[0].dims, 1);
  const std::vector<int64_t> classes = ReadInts(args.inputs[1]);
  const std::vector<double> weights = args.HasInput(2)
                                          ? ReadDoubles(args.inputs[2])
                                          : std::vector<double>(size_t(view.extent), 1.0);
  std::vector<double> losses(classes.size());
  double total_weight = 0;
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t c = classes[i];
    if (c == ignore_index) continue;
    if (c < 0 || c >= view.extent)
      return ir::InvalidArgument("class " + std::to_string(c) + " is none of " +
                                 std::to_string(view.extent));
    const int64_t at = view.RowStart(static_cast<int64_t>(i)) + c * view.inner;
    losses[i] = -log_probs[at] * weights[c];
    total_weight += weights[c];
  }
  if (reduction != ops::LossReduction::kNone) {
    const double sum = std::accumulate(losses.begin(), losses.end(), 0.0);
    losses = {reduction == ops::LossReduction::kMean ? sum / total_weight : sum};
  }
  WriteDoubles(losses, args.outputs[0]);
  return absl::OkStatus();
}

absl::Status Nll(const AttrsOf<ops::NegativeLogLikelihoodLoss>& attrs, const KernelArgs& args) {
  return NegativeLogLikelihood(ReadDoubles(args.inputs[0]), attrs.ignore_index, attrs.reduction,
                               args);
}

absl::Status CrossEntropy(const AttrsOf<ops::SoftmaxCrossEntropyLoss>& attrs,
                          const KernelArgs& args) {
  const AxisView view(args.inputs[0].dims, 1);
  std::vector<double> log_probs = ReadDoubles(args.inputs[0]);
  for (int64_t row = 0; row < view.rows(); ++row)
    LogSoftmaxRow(log_probs.data() + view.RowStart(row), view.extent, view.inner);
  if (args.outputs.size() > 1) WriteDoubles(log_probs, args.outputs[1]);
  return NegativeLogLikelihood(log_probs, attrs.ignore_index, attrs.reduction, args);
}

template <class O>
absl::Status CheckLoss(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  bool fits = VisitFloat(dtype, [](auto) {}) &&
              VisitInteger(context.input_type(1).dtype(), [](auto) {}) &&
              (!context.HasInput(2) || context.input_type(2).dtype() == dtype);
  for (size_t i = 0; i < context.num_results(); ++i)
    fits &= context.result_type(i).dtype() == dtype;
  if (!fits) return context.Unsupported("these element types");
  if (context.dims(0).size() < 2) return context.Unsupported("scores of rank below 2");
  const AxisView view(context.dims(0), 1);
  const bool reduces = context.attrs_of<O>().reduction != ops::LossReduction::kNone;
  const int64_t samples = context.input_type(1).NumElements();
  if (samples != view.rows() ||
      (context.HasInput(2) && context.input_type(2).NumElements() != view.extent) ||
      context.result_type(0).NumElements() != (reduces ? 1 : samples))
    return context.InvalidArgument("shapes that do not fit each other");
  return absl::OkStatus();
}
const RegisterReference<ops::NegativeLogLikelihoodLoss> kNll(
    &Nll, &CheckLoss<ops::NegativeLogLikelihoodLoss>);
const RegisterReference<ops::SoftmaxCrossEntropyLoss> kCrossEntropy(
    &CrossEntropy, &CheckLoss<ops::SoftmaxCrossEntropyLoss>);

}  // namespace
}  // namespace weft::kernels::reference
