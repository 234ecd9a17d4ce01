// Elementwise functions of two tensors with broadcasting: arithmetic, comparisons, where.
#include "kernels/native/simd/elementwise/binary.h"

#include <algorithm>
#include <type_traits>

#include "ir/dialects/onnx.h"
#include "kernels/native/elementwise/elementwise.h"
#include "kernels/native/elementwise/variadic.h"
#include "kernels/native/simd/elementwise/rows.h"
#include "kernels/native/simd/elementwise/where.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;

struct BroadcastShape {
  Dims result, a, b;
  explicit BroadcastShape(const KernelContext& context)
      : result(context.result_dims(0)),
        a(BroadcastStrides(context.dims(0), result)),
        b(BroadcastStrides(context.dims(1), result)) {}
};

template <class T>
std::unique_ptr<Kernel> MakeBinaryOn(const KernelContext& context, simd::BinaryOp op) {
  NativeOptions options = {.may_overwrite = context.OperandsLikeResult(),
                           .spaced_rows = {kLongRows, kLongRows}};
  size_t divisors = 0;  // that may be zero, which only integers must not be
  if (std::is_integral_v<T> && op == simd::BinaryOp::kDiv) {
    divisors = static_cast<size_t>(context.input_type(1).NumElements());
    options.spaced_rows.pop_back();
  }
  return MakeNative("elementwise", options,
                    [op, divisors, shape = BroadcastShape(context)](const KernelArgs& args) {
                      const T* const b = args.input<T>(1);
                      if (std::count(b, b + divisors, T(0)) > 0)
                        return ir::InvalidArgument("onnx.Div: an integer is divided by zero");
                      simd::Binary<T>(op, args.input<T>(0), OperandStrides(args, 0, shape.a), b,
                                      OperandStrides(args, 1, shape.b), args.output<T>(0),
                                      shape.result, *args.pool);
                      return absl::OkStatus();
                    });
}

bool HasTwoOperandsOf(const KernelContext& context, DataType dtype) {
  return context.num_inputs() == 2 && context.input_type(0).dtype() == dtype &&
         context.input_type(1).dtype() == dtype;
}

// Floats only: integers that have negative powers are the reference's.
template <simd::BinaryOp kOp>
Made MakeFloatBinary(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  if (!HasTwoOperandsOf(context, dtype)) return context.Unsupported("other than two of one type");
  if (dtype == DataType::kF32) return MakeBinaryOn<float>(context, kOp);
  if (dtype == DataType::kF64) return MakeBinaryOn<double>(context, kOp);
  return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
}
template <simd::BinaryOp kOp>
Made MakeBinary(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  if (!HasTwoOperandsOf(context, dtype)) return context.Unsupported("other than two of one type");
  if (dtype == DataType::kI32) return MakeBinaryOn<int32_t>(context, kOp);
  if (dtype == DataType::kI64) return MakeBinaryOn<int64_t>(context, kOp);
  return MakeFloatBinary<kOp>(context);
}

// Of one operand or more.
template <simd::BinaryOp kOp, simd::VariadicOp kVariadic>
Made MakeReduction(const KernelContext& context) {
  return context.num_inputs() == 2 ? MakeBinary<kOp>(context) : MakeVariadic(context, kVariadic);
}

// In units of TileFor: two operands and the result.
constexpr int64_t kRowCost = 3;

template <simd::BinaryOp kOp>
std::optional<simd::RowFunction> BinaryRow(const RowContext& context) {
  if (!context.Has(2, DataType::kF32, DataType::kF32)) return std::nullopt;
  const auto run = [](const simd::RowFunction&, const simd::RowArgs& args) {
    simd::BinaryOnRow(kOp, static_cast<const float*>(args.in[0]), args.stride[0],
                      static_cast<const float*>(args.in[1]), args.stride[1],
                      static_cast<float*>(args.out), args.n);
  };
  return simd::RowFunction{.run = run, .cost = kRowCost};
}

const RegisterElementwise<ops::Add> kAdd(&MakeBinary<simd::BinaryOp::kAdd>,
                                         &BinaryRow<simd::BinaryOp::kAdd>);
const RegisterElementwise<ops::Sub> kSub(&MakeBinary<simd::BinaryOp::kSub>,
                                         &BinaryRow<simd::BinaryOp::kSub>);
const RegisterElementwise<ops::Mul> kMul(&MakeBinary<simd::BinaryOp::kMul>,
                                         &BinaryRow<simd::BinaryOp::kMul>);
const RegisterElementwise<ops::Div> kDiv(&MakeBinary<simd::BinaryOp::kDiv>,
                                         &BinaryRow<simd::BinaryOp::kDiv>);
const RegisterElementwise<ops::Pow> kPow(&MakeFloatBinary<simd::BinaryOp::kPow>,
                                         &BinaryRow<simd::BinaryOp::kPow>);
const RegisterElementwise<ops::Min> kMin(
    &MakeReduction<simd::BinaryOp::kMin, simd::VariadicOp::kMin>, &BinaryRow<simd::BinaryOp::kMin>);
const RegisterElementwise<ops::Max> kMax(
    &MakeReduction<simd::BinaryOp::kMax, simd::VariadicOp::kMax>, &BinaryRow<simd::BinaryOp::kMax>);
const RegisterElementwise<ops::Sum> kSum(
    &MakeReduction<simd::BinaryOp::kAdd, simd::VariadicOp::kSum>, &BinaryRow<simd::BinaryOp::kAdd>);
const RegisterKernel<ops::PRelu> kPRelu("native", &MakeBinary<simd::BinaryOp::kPRelu>);

template <class T>
std::unique_ptr<Kernel> MakeCompareOn(const KernelContext& context, simd::CompareOp op) {
  return MakeNative("compare", {}, [op, shape = BroadcastShape(context)](const KernelArgs& args) {
    simd::Compare<T>(op, args.input<T>(0), shape.a, args.input<T>(1), shape.b,
                     args.output<uint8_t>(0), shape.result, *args.pool);
  });
}
template <simd::CompareOp kOp>
Made MakeCompare(const KernelContext& context) {
  const DataType dtype = context.input_type(0).dtype();
  if (!HasTwoOperandsOf(context, dtype) || context.result_type(0).dtype() != DataType::kBool)
    return context.Unsupported("other than two of one type to bool");
  switch (dtype) {
    case DataType::kF32:
      return MakeCompareOn<float>(context, kOp);
    case DataType::kF64:
      return MakeCompareOn<double>(context, kOp);
    case DataType::kI32:
      return MakeCompareOn<int32_t>(context, kOp);
    case DataType::kI64:
      return MakeCompareOn<int64_t>(context, kOp);
    case DataType::kBool:
      return MakeCompareOn<uint8_t>(context, kOp);
    default:
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  }
}

template <simd::CompareOp kOp, class T>
void RunCompare(const simd::RowFunction&, const simd::RowArgs& args) {
  simd::CompareOnRow(kOp, static_cast<const T*>(args.in[0]), args.stride[0],
                     static_cast<const T*>(args.in[1]), args.stride[1],
                     static_cast<uint8_t*>(args.out), args.n);
}
template <simd::CompareOp kOp>
std::optional<simd::RowFunction> CompareRow(const RowContext& context) {
  if (context.Has(2, DataType::kF32, DataType::kBool))
    return simd::RowFunction{.run = &RunCompare<kOp, float>, .cost = kRowCost};
  if (context.Has(2, DataType::kBool, DataType::kBool))
    return simd::RowFunction{.run = &RunCompare<kOp, uint8_t>, .cost = kRowCost};
  return std::nullopt;
}

const RegisterElementwise<ops::Equal> kEqual(&MakeCompare<simd::CompareOp::kEqual>,
                                             &CompareRow<simd::CompareOp::kEqual>);
const RegisterElementwise<ops::Less> kLess(&MakeCompare<simd::CompareOp::kLess>,
                                           &CompareRow<simd::CompareOp::kLess>);
const RegisterElementwise<ops::Greater> kGreater(&MakeCompare<simd::CompareOp::kGreater>,
                                                 &CompareRow<simd::CompareOp::kGreater>);
const RegisterElementwise<ops::LessOrEqual> kLessOrEqual(
    &MakeCompare<simd::CompareOp::kLessOrEqual>, &CompareRow<simd::CompareOp::kLessOrEqual>);
const RegisterElementwise<ops::GreaterOrEqual> kGreaterOrEqual(
    &MakeCompare<simd::CompareOp::kGreaterOrEqual>, &CompareRow<simd::CompareOp::kGreaterOrEqual>);

Made MakeWhere(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  const size_t size = ir::ElementSize(dtype);
  if (size > 8 || context.input_type(0).dtype() != DataType::kBool ||
      context.input_type(1).dtype() != dtype || context.input_type(2).dtype() != dtype)
    return context.Unsupported("these element types");
  const Dims result(context.result_dims(0));
  return MakeNative(
      "where", {.may_overwrite = context.OperandsLikeResult() & 0b110},
      [result, condition = BroadcastStrides(context.dims(0), result),
       x = BroadcastStrides(context.dims(1), result), y = BroadcastStrides(context.dims(2), result),
       size = static_cast<int>(size)](const KernelArgs& args) {
        simd::Where(args.input<uint8_t>(0), condition, args.inputs[1].data, x, args.inputs[2].data,
                    y, args.outputs[0].data, result, size, *args.pool);
      });
}
template <class T>
void RunWhere(const simd::RowFunction&, const simd::RowArgs& args) {
  simd::WhereOnRow(static_cast<const uint8_t*>(args.in[0]), args.stride[0],
                   static_cast<const T*>(args.in[1]), args.stride[1],
                   static_cast<const T*>(args.in[2]), args.stride[2], static_cast<T*>(args.out),
                   args.n);
}
std::optional<simd::RowFunction> WhereRow(const RowContext& context) {
  if (context.operands[0] != DataType::kBool || context.operands[1] != context.result() ||
      context.operands[2] != context.result())
    return std::nullopt;
  if (context.result() == DataType::kF32)
    return simd::RowFunction{.run = &RunWhere<uint32_t>, .cost = 4};
  if (context.result() == DataType::kBool)
    return simd::RowFunction{.run = &RunWhere<uint8_t>, .cost = 4};
  return std::nullopt;
}
const RegisterElementwise<ops::Where> kWhere(&MakeWhere, &WhereRow);

}  // namespace
}  // namespace weft::kernels::native
