// Matrix products. A constant right-hand side is packed once; others are packed, where that pays,
// in every run.
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/activation.h"
#include "kernels/native/native.h"
#include "kernels/native/products/matmul_batch.h"
#include "kernels/native/simd/binary.h"
#include "kernels/native/simd/gemm.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// y = activation(x . w + bias + residual) for x [m, k], w [k, n]. Operand numbers of bias and
// residual; -1 for none.
struct Product {
  int64_t m = 0, k = 0, n = 0;
  int bias = -1, residual = -1;
  simd::Activation activation = {};
};

int64_t Count(std::span<const int64_t> dims) { return CountElements(dims); }

// The constant operand 1, packed; shared by all plans.
absl::StatusOr<std::shared_ptr<simd::PackedMatrix>> PackWeights(const KernelContext& context,
                                                                const Product& p, bool transposed) {
  const ir::Attribute weights = context.constant(1);
  const std::string key =
      "native gemm k=" + std::to_string(p.k) + (transposed ? " transposed" : "");
  return context.packed().Get<simd::PackedMatrix>(
      key, {weights}, [&]() -> absl::StatusOr<std::shared_ptr<simd::PackedMatrix>> {
        return std::make_shared<simd::PackedMatrix>(
            simd::PackedMatrix::Pack(SourceOf(weights), transposed ? 1 : p.n, transposed ? p.k : 1,
                                     p.k, p.n, context.pool()));
      });
}

const float* InputOrNull(const KernelArgs& args, int i) {
  return i < 0 ? nullptr : args.input<float>(static_cast<size_t>(i));
}

uint32_t ResidualMask(const Product& p) { return p.residual < 0 ? 0 : 1u << p.residual; }

absl::StatusOr<std::unique_ptr<Kernel>> MakePackedProduct(const KernelContext& context,
                                                          const Product& p, bool transposed) {
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<simd::PackedMatrix> weights,
                        PackWeights(context, p, transposed));
  return MakeNative("gemm",
                    {.may_overwrite = ResidualMask(p),
                     .packed = 1u << 1,
                     .spaces_rows = true,
                     .spaced_rows = {{p.k, p.k}}},
                    [p, weights](const KernelArgs& args) {
                      simd::Gemm({.m = p.m,
                                  .a = args.input<float>(0),
                                  .a_stride = args.InputStrideOr(0, p.k),
                                  .b = weights.get(),
                                  .c = args.output<float>(0),
                                  .c_stride = args.ResultStrideOr(p.n),
                                  .bias = InputOrNull(args, p.bias),
                                  .residual = InputOrNull(args, p.residual),
                                  .residual_stride = p.n,
                                  .activation = p.activation},
                                 *args.pool);
                    });
}

// y = x + y, elementwise.
void AddInto(const float* x, float* y, int64_t n, ThreadPool& pool) {
  const Dims shape = {n}, strides = {1};
  simd::Binary<float>(simd::BinaryOp::kAdd, x, strides, y, strides, y, shape, pool);
}

// With w computed at run time.
std::unique_ptr<Kernel> MakeDynamicProduct(const KernelContext& context, const Product& p,
                                           bool transposed) {
  simd::BatchMatmulArguments product = {.m = p.m,
                                        .n = p.n,
                                        .k = p.k,
                                        .a_stride = p.k,
                                        .b_stride = transposed ? p.k : p.n,
                                        .b_transposed = transposed,
                                        .c_stride = p.n};
  const int64_t scratch = simd::BatchMatmulScratchBytes(product, context.pool().num_threads());
  return MakeNative(
      "gemm", {.scratch_bytes = static_cast<size_t>(scratch), .spaced_rows = SpacedRowsOf(product)},
      [p, product](const KernelArgs& args) {
        RunBatchMatmul(product, args);
        auto* y = args.output<float>(0);
        if (const float* residual = InputOrNull(args, p.residual))
          AddInto(residual, y, p.m * p.n, *args.pool);
        const float* bias = InputOrNull(args, p.bias);
        if (bias != nullptr || p.activation.kind != simd::ActivationKind::kNone)
          simd::BiasActivation(y, bias, p.activation, y, p.m, p.n, *args.pool);
      });
}

Made MakeProduct(const KernelContext& context, const Product& p, bool transposed) {
  if (context.constant(1)) return MakePackedProduct(context, p, transposed);
  return MakeDynamicProduct(context, p, transposed);
}

// --- fused.linear -------------------------------------------------------------

Made MakeLinear(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ir::fused::Linear>();
  const std::span<const int64_t> x = context.dims(0), w = context.dims(1);
  if (x.empty() || w.size() != 2) return context.Unsupported("operands of these ranks");
  Product p = {.m = Count(x.first(x.size() - 1)),
               .k = x.back(),
               .n = w[attrs.transpose_w ? 0 : 1],
               .activation = MakeActivation(attrs.activation, attrs.activation_params)};
  if (w[attrs.transpose_w ? 1 : 0] != p.k)
    return context.InvalidArgument("x and w have different depths");
  if (context.HasInput(2)) {
    p.bias = 2;
    if (context.input_type(2).NumElements() != p.n)
      return context.InvalidArgument("the bias has not one element per column");
  }
  if (context.HasInput(3)) {
    p.residual = 3;
    if (context.input_type(3) != context.result_type(0))
      return context.Unsupported("a residual that is broadcast");
  }
  return MakeProduct(context, p, attrs.transpose_w);
}
const RegisterKernel<ir::fused::Linear> kLinear("native", &MakeLinear);

// --- onnx.Gemm ------------------------------------------------------------------

Made MakeGemm(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ops::Gemm>();
  const std::span<const int64_t> a = context.dims(0), y = context.result_dims(0);
  if (attrs.alpha != 1 || attrs.transA != 0)
    return context.Unsupported("a scaled or transposed left-hand side");
  Product p = {.m = y[0], .k = a[1], .n = y[1]};
  if (context.HasInput(2)) {
    if (attrs.beta != 1) return context.Unsupported("a scaled addend");
    const std::span<const int64_t> c = context.dims(2);
    if (context.input_type(2) == context.result_type(0)) {
      p.residual = 2;
    } else if (!c.empty() && c.back() == p.n && Count(c) == p.n) {
      p.bias = 2;
    } else {
      return context.Unsupported("an addend of shape " + ir::ToString(c));
    }
  }
  return MakeProduct(context, p, attrs.transB != 0);
}
const RegisterKernel<ops::Gemm> kGemm("native", &MakeGemm);

// --- onnx.MatMul ----------------------------------------------------------------

// Leading dims of both operands, broadcast; vectors are matrices of one row or column.
std::unique_ptr<Kernel> MakeBatchMatMul(const KernelContext& context) {
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1);
  const bool a_vector = a.size() == 1, b_vector = b.size() == 1;
  simd::BatchMatmulArguments product = {.m = a_vector ? 1 : a[a.size() - 2],
                                        .n = b_vector ? 1 : b.back(),
                                        .k = a.back(),
                                        .a_stride = a.back(),
                                        .b_stride = b_vector ? 1 : b.back()};
  const std::span<const int64_t> y = context.result_dims(0);
  product.batch = Dims(y.first(y.size() - (a_vector ? 0 : 1) - (b_vector ? 0 : 1)));
  const auto strides = [&](std::span<const int64_t> dims, int64_t matrix) {
    const size_t matrix_rank = std::min<size_t>(dims.size(), 2);
    Dims s = BroadcastStrides(dims.first(dims.size() - matrix_rank), product.batch);
    for (int i = 0; i < s.size(); ++i) s[i] *= matrix;
    return s;
  };
  product.a_batch_strides = strides(a, product.m * product.k);
  product.b_batch_strides = strides(b, product.k * product.n);
  product.c_batch_strides = RowMajorStrides(product.batch);
  for (int i = 0; i < product.batch.size(); ++i)
    product.c_batch_strides[i] *= product.m * product.n;
  product.c_stride = product.n;
  const int64_t scratch = simd::BatchMatmulScratchBytes(product, context.pool().num_threads());
  return MakeNative("matmul",
                    {.scratch_bytes = static_cast<size_t>(scratch),
                     .spaces_rows = !b_vector,
                     .spaced_rows = SpacedRowsOf(product)},
                    [product](const KernelArgs& args) { RunBatchMatmul(product, args); });
}

Made MakeMatMul(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1);
  if (b.size() == 2) {  // one matrix for all rows of a
    const Product p = {.m = Count(a.first(a.size() - 1)), .k = b[0], .n = b[1]};
    return MakeProduct(context, p, false);
  }
  return MakeBatchMatMul(context);
}
const RegisterKernel<ops::MatMul> kMatMul("native", &MakeMatMul);

}  // namespace
}  // namespace weft::kernels::native
