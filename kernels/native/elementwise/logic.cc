// Functions of bools and of the bits of integers, and tests of floats.
#include "kernels/native/simd/elementwise/logic.h"

#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/math.h"
#include "kernels/native/elementwise/elementwise.h"
#include "kernels/native/simd/elementwise/rows.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;

bool AllOf(const KernelContext& context, size_t operands, DataType dtype) {
  if (context.num_inputs() != operands || context.result_type(0).dtype() != dtype) return false;
  for (size_t i = 0; i < operands; ++i)
    if (context.input_type(i).dtype() != dtype) return false;
  return true;
}

// --- bools --------------------------------------------------------------------------

template <simd::LogicOp kOp>
Made MakeLogic(const KernelContext& context) {
  if (!AllOf(context, 2, DataType::kBool)) return context.Unsupported("other than bools");
  const Dims shape(context.result_dims(0));
  return MakeNative(
      "logic",
      {.may_overwrite = context.OperandsLikeResult(), .spaced_rows = {kLongRows, kLongRows}},
      [shape, a = BroadcastStrides(context.dims(0), shape),
       b = BroadcastStrides(context.dims(1), shape)](const KernelArgs& args) {
        simd::Logic(kOp, args.input<uint8_t>(0), OperandStrides(args, 0, a), args.input<uint8_t>(1),
                    OperandStrides(args, 1, b), args.output<uint8_t>(0), shape, *args.pool);
      });
}
template <simd::LogicOp kOp>
std::optional<simd::RowFunction> LogicRow(const RowContext& context) {
  if (!context.Has(2, DataType::kBool, DataType::kBool)) return std::nullopt;
  return simd::RowFunction{.run = [](const simd::RowFunction&, const simd::RowArgs& args) {
    simd::LogicOnRow(kOp, static_cast<const uint8_t*>(args.in[0]), args.stride[0],
                     static_cast<const uint8_t*>(args.in[1]), args.stride[1],
                     static_cast<uint8_t*>(args.out), args.n);
  }};
}
const RegisterElementwise<ops::And> kAnd(&MakeLogic<simd::LogicOp::kAnd>,
                                         &LogicRow<simd::LogicOp::kAnd>);
const RegisterElementwise<ops::Or> kOr(&MakeLogic<simd::LogicOp::kOr>,
                                       &LogicRow<simd::LogicOp::kOr>);
const RegisterElementwise<ops::Xor> kXor(&MakeLogic<simd::LogicOp::kXor>,
                                         &LogicRow<simd::LogicOp::kXor>);

Made MakeNot(const KernelContext& context) {
  if (!AllOf(context, 1, DataType::kBool)) return context.Unsupported("other than bools");
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("not", {.may_overwrite = 1}, [n](const KernelArgs& args) {
    simd::Not(args.input<uint8_t>(0), args.output<uint8_t>(0), n, *args.pool);
  });
}
std::optional<simd::RowFunction> NotRow(const RowContext& context) {
  if (!context.Has(1, DataType::kBool, DataType::kBool)) return std::nullopt;
  return simd::RowFunction{.run = [](const simd::RowFunction&, const simd::RowArgs& args) {
    simd::NotOnRow(static_cast<const uint8_t*>(args.in[0]), args.stride[0],
                   static_cast<uint8_t*>(args.out), args.n);
  }};
}
const RegisterElementwise<ops::Not> kNot(&MakeNot, &NotRow);

// --- bits of integers -----------------------------------------------------------------

template <class T>
std::unique_ptr<Kernel> MakeBitwiseOn(const KernelContext& context, simd::BitwiseOp op) {
  const Dims shape(context.result_dims(0));
  return MakeNative(
      "bitwise",
      {.may_overwrite = context.OperandsLikeResult(), .spaced_rows = {kLongRows, kLongRows}},
      [op, shape, a = BroadcastStrides(context.dims(0), shape),
       b = BroadcastStrides(context.dims(1), shape)](const KernelArgs& args) {
        simd::Bitwise<T>(op, args.input<T>(0), OperandStrides(args, 0, a), args.input<T>(1),
                         OperandStrides(args, 1, b), args.output<T>(0), shape, *args.pool);
      });
}
// By the size of elements, which are integers of one type.
Made MakeBitwiseOp(const KernelContext& context, simd::BitwiseOp op) {
  const DataType dtype = context.result_type(0).dtype();
  if (!ir::IsInteger(dtype) || ir::IsLowPrecision(dtype) || !AllOf(context, 2, dtype))
    return context.Unsupported("other than two of one integer type");
  switch (ir::ElementSize(dtype)) {
    case 1:
      return MakeBitwiseOn<uint8_t>(context, op);
    case 2:
      return MakeBitwiseOn<uint16_t>(context, op);
    case 4:
      return MakeBitwiseOn<uint32_t>(context, op);
    default:
      return MakeBitwiseOn<uint64_t>(context, op);
  }
}
template <simd::BitwiseOp kOp>
Made MakeBitwise(const KernelContext& context) {
  return MakeBitwiseOp(context, kOp);
}
const RegisterKernel<ops::BitwiseAnd> kBitwiseAnd("native", &MakeBitwise<simd::BitwiseOp::kAnd>);
const RegisterKernel<ops::BitwiseOr> kBitwiseOr("native", &MakeBitwise<simd::BitwiseOp::kOr>);
const RegisterKernel<ops::BitwiseXor> kBitwiseXor("native", &MakeBitwise<simd::BitwiseOp::kXor>);

Made MakeBitShift(const KernelContext& context) {
  switch (context.result_type(0).dtype()) {
    case DataType::kU8:
    case DataType::kU16:
    case DataType::kU32:
    case DataType::kU64:
      break;
    default:
      return context.Unsupported("elements that are no unsigned integers");
  }
  const bool left = context.attrs_of<ops::BitShift>().direction == ops::ShiftDirection::kLeft;
  return MakeBitwiseOp(context, left ? simd::BitwiseOp::kShiftLeft : simd::BitwiseOp::kShiftRight);
}
const RegisterKernel<ops::BitShift> kBitShift("native", &MakeBitShift);

Made MakeBitwiseNot(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  if (!ir::IsInteger(dtype) || ir::IsLowPrecision(dtype) || !AllOf(context, 1, dtype))
    return context.Unsupported("other than integers of one type");
  const int64_t bytes =
      context.result_type(0).NumElements() * static_cast<int64_t>(ir::ElementSize(dtype));
  return MakeNative("bitwise", {.may_overwrite = 1}, [bytes](const KernelArgs& args) {
    simd::InvertBits(args.input<uint8_t>(0), args.output<uint8_t>(0), bytes, *args.pool);
  });
}
const RegisterKernel<ops::BitwiseNot> kBitwiseNot("native", &MakeBitwiseNot);

// --- tests of floats ------------------------------------------------------------------

template <class Bits>
std::unique_ptr<Kernel> MakeClassifyOn(const KernelContext& context,
                                       const simd::FloatClass<Bits>& marked) {
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("classify", {}, [marked, n](const KernelArgs& args) {
    simd::ClassifyFloats<Bits>(marked, args.input<Bits>(0), args.output<uint8_t>(0), n, *args.pool);
  });
}
Made MakeClassify(const KernelContext& context, bool nan, bool positive, bool negative) {
  if (context.result_type(0).dtype() != DataType::kBool)
    return context.Unsupported("a result that is not bool");
  switch (context.input_type(0).dtype()) {
    case DataType::kF32:
      return MakeClassifyOn<uint32_t>(context, {0x7f800000, nan, positive, negative});
    case DataType::kF64:
      return MakeClassifyOn<uint64_t>(context, {0x7ff0000000000000, nan, positive, negative});
    case DataType::kF16:
      return MakeClassifyOn<uint16_t>(context, {0x7c00, nan, positive, negative});
    case DataType::kBF16:
      return MakeClassifyOn<uint16_t>(context, {0x7f80, nan, positive, negative});
    default:
      return context.Unsupported("these element types");
  }
}
Made MakeIsNaN(const KernelContext& context) { return MakeClassify(context, true, false, false); }
const RegisterKernel<ops::IsNaN> kIsNaN("native", &MakeIsNaN);

Made MakeIsInf(const KernelContext& context) {
  const auto attrs = context.attrs_of<ops::IsInf>();
  return MakeClassify(context, false, attrs.detect_positive != 0, attrs.detect_negative != 0);
}
const RegisterKernel<ops::IsInf> kIsInf("native", &MakeIsInf);

}  // namespace
}  // namespace weft::kernels::native
