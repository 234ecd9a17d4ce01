// Conversion between element types, and the elementwise choice between two tensors.
#include "ir/dialects/onnx.h"
#include "ir/element/low_precision.h"
#include "kernels/reference/reference.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

// An integer wraps into a narrower integer; into a float it rounds once.
template <class To, class From>
To Convert(From value) {
  if constexpr (kIsFloat<From>) {
    return FromDouble<To>(static_cast<double>(value));
  } else if constexpr (std::is_integral_v<To>) {
    return static_cast<To>(value);
  } else if constexpr (std::is_floating_point_v<To>) {
    return static_cast<To>(value);
  } else {
    return To(static_cast<double>(value));
  }
}

template <class From>
void ConvertAll(std::span<From> in, const TensorView& y) {
  if (y.dtype == ir::DataType::kBool) {
    for (size_t i = 0; i < in.size(); ++i) y.values<uint8_t>()[i] = static_cast<double>(in[i]) != 0;
    return;
  }
  VisitNumber(y.dtype, [&](auto to_tag) {
    using To = decltype(to_tag);
    for (size_t i = 0; i < in.size(); ++i) y.values<To>()[i] = Convert<To>(in[i]);
  });
}

// To 4 and 2 bits an integer wraps, and other numbers do so once they are rounded to nearest even.
void ConvertToLowPrecision(const TensorView& x, const TensorView& y, ir::LowPrecisionRules rules) {
  const std::span<uint8_t> out = y.values<uint8_t>();
  const bool to_integer = ir::IsLowPrecisionInteger(y.dtype);
  const auto wrap = [&](auto from_tag) {
    using From = decltype(from_tag);
    const std::span<From> in = x.values<From>();
    for (size_t i = 0; i < out.size(); ++i)
      out[i] = ir::WrapToLowPrecision(y.dtype, static_cast<uint64_t>(in[i]));
  };
  if (to_integer && VisitInteger(x.dtype, wrap)) return;
  const std::vector<double> in = ReadDoubles(x);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto integer = static_cast<uint64_t>(FromDouble<int64_t>(std::nearbyint(in[i])));
    out[i] = to_integer ? ir::WrapToLowPrecision(y.dtype, integer)
                        : ir::ToLowPrecision(y.dtype, in[i], rules);
  }
}

absl::Status Cast(const AttrsOf<ops::Cast>& attrs, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  if (ir::IsLowPrecision(y.dtype)) {
    ConvertToLowPrecision(
        x, y, {attrs.saturate.value_or(1) != 0, attrs.round_mode.value_or(ir::ScaleRounding::kUp)});
  } else if (ir::IsLowPrecision(x.dtype)) {
    std::vector<double> in = ReadDoubles(x);
    ConvertAll(std::span<double>(in), y);
  } else if (x.dtype == ir::DataType::kBool) {
    ConvertAll(x.values<uint8_t>(), y);
  } else {
    VisitNumber(x.dtype, [&](auto tag) { ConvertAll(x.values<decltype(tag)>(), y); });
  }
  return absl::OkStatus();
}
absl::Status CheckCast(const KernelContext& context) {
  for (const ir::Type type : {context.input_type(0), context.result_type(0)}) {
    if (type.dtype() != ir::DataType::kBool && !ir::IsLowPrecision(type.dtype()) &&
        !VisitNumber(type.dtype(), [](auto) {}))
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(type.dtype())));
  }
  return absl::OkStatus();
}
const RegisterReference<ops::Cast> kCast(&Cast, &CheckCast);

absl::Status Where(const AttrsOf<ops::Where>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[1], &y = args.inputs[2], &out = args.outputs[0];
  const size_t size = ir::ElementSize(out.dtype);
  std::byte* to = out.data;
  for (Odometer<3> at(out.dims,
                      {BroadcastStrides(args.inputs[0].dims, out.dims),
                       BroadcastStrides(x.dims, out.dims), BroadcastStrides(y.dims, out.dims)});
       !at.done(); at.Next(), to += size) {
    const bool first = args.input<uint8_t>(0)[at.offset[0]] != 0;
    std::memcpy(to, first ? x.data + at.offset[1] * size : y.data + at.offset[2] * size, size);
  }
  return absl::OkStatus();
}
absl::Status CheckWhere(const KernelContext& context) {
  if (context.input_type(0).dtype() != ir::DataType::kBool)
    return context.Unsupported("a condition that is not bool");
  const ir::DataType dtype = context.result_type(0).dtype();
  if (context.input_type(1).dtype() != dtype || context.input_type(2).dtype() != dtype)
    return context.Unsupported("operands of different element types");
  return absl::OkStatus();
}
const RegisterReference<ops::Where> kWhere(&Where, &CheckWhere);

}  // namespace
}  // namespace weft::kernels::reference
