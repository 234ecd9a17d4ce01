// The bits of integers, and bits read as another type.
#include <cstring>

#include "ir/dialects/onnx/math.h"
#include "ir/element/low_precision.h"
#include "kernels/reference/elementwise/map.h"

namespace weft::kernels::reference {
namespace {

namespace ops = ir::ops;

absl::Status SameIntegers(const KernelContext& context) {
  if (!ir::IsInteger(context.input_type(0).dtype()))
    return context.Unsupported("elements that are no integers");
  return SameNumbers(context);
}

absl::Status BitwiseNot(const AttrsOf<ops::BitwiseNot>&, const KernelArgs& args) {
  VisitInteger(args.inputs[0].dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> in = args.inputs[0].values<T>(), out = args.outputs[0].values<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(~in[i]);
  });
  return absl::OkStatus();
}
const RegisterReference<ops::BitwiseNot> kBitwiseNot(&BitwiseNot, &SameIntegers);

// f is generic.
template <class F>
absl::Status Combine(const KernelArgs& args, const F& f) {
  const TensorView &a = args.inputs[0], &b = args.inputs[1], &y = args.outputs[0];
  VisitInteger(y.dtype, [&](auto tag) {
    using T = decltype(tag);
    const std::span<T> in_a = a.values<T>(), in_b = b.values<T>(), out = y.values<T>();
    Broadcast(a, b, y, [&](int64_t i, int64_t at_a, int64_t at_b) {
      out[i] = static_cast<T>(f(in_a[at_a], in_b[at_b]));
    });
  });
  return absl::OkStatus();
}

absl::Status BitwiseAnd(const AttrsOf<ops::BitwiseAnd>&, const KernelArgs& args) {
  return Combine(args, [](auto a, auto b) { return a & b; });
}
const RegisterReference<ops::BitwiseAnd> kBitwiseAnd(&BitwiseAnd, &SameIntegers);

absl::Status BitwiseOr(const AttrsOf<ops::BitwiseOr>&, const KernelArgs& args) {
  return Combine(args, [](auto a, auto b) { return a | b; });
}
const RegisterReference<ops::BitwiseOr> kBitwiseOr(&BitwiseOr, &SameIntegers);

absl::Status BitwiseXor(const AttrsOf<ops::BitwiseXor>&, const KernelArgs& args) {
  return Combine(args, [](auto a, auto b) { return a ^ b; });
}
const RegisterReference<ops::BitwiseXor> kBitwiseXor(&BitwiseXor, &SameIntegers);

absl::Status BitShift(const AttrsOf<ops::BitShift>& attrs, const KernelArgs& args) {
  const bool left = attrs.direction == ops::ShiftDirection::kLeft;
  return Combine(args, [&](auto a, auto b) -> uint64_t {
    const uint64_t bits = SignExtended(a), shift = SignExtended(b);
    if (shift >= 8 * sizeof(a)) return 0;
    return left ? bits << shift : bits >> shift;
  });
}
absl::Status CheckBitShift(const KernelContext& context) {
  switch (context.input_type(0).dtype()) {
    case ir::DataType::kU8:
    case ir::DataType::kU16:
    case ir::DataType::kU32:
    case ir::DataType::kU64:
      return SameNumbers(context);
    default:
      return context.Unsupported("elements that are no unsigned integers");
  }
}
const RegisterReference<ops::BitShift> kBitShift(&BitShift, &CheckBitShift);

absl::Status BitCast(const AttrsOf<ops::BitCast>&, const KernelArgs& args) {
  const TensorView &x = args.inputs[0], &y = args.outputs[0];
  if (x.NumElements() > 0) std::memcpy(y.data, x.data, y.NumBytes());
  if (ir::IsLowPrecision(y.dtype))  // u4 8 is i4 -8, which are different bytes
    for (uint8_t& element : y.values<uint8_t>()) element = ir::WrapToLowPrecision(y.dtype, element);
  return absl::OkStatus();
}
absl::Status CheckBitCast(const KernelContext& context) {
  const size_t bits = ir::ElementBits(context.result_type(0).dtype());
  if (bits == 0 || bits != ir::ElementBits(context.input_type(0).dtype()))
    return context.Unsupported("element types of different sizes");
  return absl::OkStatus();
}
const RegisterReference<ops::BitCast> kBitCast(&BitCast, &CheckBitCast);

}  // namespace
}  // namespace weft::kernels::reference
