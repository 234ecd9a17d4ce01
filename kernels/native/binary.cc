// Elementwise functions of two tensors with broadcasting: arithmetic, comparisons, where.
#include "kernels/cpu/binary.h"

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;
using ir::DataType;

struct BroadcastShape {
  cpu::Dims result, a, b;
  explicit BroadcastShape(const KernelContext& context)
      : result(context.result_dims(0)),
        a(cpu::BroadcastStrides(context.dims(0), result)),
        b(cpu::BroadcastStrides(context.dims(1), result)) {}
};

template <class T>
std::unique_ptr<Kernel> MakeBinaryOn(const KernelContext& context, cpu::BinaryOp op) {
  return MakeNative("elementwise", {.may_overwrite = OperandsLikeResult(context)},
                    [op, shape = BroadcastShape(context)](const KernelArgs& args) {
                      cpu::Binary<T>(op, args.input<T>(0), shape.a, args.input<T>(1), shape.b,
                                     args.output<T>(0), shape.result, *args.pool);
                    });
}

bool HasTwoOperandsOf(const KernelContext& context, DataType dtype) {
  return context.num_inputs() == 2 && context.input_type(0).dtype() == dtype &&
         context.input_type(1).dtype() == dtype;
}

// Floats only: integers that divide by zero or have negative powers are the reference's.
template <cpu::BinaryOp kOp>
Made MakeFloatBinary(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  if (!HasTwoOperandsOf(context, dtype)) return context.Unsupported("other than two of one type");
  if (dtype == DataType::kF32) return MakeBinaryOn<float>(context, kOp);
  if (dtype == DataType::kF64) return MakeBinaryOn<double>(context, kOp);
  return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
}
template <cpu::BinaryOp kOp>
Made MakeBinary(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  if (!HasTwoOperandsOf(context, dtype)) return context.Unsupported("other than two of one type");
  if (dtype == DataType::kI32) return MakeBinaryOn<int32_t>(context, kOp);
  if (dtype == DataType::kI64) return MakeBinaryOn<int64_t>(context, kOp);
  return MakeFloatBinary<kOp>(context);
}

const RegisterKernel<ops::Add> kAdd("native", &MakeBinary<cpu::BinaryOp::kAdd>);
const RegisterKernel<ops::Sub> kSub("native", &MakeBinary<cpu::BinaryOp::kSub>);
const RegisterKernel<ops::Mul> kMul("native", &MakeBinary<cpu::BinaryOp::kMul>);
const RegisterKernel<ops::Div> kDiv("native", &MakeFloatBinary<cpu::BinaryOp::kDiv>);
const RegisterKernel<ops::Pow> kPow("native", &MakeFloatBinary<cpu::BinaryOp::kPow>);
const RegisterKernel<ops::Min> kMin("native", &MakeBinary<cpu::BinaryOp::kMin>);
const RegisterKernel<ops::Max> kMax("native", &MakeBinary<cpu::BinaryOp::kMax>);
const RegisterKernel<ops::Sum> kSum("native", &MakeBinary<cpu::BinaryOp::kAdd>);

template <class T>
std::unique_ptr<Kernel> MakeCompareOn(const KernelContext& context, cpu::CompareOp op) {
  return MakeNative("compare", {}, [op, shape = BroadcastShape(context)](const KernelArgs& args) {
    cpu::Compare<T>(op, args.input<T>(0), shape.a, args.input<T>(1), shape.b,
                    args.output<uint8_t>(0), shape.result, *args.pool);
  });
}
template <cpu::CompareOp kOp>
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

const RegisterKernel<ops::Equal> kEqual("native", &MakeCompare<cpu::CompareOp::kEqual>);
const RegisterKernel<ops::Less> kLess("native", &MakeCompare<cpu::CompareOp::kLess>);
const RegisterKernel<ops::Greater> kGreater("native", &MakeCompare<cpu::CompareOp::kGreater>);
const RegisterKernel<ops::LessOrEqual> kLessOrEqual("native",
                                                    &MakeCompare<cpu::CompareOp::kLessOrEqual>);
const RegisterKernel<ops::GreaterOrEqual> kGreaterOrEqual(
    "native", &MakeCompare<cpu::CompareOp::kGreaterOrEqual>);

Made MakeWhere(const KernelContext& context) {
  const DataType dtype = context.result_type(0).dtype();
  const size_t size = ir::ElementSize(dtype);
  if (size > 8 || context.input_type(0).dtype() != DataType::kBool ||
      context.input_type(1).dtype() != dtype || context.input_type(2).dtype() != dtype)
    return context.Unsupported("these element types");
  const cpu::Dims result(context.result_dims(0));
  return MakeNative("where", {},
                    [result, condition = cpu::BroadcastStrides(context.dims(0), result),
                     x = cpu::BroadcastStrides(context.dims(1), result),
                     y = cpu::BroadcastStrides(context.dims(2), result),
                     size = static_cast<int>(size)](const KernelArgs& args) {
                      cpu::Where(args.input<uint8_t>(0), condition, args.inputs[1].data, x,
                                 args.inputs[2].data, y, args.outputs[0].data, result, size,
                                 *args.pool);
                    });
}
const RegisterKernel<ops::Where> kWhere("native", &MakeWhere);

}  // namespace
}  // namespace weft::kernels::native
