// Activations beyond those of unary.cc.
#include "ir/dialects/onnx/nn/activation.h"

#include <cmath>
#include <limits>

#include "kernels/reference/elementwise/map.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// exp() of what is not positive: it cannot overflow.
double SoftplusOf(double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); }
double SoftsignOf(double x) { return x / (1 + std::fabs(x)); }
double MishOf(double x) { return x * std::tanh(SoftplusOf(x)); }
double GeluOf(double x) { return 0.5 * x * (1 + std::erf(x * std::sqrt(0.5))); }
double TanhGeluOf(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

const RegisterReference<ops::Softplus> kSoftplus(&Map<ops::Softplus, &SoftplusOf>, &SameFloats);
const RegisterReference<ops::Softsign> kSoftsign(&Map<ops::Softsign, &SoftsignOf>, &SameFloats);
const RegisterReference<ops::Mish> kMish(&Map<ops::Mish, &MishOf>, &SameFloats);

absl::Status Gelu(const AttrsOf<ops::Gelu>& attrs, const KernelArgs& args) {
  const bool is_tanh = attrs.approximate == ops::GeluApproximation::kTanh;
  MapFloats(args.inputs[0], args.outputs[0], is_tanh ? &TanhGeluOf : &GeluOf);
  return absl::OkStatus();
}
const RegisterReference<ops::Gelu> kGelu(&Gelu, &SameFloats);

absl::Status Celu(const AttrsOf<ops::Celu>& attrs, const KernelArgs& args) {
  const double alpha = attrs.alpha;
  MapFloats(args.inputs[0], args.outputs[0],
            [&](double x) { return x > 0 ? x : alpha * std::expm1(x / alpha); });
  return absl::OkStatus();
}
const RegisterReference<ops::Celu> kCelu(&Celu, &SameFloats);

absl::Status Swish(const AttrsOf<ops::Swish>& attrs, const KernelArgs& args) {
  const double alpha = attrs.alpha;
  MapFloats(args.inputs[0], args.outputs[0],
            [&](double x) { return x / (1 + std::exp(-alpha * x)); });
  return absl::OkStatus();
}
const RegisterReference<ops::Swish> kSwish(&Swish, &SameFloats);

absl::Status ThresholdedRelu(const AttrsOf<ops::ThresholdedRelu>& attrs, const KernelArgs& args) {
  MapFloats(args.inputs[0], args.outputs[0], [&](double x) {
    return x <= attrs.alpha ? 0 : x;  // NaN stays
  });
  return absl::OkStatus();
}
const RegisterReference<ops::ThresholdedRelu> kThresholdedRelu(&ThresholdedRelu, &SameFloats);

// x + shift as T: integers are truncated, and those that do not fit give the nearest that does.
template <class T>
T Shifted(T x, double shift) {
  if constexpr (std::is_floating_point_v<T>) {
    return x + shift;
  } else {
    if (shift == 0) return x;
    const double sum = static_cast<double>(x) + shift;
    constexpr T kLowest = std::numeric_limits<T>::lowest(), kMax = std::numeric_limits<T>::max();
    if (std::isnan(sum)) return 0;
    if (sum <= static_cast<double>(kLowest)) return kLowest;
    if (sum >= static_cast<double>(kMax)) return kMax;
    return static_cast<T>(sum);
  }
}

absl::Status Shrink(const AttrsOf<ops::Shrink>& attrs, const KernelArgs& args) {
  const double lambd = attrs.lambd, bias = attrs.bias;
  return MapNumbers(args, [&](auto x) {
    const auto value = static_cast<double>(x);
    if (value < -lambd) return Shifted(x, bias);
    if (value > lambd) return Shifted(x, -bias);
    return std::isnan(value) ? x : decltype(x)(0);
  });
}
const RegisterReference<ops::Shrink> kShrink(&Shrink, &SameNumbers);

absl::Status PRelu(const AttrsOf<ops::PRelu>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &slope = args.inputs[1], &y = args.outputs[0];
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> in = x.values<T>(), slopes = slope.values<T>(), out = y.values<T>();
    Broadcast(x, slope, y, [&](int64_t i, int64_t at_x, int64_t at_slope) {
      if constexpr (kIsFloat<T>) {
        const auto value = static_cast<double>(in[at_x]);
        out[i] = value < 0 ? T(value * static_cast<double>(slopes[at_slope])) : in[at_x];
      } else {  // which wrap around
        const uint64_t value = SignExtended(in[at_x]);
        out[i] = in[at_x] < 0 ? static_cast<T>(value * SignExtended(slopes[at_slope])) : in[at_x];
      }
    });
  });
  return absl::OkStatus();
}
const RegisterReference<ops::PRelu> kPRelu(&PRelu, &SameNumbers);

}  // namespace
}  // namespace weft::kernels::reference
