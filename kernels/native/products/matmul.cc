// Matrix products. A constant right-hand side is packed once; others are packed, where that pays,
// in every run.
#include <optional>
#include <string>
#include <vector>

#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"
#include "kernels/native/activation.h"
#include "kernels/native/native.h"
#include "kernels/native/products/matmul_batch.h"
#include "kernels/native/products/matmul_other_types.h"
#include "kernels/native/products/matmul_shape.h"
#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/native/simd/gemm.h"
#include "kernels/native/simd/products/plain_matmul.h"
#include "kernels/native/simd/strided_copy.h"

namespace weft::kernels::native {
namespace {

namespace ops = ir::ops;

// y = activation(x . w + bias + residual) for x [m, k], w [k, n]. Operand numbers of bias and
// residual; -1 for none.
struct Product {
  int64_t m = 0, k = 0, n = 0;
  int bias = -1, residual = -1;
  simd::Activation activation = {};
  bool x_transposed = false;  // x is [k, m]: it is copied into scratch memory
  // Where operand 2 or the product is scaled, or operand 2 broadcasts in another way: it is added last, by this, and
  // there is nothing else.
  std::optional<simd::ScaledSum<float>> sum = std::nullopt;
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

// What a product reads x from: operand 0, or its transpose in `scratch`.
size_t TransposedBytes(const Product& p) {
  const auto bytes = static_cast<size_t>(p.m * p.k) * sizeof(float);
  return p.x_transposed ? (bytes + kAlignment - 1) / kAlignment * kAlignment : 0;
}
const float* ReadX(const Product& p, const KernelArgs& args) {
  if (!p.x_transposed) return args.input<float>(0);
  simd::Transpose(args.input<float>(0), Dims{p.k, p.m}, Dims{1, 0}, args.scratch, sizeof(float),
                  *args.pool);
  return reinterpret_cast<const float*>(args.scratch);
}

void AddSum(const Product& p, const KernelArgs& args) {
  if (!p.sum) return;
  simd::ScaledSum<float> sum = *p.sum;
  sum.y = args.output<float>(0);
  sum.x = args.input<float>(2);
  simd::AddScaled(sum, *args.pool);
}

uint32_t ResidualMask(const Product& p) { return p.residual < 0 ? 0 : 1u << p.residual; }

absl::StatusOr<std::unique_ptr<Kernel>> MakePackedProduct(const KernelContext& context,
                                                          const Product& p, bool transposed) {
  WEFT_ASSIGN_OR_RETURN(const std::shared_ptr<simd::PackedMatrix> weights,
                        PackWeights(context, p, transposed));
  const auto rows = p.x_transposed ? NativeOptions::RowLimits()
                                   : NativeOptions::RowLimits{.least = p.k, .most = p.k};
  return MakeNative("gemm",
                    {.may_overwrite = ResidualMask(p),
                     .packed = 1u << 1,
                     .scratch_bytes = TransposedBytes(p),
                     .spaces_rows = !p.sum,
                     .spaced_rows = {rows}},
                    [p, weights](const KernelArgs& args) {
                      simd::Gemm({.m = p.m,
                                  .a = ReadX(p, args),
                                  .a_stride = args.InputStrideOr(0, p.k),
                                  .b = weights.get(),
                                  .c = args.output<float>(0),
                                  .c_stride = args.ResultStrideOr(p.n),
                                  .bias = InputOrNull(args, p.bias),
                                  .residual = InputOrNull(args, p.residual),
                                  .residual_stride = p.n,
                                  .activation = p.activation},
                                 *args.pool);
                      AddSum(p, args);
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
  std::vector<NativeOptions::RowLimits> rows = SpacedRowsOf(product);
  if (p.x_transposed) rows[0] = {};
  return MakeNative(
      "gemm",
      {.scratch_bytes = TransposedBytes(p) + static_cast<size_t>(scratch), .spaced_rows = rows},
      [p, product](const KernelArgs& args) {
        KernelArgs rest = args;
        rest.scratch += TransposedBytes(p);
        RunBatchMatmul(product, ReadX(p, args), rest);
        AddSum(p, args);
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
  if (!context.AllFloat32()) return MakeGemmOfOtherTypes(context);
  const auto attrs = context.attrs_of<ops::Gemm>();
  const std::span<const int64_t> a = context.dims(0), y = context.result_dims(0);
  const bool transposed = attrs.transA != 0;
  Product p = {.m = y[0], .k = a[transposed ? 0 : 1], .n = y[1], .x_transposed = transposed};
  const bool adds = context.HasInput(2);
  if (attrs.alpha != 1 || (adds && attrs.beta != 1)) {
    p.sum = ScaledSumOf<float>(context);
  } else if (adds) {
    const std::span<const int64_t> c = context.dims(2);
    if (context.input_type(2) == context.result_type(0)) {
      p.residual = 2;
    } else if (!c.empty() && c.back() == p.n && Count(c) == p.n) {
      p.bias = 2;
    } else {
      p.sum = ScaledSumOf<float>(context);
    }
  }
  return MakeProduct(context, p, attrs.transB != 0);
}
const RegisterKernel<ops::Gemm> kGemm("native", &MakeGemm);

// --- onnx.MatMul ----------------------------------------------------------------

// Leading dims of both operands, broadcast; vectors are matrices of one row or column.
std::unique_ptr<Kernel> MakeBatchMatMul(const KernelContext& context) {
  const MatMulShape s(context.dims(0), context.dims(1), context.result_dims(0));
  simd::BatchMatmulArguments product = {.batch = s.batch,
                                        .m = s.m,
                                        .n = s.n,
                                        .k = s.k,
                                        .a_batch_strides = s.a_strides,
                                        .a_stride = s.k,
                                        .b_batch_strides = s.b_strides,
                                        .b_stride = s.n,
                                        .c_batch_strides = RowMajorStrides(s.batch),
                                        .c_stride = s.n};
  for (int i = 0; i < s.batch.size(); ++i) product.c_batch_strides[i] *= s.m * s.n;
  const int64_t scratch = simd::BatchMatmulScratchBytes(product, context.pool().num_threads());
  return MakeNative(
      "matmul",
      {.scratch_bytes = static_cast<size_t>(scratch),
       .spaces_rows = context.dims(1).size() > 1,
       .spaced_rows = SpacedRowsOf(product)},
      [product](const KernelArgs& args) { RunBatchMatmul(product, args.input<float>(0), args); });
}

Made MakeMatMul(const KernelContext& context) {
  if (!context.AllFloat32()) return MakeMatMulOfOtherTypes(context);
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
