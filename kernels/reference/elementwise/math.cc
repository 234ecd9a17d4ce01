// Trigonometry, rounding, remainders and means.
#include "ir/dialects/onnx/math.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/elementwise/map.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

const RegisterReference<ops::Acos> kAcos(&Map<ops::Acos, &std::acos>, &SameFloats);
const RegisterReference<ops::Acosh> kAcosh(&Map<ops::Acosh, &std::acosh>, &SameFloats);
const RegisterReference<ops::Asin> kAsin(&Map<ops::Asin, &std::asin>, &SameFloats);
const RegisterReference<ops::Asinh> kAsinh(&Map<ops::Asinh, &std::asinh>, &SameFloats);
const RegisterReference<ops::Atan> kAtan(&Map<ops::Atan, &std::atan>, &SameFloats);
const RegisterReference<ops::Atanh> kAtanh(&Map<ops::Atanh, &std::atanh>, &SameFloats);
const RegisterReference<ops::Cos> kCos(&Map<ops::Cos, &std::cos>, &SameFloats);
const RegisterReference<ops::Cosh> kCosh(&Map<ops::Cosh, &std::cosh>, &SameFloats);
const RegisterReference<ops::Sin> kSin(&Map<ops::Sin, &std::sin>, &SameFloats);
const RegisterReference<ops::Sinh> kSinh(&Map<ops::Sinh, &std::sinh>, &SameFloats);
const RegisterReference<ops::Tan> kTan(&Map<ops::Tan, &std::tan>, &SameFloats);
const RegisterReference<ops::Ceil> kCeil(&Map<ops::Ceil, &std::ceil>, &SameFloats);
const RegisterReference<ops::Floor> kFloor(&Map<ops::Floor, &std::floor>, &SameFloats);
// In the rounding mode that every thread starts with: halves to even.
const RegisterReference<ops::Round> kRound(&Map<ops::Round, &std::nearbyint>, &SameFloats);

absl::Status Sign(const AttrsOf<ops::Sign>&, const KernelArgs& args) {
  return MapNumbers(args, [](auto x) {
    using T = decltype(x);
    if (x != x) return x;
    return x > 0 ? T(1) : x < 0 ? static_cast<T>(-1) : T(0);
  });
}
const RegisterReference<ops::Sign> kSign(&Sign, &SameNumbers);

// --- predicates -----------------------------------------------------------------

template <class F>
absl::Status MapToBool(const KernelArgs& args, const F& f) {
  const std::vector<double> in = ReadDoubles(args.inputs[0]);
  std::transform(in.begin(), in.end(), args.output<uint8_t>(0),
                 [&](double x) { return f(x) ? 1 : 0; });
  return absl::OkStatus();
}
absl::Status CheckPredicate(const KernelContext& context) {
  const ir::DataType dtype = context.input_type(0).dtype();
  if (!(VisitFloat(dtype, [](auto) {}) ||
        ir::IsLowPrecision(dtype)) ||  // of inferred types: float8
      context.result_type(0).dtype() != ir::DataType::kBool)
    return context.Unsupported("these element types");
  return absl::OkStatus();
}

absl::Status IsNaN(const AttrsOf<ops::IsNaN>&, const KernelArgs& args) {
  return MapToBool(args, [](double x) { return std::isnan(x); });
}
const RegisterReference<ops::IsNaN> kIsNaN(&IsNaN, &CheckPredicate);

absl::Status IsInf(const AttrsOf<ops::IsInf>& attrs, const KernelArgs& args) {
  return MapToBool(args, [&](double x) {
    return std::isinf(x) && (x > 0 ? attrs.detect_positive : attrs.detect_negative) != 0;
  });
}
const RegisterReference<ops::IsInf> kIsInf(&IsInf, &CheckPredicate);

// --- two operands and more --------------------------------------------------------

// With the sign of b, or of a.
template <class T>
T Remainder(T a, T b, bool sign_of_a) {
  if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;  // a % b may overflow
  const auto rest = static_cast<T>(a % b);
  const bool differs = rest != 0 && (rest < 0) != (b < 0);
  return differs && !sign_of_a ? static_cast<T>(rest + b) : rest;
}

absl::Status Mod(const AttrsOf<ops::Mod>& attrs, const KernelArgs& args) {
  const TensorView &a = args.inputs[0], &b = args.inputs[1], &y = args.outputs[0];
  bool divides_by_zero = false;
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> in_a = a.values<T>(), in_b = b.values<T>(), out = y.values<T>();
    if constexpr (std::is_integral_v<T>) {
      divides_by_zero = std::count(in_b.begin(), in_b.end(), T(0)) > 0;
      if (divides_by_zero) return;
    }
    Broadcast(a, b, y, [&](int64_t i, int64_t at_a, int64_t at_b) {
      if constexpr (kIsFloat<T>)
        out[i] = T(std::fmod(static_cast<double>(in_a[at_a]), static_cast<double>(in_b[at_b])));
      else
        out[i] = Remainder(in_a[at_a], in_b[at_b], attrs.fmod != 0);
    });
  });
  return divides_by_zero ? ir::InvalidArgument("an integer is divided by zero") : absl::OkStatus();
}
const RegisterReference<ops::Mod> kMod(&Mod, &SameNumbers);

absl::Status Mean(const AttrsOf<ops::Mean>&, const KernelArgs& args) {
  const TensorView& y = args.outputs[0];
  std::vector<double> sums(static_cast<size_t>(y.NumElements()));
  for (const TensorView& x : args.inputs) {
    const std::vector<double> in = ReadDoubles(x);
    size_t i = 0;
    for (Odometer<1> at(y.dims, {BroadcastStrides(x.dims, y.dims)}); !at.done(); at.Next())
      sums[i++] += in[at.offset[0]];
  }
  for (double& sum : sums) sum /= static_cast<double>(args.inputs.size());
  WriteDoubles(sums, y);
  return absl::OkStatus();
}
const RegisterReference<ops::Mean> kMean(&Mean, &SameFloats);

}  // namespace
}  // namespace weft::kernels::reference
