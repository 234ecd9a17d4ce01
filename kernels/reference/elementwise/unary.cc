// Elementwise functions of one tensor.
#include "ir/dialects/onnx.h"
#include "kernels/reference/elementwise/map.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

double HardSigmoidOf(double x, double alpha, double beta) {
  const double y = alpha * x + beta;  // a NaN passes both comparisons
  return y < 0 ? 0 : y > 1 ? 1 : y;
}
double SigmoidOf(double x) { return 1 / (1 + std::exp(-x)); }
double HardSwishOf(double x) { return x * HardSigmoidOf(x, 1.0 / 6, 0.5); }
double ReciprocalOf(double x) { return 1 / x; }

const RegisterReference<ops::Exp> kExp(&Map<ops::Exp, &std::exp>, &SameFloats);
const RegisterReference<ops::Log> kLog(&Map<ops::Log, &std::log>, &SameFloats);
const RegisterReference<ops::Sqrt> kSqrt(&Map<ops::Sqrt, &std::sqrt>, &SameFloats);
const RegisterReference<ops::Erf> kErf(&Map<ops::Erf, &std::erf>, &SameFloats);
const RegisterReference<ops::Tanh> kTanh(&Map<ops::Tanh, &std::tanh>, &SameFloats);
const RegisterReference<ops::Sigmoid> kSigmoid(&Map<ops::Sigmoid, &SigmoidOf>, &SameFloats);
const RegisterReference<ops::HardSwish> kHardSwish(&Map<ops::HardSwish, &HardSwishOf>, &SameFloats);
const RegisterReference<ops::Reciprocal> kReciprocal(&Map<ops::Reciprocal, &ReciprocalOf>,
                                                     &SameFloats);

absl::Status HardSigmoid(const AttrsOf<ops::HardSigmoid>& attrs, const KernelArgs& args) {
  MapFloats(args.inputs[0], args.outputs[0],
            [&](double x) { return HardSigmoidOf(x, attrs.alpha, attrs.beta); });
  return absl::OkStatus();
}
const RegisterReference<ops::HardSigmoid> kHardSigmoid(&HardSigmoid, &SameFloats);

absl::Status LeakyRelu(const AttrsOf<ops::LeakyRelu>& attrs, const KernelArgs& args) {
  MapFloats(args.inputs[0], args.outputs[0], [&](double x) { return x < 0 ? attrs.alpha * x : x; });
  return absl::OkStatus();
}
const RegisterReference<ops::LeakyRelu> kLeakyRelu(&LeakyRelu, &SameFloats);

absl::Status Elu(const AttrsOf<ops::Elu>& attrs, const KernelArgs& args) {
  MapFloats(args.inputs[0], args.outputs[0],
            [&](double x) { return x < 0 ? attrs.alpha * std::expm1(x) : x; });
  return absl::OkStatus();
}
const RegisterReference<ops::Elu> kElu(&Elu, &SameFloats);

absl::Status Selu(const AttrsOf<ops::Selu>& attrs, const KernelArgs& args) {
  MapFloats(args.inputs[0], args.outputs[0], [&](double x) {
    return double{attrs.gamma} * (x > 0 ? x : double{attrs.alpha} * std::expm1(x));
  });
  return absl::OkStatus();
}
const RegisterReference<ops::Selu> kSelu(&Selu, &SameFloats);

// --- of integers too ------------------------------------------------------------

template <class T>
T Negated(T x) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(x));
  else
    return -x;
}

absl::Status Abs(const AttrsOf<ops::Abs>&, const KernelArgs& args) {
  return MapNumbers(args, [](auto x) {
    if constexpr (std::is_floating_point_v<decltype(x)>)
      return std::fabs(x);
    else
      return x < 0 ? Negated(x) : x;
  });
}
const RegisterReference<ops::Abs> kAbs(&Abs, &SameNumbers);

absl::Status Neg(const AttrsOf<ops::Neg>&, const KernelArgs& args) {
  return MapNumbers(args, [](auto x) { return Negated(x); });
}
const RegisterReference<ops::Neg> kNeg(&Neg, &SameNumbers);

absl::Status Relu(const AttrsOf<ops::Relu>&, const KernelArgs& args) {
  return MapNumbers(args, [](auto x) { return x < 0 ? decltype(x)(0) : x; });
}
const RegisterReference<ops::Relu> kRelu(&Relu, &SameNumbers);

absl::Status Clip(const AttrsOf<ops::Clip>&, const KernelArgs& args) {
  VisitNumber(args.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, T>;
    const T* low = args.input<T>(1);
    const T* high = args.input<T>(2);
    const std::span<T> in = args.inputs[0].values<T>(), out = args.outputs[0].values<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      auto x = static_cast<Wide>(in[i]);  // a NaN passes both comparisons
      if (low != nullptr && x < static_cast<Wide>(*low)) x = static_cast<Wide>(*low);
      if (high != nullptr && x > static_cast<Wide>(*high)) x = static_cast<Wide>(*high);
      out[i] = T(x);
    }
  });
  return absl::OkStatus();
}
absl::Status CheckClip(const KernelContext& context) {
  for (size_t i : {1, 2}) {
    if (context.HasInput(i) && context.input_type(i).NumElements() != 1)
      return context.InvalidArgument("min and max must be scalars");
  }
  return SameNumbers(context);
}
const RegisterReference<ops::Clip> kClip(&Clip, &CheckClip);

absl::Status Not(const AttrsOf<ops::Not>&, const KernelArgs& args) {
  const std::span<uint8_t> in = args.inputs[0].values<uint8_t>();
  for (size_t i = 0; i < in.size(); ++i) args.output<uint8_t>(0)[i] = in[i] == 0;
  return absl::OkStatus();
}
absl::Status CheckBool(const KernelContext& context) {
  const bool fits = context.input_type(0).dtype() == ir::DataType::kBool &&
                    context.result_type(0).dtype() == ir::DataType::kBool;
  return fits ? absl::OkStatus() : context.Unsupported("only bool elements");
}
const RegisterReference<ops::Not> kNot(&Not, &CheckBool);

}  // namespace
}  // namespace weft::kernels::reference
