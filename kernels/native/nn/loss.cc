// Losses of classifiers.
#include "ir/dialects/onnx/nn/loss.h"

#include <optional>
#include <string>

#include "kernels/native/native.h"
#include "kernels/native/simd/reduction/normalize.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

template <class O>
struct Loss {
  AxisView view;  // samples of classes: [outer, extent, inner]
  bool wide;      // classes are i64, else i32
  typename O::template Attrs<ir::Plain> attrs;

  static constexpr bool kOfScores = std::is_same_v<O, ops::SoftmaxCrossEntropyLoss>;

  // Of the logarithms of probabilities, in the order of the samples whatever threads there are: it reads one of each.
  absl::Status Run(const float* log_probs, const KernelArgs& args) const {
    const float* const weights = args.input<float>(2);
    float* const y = args.output<float>(0);
    const bool reduces = attrs.reduction != ops::LossReduction::kNone;
    double sum = 0, total_weight = 0;
    for (int64_t i = 0; i < view.outer * view.inner; ++i) {
      const int64_t c = wide ? args.input<int64_t>(1)[i] : args.input<int32_t>(1)[i];
      double loss = 0;
      if (c != attrs.ignore_index) {
        if (c < 0 || c >= view.extent)
          return ir::InvalidArgument(std::string(O::kInfo.name) + ": class " + std::to_string(c) +
                                     " is none of " + std::to_string(view.extent));
        const int64_t start = i / view.inner * view.extent * view.inner + i % view.inner;
        const double weight = weights == nullptr ? 1 : weights[c];
        loss = -static_cast<double>(log_probs[start + c * view.inner]) * weight;
        total_weight += weight;
      }
      sum += loss;
      if (!reduces) y[i] = static_cast<float>(loss);
    }
    if (reduces)
      y[0] = static_cast<float>(attrs.reduction == ops::LossReduction::kMean ? sum / total_weight
                                                                             : sum);
    return absl::OkStatus();
  }
};

template <class O>
Made MakeLoss(const KernelContext& context) {
  const ir::DataType f32 = ir::DataType::kF32, classes = context.input_type(1).dtype();
  bool fits = context.input_type(0).dtype() == f32 &&
              (classes == ir::DataType::kI64 || classes == ir::DataType::kI32) &&
              (!context.HasInput(2) || context.input_type(2).dtype() == f32);
  for (size_t i = 0; i < context.num_results(); ++i) fits &= context.result_type(i).dtype() == f32;
  if (!fits) return context.Unsupported("these element types");
  if (context.dims(0).size() < 2) return context.Unsupported("scores of rank below 2");
  const Loss<O> loss = {AxisView(context.dims(0), 1), classes == ir::DataType::kI64,
                        context.attrs_of<O>()};
  const AxisView& view = loss.view;
  const int64_t samples = context.input_type(1).NumElements();
  const bool reduces = loss.attrs.reduction != ops::LossReduction::kNone;
  if (view.inner == 0 || samples != view.outer * view.inner ||
      (context.HasInput(2) && context.input_type(2).NumElements() != view.extent) ||
      context.result_type(0).NumElements() != (reduces ? 1 : samples))
    return context.Unsupported("shapes that do not fit each other");
  if constexpr (!Loss<O>::kOfScores) {
    return MakeNative("loss", {}, [loss](const KernelArgs& args) {
      return loss.Run(args.input<float>(0), args);
    });
  } else {
    const int64_t scores = samples * view.extent;
    if (context.num_results() > 1 && context.result_type(1).NumElements() != scores)
      return context.Unsupported("logarithms of another shape than the scores");
    NativeOptions options;
    if (context.num_results() < 2) options.scratch_bytes = sizeof(float) * size_t(scores);
    return MakeNative("softmax loss", options, [loss](const KernelArgs& args) {
      float* const log_probs =
          args.outputs.size() > 1 ? args.output<float>(1) : reinterpret_cast<float*>(args.scratch);
      simd::LogSoftmax(args.input<float>(0), log_probs, loss.view.outer, loss.view.extent,
                       loss.view.inner, *args.pool);
      return loss.Run(log_probs, args);
    });
  }
}
const RegisterKernel<ops::NegativeLogLikelihoodLoss> kNll(
    "native", &MakeLoss<ops::NegativeLogLikelihoodLoss>);
const RegisterKernel<ops::SoftmaxCrossEntropyLoss> kCrossEntropy(
    "native", &MakeLoss<ops::SoftmaxCrossEntropyLoss>);

}  // namespace
}  // namespace weft::kernels::native
