// Conversion between element types.
#include "kernels/native/simd/elementwise/cast.h"

#include <optional>

#include "ir/dialects/onnx.h"
#include "kernels/native/native.h"

namespace weft::kernels::native {
namespace {

using ir::DataType;

std::optional<simd::ScalarType> ScalarTypeOf(DataType dtype) {
  switch (dtype) {
    case DataType::kF32:
      return simd::ScalarType::kFloat;
    case DataType::kF64:
      return simd::ScalarType::kDouble;
    case DataType::kF16:
      return simd::ScalarType::kFloat16;
    case DataType::kBF16:
      return simd::ScalarType::kBFloat16;
    case DataType::kI8:
      return simd::ScalarType::kInt8;
    case DataType::kI16:
      return simd::ScalarType::kInt16;
    case DataType::kI32:
      return simd::ScalarType::kInt32;
    case DataType::kI64:
      return simd::ScalarType::kInt64;
    case DataType::kU8:
      return simd::ScalarType::kUint8;
    case DataType::kU16:
      return simd::ScalarType::kUint16;
    case DataType::kU32:
      return simd::ScalarType::kUint32;
    case DataType::kU64:
      return simd::ScalarType::kUint64;
    case DataType::kBool:
      return simd::ScalarType::kBool;
    default:
      return std::nullopt;
  }
}

Made MakeCast(const KernelContext& context) {
  const auto from = ScalarTypeOf(context.input_type(0).dtype());
  const auto to = ScalarTypeOf(context.result_type(0).dtype());
  if (!from || !to) return context.Unsupported("these element types");
  const int64_t n = context.result_type(0).NumElements();
  return MakeNative("cast", {}, [from = *from, to = *to, n](const KernelArgs& args) {
    simd::Cast(from, args.inputs[0].data, to, args.outputs[0].data, n, *args.pool);
  });
}
const RegisterKernel<ir::ops::Cast> kCast("native", &MakeCast);

}  // namespace
}  // namespace weft::kernels::native
