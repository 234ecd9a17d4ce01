// Elementwise functions of two or more tensors, with broadcasting. Integers wrap around; dividing
// one by zero is an error.
#include <algorithm>

#include "ir/dialects/onnx.h"
#include "kernels/reference/elementwise/map.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// What arithmetic on T is done in: double for floats, 64 bits without overflow for integers.
template <class T>
using WideOf = std::conditional_t<kIsFloat<T>, double, uint64_t>;

template <class F>
void BroadcastNumbers(const TensorView& a, const TensorView& b, const TensorView& y, const F& f) {
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> in_a = a.values<T>(), in_b = b.values<T>(), out = y.values<T>();
    Broadcast(a, b, y, [&](int64_t i, int64_t at_a, int64_t at_b) {
      out[i] = T(f(static_cast<WideOf<T>>(in_a[at_a]), static_cast<WideOf<T>>(in_b[at_b])));
    });
  });
}

absl::Status Add(const AttrsOf<ops::Add>&, const KernelArgs& args) {
  BroadcastNumbers(args.inputs[0], args.inputs[1], args.outputs[0],
                   [](auto a, auto b) { return a + b; });
  return absl::OkStatus();
}
const RegisterReference<ops::Add> kAdd(&Add, &SameNumbers);

absl::Status Sub(const AttrsOf<ops::Sub>&, const KernelArgs& args) {
  BroadcastNumbers(args.inputs[0], args.inputs[1], args.outputs[0],
                   [](auto a, auto b) { return a - b; });
  return absl::OkStatus();
}
const RegisterReference<ops::Sub> kSub(&Sub, &SameNumbers);

absl::Status Mul(const AttrsOf<ops::Mul>&, const KernelArgs& args) {
  BroadcastNumbers(args.inputs[0], args.inputs[1], args.outputs[0],
                   [](auto a, auto b) { return a * b; });
  return absl::OkStatus();
}
const RegisterReference<ops::Mul> kMul(&Mul, &SameNumbers);

template <class T>
T Quotient(T a, T b) {
  if constexpr (kIsFloat<T>) {
    return T(static_cast<double>(a) / static_cast<double>(b));
  } else {
    // The one quotient that overflows wraps, as the other operations do.
    if (std::is_signed_v<T> && b == T(-1))
      return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
    return static_cast<T>(a / b);
  }
}

absl::Status Div(const AttrsOf<ops::Div>&, const KernelArgs& args) {
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
      out[i] = Quotient(in_a[at_a], in_b[at_b]);
    });
  });
  return divides_by_zero ? ir::InvalidArgument("an integer is divided by zero") : absl::OkStatus();
}
const RegisterReference<ops::Div> kDiv(&Div, &SameNumbers);

// Integer base and exponent: exact, wrapping; negative exponents truncate (as ONNX Runtime does).
int64_t IntegerPower(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (; exponent > 0; exponent /= 2, square *= square)
    if (exponent % 2 == 1) result *= square;
  return static_cast<int64_t>(result);
}

absl::Status Pow(const AttrsOf<ops::Pow>&, const KernelArgs& args) {
  const TensorView &a = args.inputs[0], &b = args.inputs[1], &y = args.outputs[0];
  if (!ir::IsFloat(a.dtype) && !ir::IsFloat(b.dtype)) {
    const std::vector<int64_t> in_a = ReadInts(a), in_b = ReadInts(b);
    VisitInteger(y.dtype, [&](auto tag) {
      using T = decltype(tag);
      Broadcast(a, b, y, [&](int64_t i, int64_t at_a, int64_t at_b) {
        args.output<T>(0)[i] = static_cast<T>(IntegerPower(in_a[at_a], in_b[at_b]));
      });
    });
    return absl::OkStatus();
  }
  const std::vector<double> in_a = ReadDoubles(a), in_b = ReadDoubles(b);
  // Of integers with more digits than a double has, all, where the exponent is whole.
  const bool is_long = !ir::IsFloat(a.dtype) && ir::ElementSize(a.dtype) == 8;
  const std::vector<int64_t> digits = is_long ? ReadInts(a) : std::vector<int64_t>();
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    Broadcast(a, b, y, [&](int64_t i, int64_t at_a, int64_t at_b) {
      const double exponent = in_b[at_b], power = std::pow(in_a[at_a], exponent);
      const bool is_exact = is_long && exponent >= 0 && exponent == std::trunc(exponent) &&
                            (exponent == 1 || std::abs(power) < 0x1p63);
      args.output<T>(0)[i] =
          is_exact ? static_cast<T>(IntegerPower(digits[at_a], static_cast<int64_t>(exponent)))
                   : FromDouble<T>(power);
    });
  });
  return absl::OkStatus();
}
absl::Status CheckPow(const KernelContext& context) {
  const ir::DataType base = context.input_type(0).dtype(), power = context.input_type(1).dtype();
  if (base != context.result_type(0).dtype())
    return context.Unsupported("a result of another type");
  const auto is_number = [](ir::DataType t) { return VisitNumber(t, [](auto) {}); };
  if (!is_number(base) || !is_number(power))
    return context.Unsupported("elements that are no numbers");
  return absl::OkStatus();
}
const RegisterReference<ops::Pow> kPow(&Pow, &CheckPow);

// --- variadic -------------------------------------------------------------------

// y = f(f(x0, x1), x2) ..., in the wide type; written once at the end.
template <class F>
void Reduce(const KernelArgs& args, const F& f) {
  const TensorView& y = args.outputs[0];
  VisitNumber(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, T>;
    std::vector<Wide> result(static_cast<size_t>(y.NumElements()));
    for (size_t n = 0; n < args.inputs.size(); ++n) {
      const std::span<T> in = args.inputs[n].values<T>();
      int64_t i = 0;
      for (Odometer<1> at(y.dims, {BroadcastStrides(args.inputs[n].dims, y.dims)}); !at.done();
           at.Next(), ++i) {
        const auto x = static_cast<Wide>(in[at.offset[0]]);
        result[i] = n == 0 ? x : static_cast<Wide>(f(result[i], x));
      }
    }
    const std::span<T> out = y.values<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = T(result[i]);
  });
}

// NaN if either is.
template <class T>
T Smaller(T a, T b) {
  return a < b || a != a ? a : b;
}
template <class T>
T Larger(T a, T b) {
  return a > b || a != a ? a : b;
}

absl::Status Min(const AttrsOf<ops::Min>&, const KernelArgs& args) {
  Reduce(args, [](auto a, auto b) { return Smaller(a, b); });
  return absl::OkStatus();
}
const RegisterReference<ops::Min> kMin(&Min, &SameNumbers);

absl::Status Max(const AttrsOf<ops::Max>&, const KernelArgs& args) {
  Reduce(args, [](auto a, auto b) { return Larger(a, b); });
  return absl::OkStatus();
}
const RegisterReference<ops::Max> kMax(&Max, &SameNumbers);

absl::Status Sum(const AttrsOf<ops::Sum>&, const KernelArgs& args) {
  Reduce(args, [](auto a, auto b) {
    if constexpr (std::is_integral_v<decltype(a)>)
      return static_cast<uint64_t>(a) + static_cast<uint64_t>(b);
    else
      return a + b;
  });
  return absl::OkStatus();
}
const RegisterReference<ops::Sum> kSum(&Sum, &SameNumbers);

// --- predicates -----------------------------------------------------------------

template <class F>
void Predicate(const KernelArgs& args, const F& f) {
  const TensorView &a = args.inputs[0], &b = args.inputs[1], &y = args.outputs[0];
  const auto run = [&](auto tag) {
    using T = decltype(tag);
    using Wide = std::conditional_t<kIsFloat<T>, double, T>;
    const std::span<T> in_a = a.values<T>(), in_b = b.values<T>();
    Broadcast(a, b, y, [&](int64_t i, int64_t at_a, int64_t at_b) {
      args.output<uint8_t>(0)[i] =
          f(static_cast<Wide>(in_a[at_a]), static_cast<Wide>(in_b[at_b])) ? 1 : 0;
    });
  };
  if (a.dtype == ir::DataType::kBool) return run(uint8_t());
  VisitNumber(a.dtype, run);
}

absl::Status CheckPredicate(const KernelContext& context) {
  if (context.result_type(0).dtype() != ir::DataType::kBool)
    return context.Unsupported("a result that is not bool");
  return SameOperands(context);
}
absl::Status CheckLogic(const KernelContext& context) {
  if (context.input_type(0).dtype() != ir::DataType::kBool)
    return context.Unsupported("operands that are not bool");
  return CheckPredicate(context);
}

absl::Status Equal(const AttrsOf<ops::Equal>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a == b; });
  return absl::OkStatus();
}
const RegisterReference<ops::Equal> kEqual(&Equal, &CheckPredicate);

absl::Status Greater(const AttrsOf<ops::Greater>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a > b; });
  return absl::OkStatus();
}
const RegisterReference<ops::Greater> kGreater(&Greater, &CheckPredicate);

absl::Status Less(const AttrsOf<ops::Less>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a < b; });
  return absl::OkStatus();
}
const RegisterReference<ops::Less> kLess(&Less, &CheckPredicate);

absl::Status GreaterOrEqual(const AttrsOf<ops::GreaterOrEqual>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a >= b; });
  return absl::OkStatus();
}
const RegisterReference<ops::GreaterOrEqual> kGreaterOrEqual(&GreaterOrEqual, &CheckPredicate);

absl::Status LessOrEqual(const AttrsOf<ops::LessOrEqual>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a <= b; });
  return absl::OkStatus();
}
const RegisterReference<ops::LessOrEqual> kLessOrEqual(&LessOrEqual, &CheckPredicate);

absl::Status And(const AttrsOf<ops::And>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a != 0 && b != 0; });
  return absl::OkStatus();
}
const RegisterReference<ops::And> kAnd(&And, &CheckLogic);

absl::Status Or(const AttrsOf<ops::Or>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return a != 0 || b != 0; });
  return absl::OkStatus();
}
const RegisterReference<ops::Or> kOr(&Or, &CheckLogic);

absl::Status Xor(const AttrsOf<ops::Xor>&, const KernelArgs& args) {
  Predicate(args, [](auto a, auto b) { return (a != 0) != (b != 0); });
  return absl::OkStatus();
}
const RegisterReference<ops::Xor> kXor(&Xor, &CheckLogic);

}  // namespace
}  // namespace weft::kernels::reference
