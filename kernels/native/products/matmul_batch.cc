// fused.batch_matmul: transposed operands are read where they lie as long as the rows of a, and the
// rows or columns of b, are contiguous there.
#include "kernels/native/products/matmul_batch.h"

#include <optional>

#include "ir/dialects/fused/matmul.h"
#include "kernels/native/native.h"
#include "kernels/native/simd/elementwise/binary.h"
#include "kernels/native/simd/gemm.h"
#include "kernels/runtime/decomposed.h"

namespace weft::kernels::native {
namespace {

// An operand after its permutation: extents, and strides in memory.
struct Permuted {
  Dims dims, strides;
  int rank() const { return dims.size(); }
  int64_t dim(int from_end) const { return dims[rank() - from_end]; }
  int64_t stride(int from_end) const { return strides[rank() - from_end]; }
  // Of the leading dimensions, as they broadcast to `batch`.
  Dims BatchStrides(const Dims& batch) const {
    Dims result(batch.size(), 0);
    const int missing = batch.size() - (rank() - 2);
    for (int i = missing; i < batch.size(); ++i)
      if (dims[i - missing] != 1) result[i] = strides[i - missing];
    return result;
  }
};

Permuted Permute(std::span<const int64_t> dims, const ir::Ints& perm) {
  const Dims strides = RowMajorStrides(dims);
  Permuted result;
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t from = perm.empty() ? i : static_cast<size_t>(perm[i]);
    result.dims.push_back(dims[from]);
    result.strides.push_back(strides[static_cast<int>(from)]);
  }
  return result;
}

// nullopt when an operand cannot be read where it lies.
std::optional<simd::BatchMatmulArguments> ProductOf(const Permuted& a, const Permuted& b,
                                                    std::span<const int64_t> y) {
  const bool b_transposed = b.stride(1) != 1;
  if (a.stride(1) != 1 || (b_transposed && b.stride(2) != 1)) return std::nullopt;
  simd::BatchMatmulArguments product = {.batch = Dims(y.first(y.size() - 2)),
                                        .m = a.dim(2),
                                        .n = b.dim(1),
                                        .k = a.dim(1),
                                        .a_stride = a.stride(2),
                                        .b_stride = b.stride(b_transposed ? 1 : 2),
                                        .b_transposed = b_transposed};
  product.a_batch_strides = a.BatchStrides(product.batch);
  product.b_batch_strides = b.BatchStrides(product.batch);
  product.c_batch_strides = RowMajorStrides(product.batch);
  for (int i = 0; i < product.batch.size(); ++i)
    product.c_batch_strides[i] *= product.m * product.n;
  product.c_stride = product.n;
  return product;
}

Made MakeBetweenTransposes(const KernelContext& context) {
  return MakeFromBody(context, "matmul of transposes", {"native", "reference"},
                      [&](ir::Builder& builder, std::span<const ir::Value> operands) {
                        return ir::fused::BatchMatMul::Decompose(
                            builder, operands, context.attrs_of<ir::fused::BatchMatMul>());
                      });
}

Made MakeBatchMatMul(const KernelContext& context) {
  if (!context.AllFloat32()) return context.Unsupported("only f32");
  const auto attrs = context.attrs_of<ir::fused::BatchMatMul>();
  const std::span<const int64_t> a = context.dims(0), b = context.dims(1);
  if (a.size() > kMaxRank || b.size() > kMaxRank)
    return context.Unsupported("operands of so many dimensions");
  const Dims shape(context.result_dims(0));
  const auto found = ProductOf(Permute(a, attrs.perm_a), Permute(b, attrs.perm_b), shape);
  if (!found) return MakeBetweenTransposes(context);
  const simd::BatchMatmulArguments product = *found;
  Dims addend;
  if (context.HasInput(2)) addend = BroadcastStrides(context.dims(2), shape);
  const int64_t scratch = simd::BatchMatmulScratchBytes(product, context.pool().num_threads());
  const bool is_product_alone = attrs.scale == 1 && !context.HasInput(2);
  return MakeNative("matmul",
                    {.scratch_bytes = static_cast<size_t>(scratch),
                     .spaces_rows = is_product_alone,
                     .spaced_rows = SpacedRowsOf(product)},
                    [product, shape, addend, scale = attrs.scale](const KernelArgs& args) {
                      RunBatchMatmul(product, args.input<float>(0), args);
                      auto* y = args.output<float>(0);
                      const Dims strides = RowMajorStrides(shape), scalar(shape.size(), 0);
                      if (scale != 1)
                        simd::Binary<float>(simd::BinaryOp::kMul, y, strides, &scale, scalar, y,
                                            shape, *args.pool);
                      if (const float* other = args.input<float>(2))
                        simd::Binary<float>(simd::BinaryOp::kAdd, y, strides, other, addend, y,
                                            shape, *args.pool);
                    });
}
const RegisterKernel<ir::fused::BatchMatMul> kBatchMatMul("native", &MakeBatchMatMul);

// Where a step of so many dense elements leads in an operand whose rows lie apart.
void Space(const RowSpacing& rows, Dims* batch_strides, int64_t* stride) {
  const auto space = [&](int64_t elements) {
    return elements < rows.row ? elements : elements / rows.row * rows.stride;
  };
  for (int i = 0; i < batch_strides->size(); ++i) (*batch_strides)[i] = space((*batch_strides)[i]);
  *stride = space(*stride);
}

}  // namespace

// All rows of A stay at equal distances, so that products are merged as those of dense operands are, for which scratch
// memory is sized. Dot products read them by vectors, again and again: across cache lines that costs more than a copy.
std::vector<NativeOptions::RowLimits> SpacedRowsOf(const simd::BatchMatmulArguments& product) {
  constexpr int64_t kCacheLine = 16;  // floats
  return {{.least = product.k,
           .most = product.a_stride,
           .stride_multiple = simd::IsMadeOfDots(product) ? kCacheLine : 1},
          NativeOptions::RowLimits::AtLeast(product.b_transposed ? product.k : product.n)};
}

void RunBatchMatmul(simd::BatchMatmulArguments product, const float* a, const KernelArgs& args) {
  product.a = a;
  product.b = args.input<float>(1);
  product.c = args.output<float>(0);
  if (const RowSpacing rows = args.spacing(0); rows.row != 0)
    Space(rows, &product.a_batch_strides, &product.a_stride);
  if (const RowSpacing rows = args.spacing(1); rows.row != 0)
    Space(rows, &product.b_batch_strides, &product.b_stride);
  if (args.result_stride != 0) product.SpaceRowsOfC(args.result_stride);
  simd::BatchMatmul(product, args.scratch, *args.pool);
}

}  // namespace weft::kernels::native
