// Operands of any strides are packed a part at a time, in every run, constants too.
#include "kernels/native/products/matmul_other_types.h"

#include <string>

#include "ir/dialects/onnx.h"
#include "kernels/native/products/matmul_shape.h"
#include "kernels/native/simd/products/plain_matmul.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

template <class T>
std::unique_ptr<Kernel> MakeOf(const MatMulShape& s) {
  simd::MatmulArguments<T> product = {.batch = s.batch,
                                      .m = s.m,
                                      .n = s.n,
                                      .k = s.k,
                                      .a_batch_strides = s.a_strides,
                                      .a_row_stride = s.k,
                                      .b_batch_strides = s.b_strides,
                                      .b_row_stride = s.n,
                                      .c_batch_strides = RowMajorStrides(s.batch),
                                      .c_stride = s.n};
  for (int i = 0; i < s.batch.size(); ++i) product.c_batch_strides[i] *= s.m * s.n;
  return MakeNative("matmul", {}, [product](const KernelArgs& args) {
    simd::MatmulArguments<T> arguments = product;
    arguments.a = args.input<T>(0);
    arguments.b = args.input<T>(1);
    arguments.c = args.output<T>(0);
    simd::Matmul(arguments, *args.pool);
  });
}

bool AreAll(const KernelContext& context, ir::DataType dtype) {
  for (size_t i = 0; i < context.num_inputs(); ++i)
    if (context.HasInput(i) && context.input_type(i).dtype() != dtype) return false;
  return context.result_type(0).dtype() == dtype;
}

}  // namespace

Made MakeMatMulOfOtherTypes(const KernelContext& context) {
  const ir::DataType dtype = context.result_type(0).dtype();
  if (!AreAll(context, dtype)) return context.Unsupported("operands of different types");
  const MatMulShape shape(context.dims(0), context.dims(1), context.result_dims(0));
  switch (dtype) {
    case ir::DataType::kF64:
      return MakeOf<double>(shape);
    case ir::DataType::kI32:
    case ir::DataType::kU32:
      return MakeOf<uint32_t>(shape);
    case ir::DataType::kI64:
    case ir::DataType::kU64:
      return MakeOf<uint64_t>(shape);
    default:
      return context.Unsupported("elements of type " + std::string(ir::DataTypeName(dtype)));
  }
}

Made MakeGemmOfOtherTypes(const KernelContext& context) {
  if (!AreAll(context, ir::DataType::kF64)) return context.Unsupported("other than f32 and f64");
  const auto attrs = context.attrs_of<ops::Gemm>();
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1),
                                 y = context.result_dims(0);
  const simd::MatmulArguments<double> product = {.m = y[0],
                                                 .n = y[1],
                                                 .k = a[attrs.transA != 0 ? 0 : 1],
                                                 .a_row_stride = attrs.transA != 0 ? 1 : a[1],
                                                 .a_column_stride = attrs.transA != 0 ? a[1] : 1,
                                                 .b_row_stride = attrs.transB != 0 ? 1 : b[1],
                                                 .b_column_stride = attrs.transB != 0 ? b[1] : 1,
                                                 .c_stride = y[1]};
  const simd::ScaledSum<double> sum = ScaledSumOf<double>(context);
  return MakeNative("gemm", {}, [product, sum](const KernelArgs& args) {
    simd::MatmulArguments<double> p = product;
    p.a = args.input<double>(0);
    p.b = args.input<double>(1);
    p.c = args.output<double>(0);
    simd::Matmul(p, *args.pool);
    simd::ScaledSum<double> s = sum;
    s.y = p.c;
    s.x = args.input<double>(2);
    if (s.alpha != 1 || s.x != nullptr) simd::AddScaled(s, *args.pool);
  });
}

}  // namespace weft::kernels::native
