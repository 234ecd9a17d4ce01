// Numbers as text, and text as numbers. A number is written with as few digits as tell it from others
// of its type and without an exponent, and read with or without one; NaN, INF and -INF are words.
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <system_error>

#include "ir/dialects/onnx.h"
#include "ir/element/low_precision.h"
#include "kernels/reference/strings_kernel.h"
#include "kernels/strings_result.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// --- to text ------------------------------------------------------------------------------

template <class T>
std::string PlainText(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "INF" : "-INF";
    char text[1100];  // more than any double has digits
    const auto written = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed);
    return {text, written.ptr};
  } else {
    return std::to_string(value);
  }
}

absl::StatusOr<Tensor> ToText(const TensorView& x) {
  WEFT_ASSIGN_OR_RETURN(StringsResult result,
                        StringsResult::Create({x.dims.begin(), x.dims.end()}));
  absl::Status status;
  const auto write = [&](const auto& values) {
    for (const auto value : values)
      if (status.ok()) status = result.Add(PlainText(value));
  };
  if (x.dtype == ir::DataType::kString) {
    for (const std::string& text : x.values<std::string>())
      if (status.ok()) status = result.Add(text);
  } else if (x.dtype == ir::DataType::kF64) {
    write(x.values<double>());
  } else if (x.dtype == ir::DataType::kBool || ir::IsLowPrecisionInteger(x.dtype)) {
    const std::vector<double> values = ReadDoubles(x);
    write(std::vector<int64_t>(values.begin(), values.end()));
  } else if (!VisitInteger(x.dtype, [&](auto tag) { write(x.values<decltype(tag)>()); })) {
    const std::vector<double> values = ReadDoubles(x);  // floats, no longer than f32
    write(std::vector<float>(values.begin(), values.end()));
  }
  WEFT_RETURN_IF_ERROR(status);
  return std::move(result).Finish();
}

// --- from text ----------------------------------------------------------------------------

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
  const size_t begin = std::min(text.find_first_not_of(kWhiteSpace), text.size());
  text.remove_prefix(begin);
  text.remove_suffix(text.size() - (text.find_last_not_of(kWhiteSpace) + 1));
  const bool has_plus = text.size() > 1 && text[0] == '+' && text[1] != '-';
  return has_plus ? text.substr(1) : text;
}

template <class T>
bool Parse(std::string_view text, T* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

// An integer, or the whole part of another number, when T has it.
template <class T>
bool ParseInteger(std::string_view text, T* value) {
  if (Parse(text, value)) return true;
  double real = 0;
  if (!Parse(text, &real) || !std::isfinite(real)) return false;
  real = std::trunc(real);
  // The bounds of T plus or minus one are doubles, or round to powers of two that are.
  if (real < static_cast<double>(std::numeric_limits<T>::lowest()) ||
      real >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return false;
  *value = static_cast<T>(real);
  return true;
}

// Of any type that WriteDoubles knows.
absl::StatusOr<Tensor> FromText(const TensorView& x, ir::DataType to) {
  WEFT_ASSIGN_OR_RETURN(Tensor y, CreateDynamic(to, {x.dims.begin(), x.dims.end()}));
  const std::span<std::string> texts = x.values<std::string>();
  const auto parse_all = [&](auto values, const auto& parse) -> absl::Status {
    for (size_t i = 0; i < texts.size(); ++i)
      if (!parse(Trimmed(texts[i]), &values[i]))
        return ir::InvalidArgument(QuotedText(texts[i]) + " is no " +
                                   std::string(ir::DataTypeName(to)));
    return absl::OkStatus();
  };
  absl::Status status;
  const auto parse_integers = [&](auto tag) {
    using T = decltype(tag);
    status = parse_all(y.values<T>(), &ParseInteger<T>);
  };
  if (to == ir::DataType::kF32) {
    status = parse_all(y.values<float>(), &Parse<float>);
  } else if (!VisitInteger(to, parse_integers)) {
    std::vector<double> values(texts.size());
    status = parse_all(std::span<double>(values), &Parse<double>);
    if (to == ir::DataType::kBool) {
      for (size_t i = 0; i < values.size(); ++i) y.values<uint8_t>()[i] = values[i] != 0;
    } else {
      WriteDoubles(values, y.view());
    }
  }
  if (!status.ok()) return status;
  return y;
}

absl::StatusOr<std::vector<RuntimeValue>> CastTo(const TensorView& x, ir::DataType to) {
  WEFT_ASSIGN_OR_RETURN(Tensor y, to == ir::DataType::kString ? ToText(x) : FromText(x, to));
  return std::vector<RuntimeValue>{RuntimeValue::Of(std::move(y))};
}

absl::Status CheckTypes(const KernelContext& context) {
  for (const ir::Type type : {context.input_type(0), context.result_type(0)}) {
    if (type.dtype() != ir::DataType::kBool && type.dtype() != ir::DataType::kString &&
        !ir::IsLowPrecision(type.dtype()) && !VisitNumber(type.dtype(), [](auto) {}))
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(type.dtype())));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RuntimeValue>> Cast(const AttrsOf<ops::Cast>& attrs,
                                               const KernelArgs& args) {
  return CastTo(args.inputs[0], attrs.to);
}
const RegisterStrings<ops::Cast> kCast(&Cast, &CheckTypes);

absl::StatusOr<std::vector<RuntimeValue>> CastLike(const AttrsOf<ops::CastLike>&,
                                                   const KernelArgs& args) {
  return CastTo(args.inputs[0], args.inputs[1].dtype);
}
const RegisterStrings<ops::CastLike> kCastLike(&CastLike, &CheckTypes);

}  // namespace
}  // namespace weft::kernels::reference
