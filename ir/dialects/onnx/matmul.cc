#include "ir/dialects/onnx/matmul.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {

bool MatMul::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckNumber(c, 0) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX))
    return false;
  const Dims x = DimsOf(c, 0), y = DimsOf(c, 1);
  if (!x || !y) return SetTensor(c, 0, dtype, std::nullopt);
  Dims dims;
  return MatMulDims(c, *x, *y, &dims) && SetTensor(c, 0, dtype, dims);
}

double MatMul::Flops(Operation op) {
  return 2.0 * static_cast<double>(op.result(0).type().NumElements()) *
         static_cast<double>(op.operand(0).type().dim(-1));
}

bool Gemm::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckNumber(c, 0) ||
      !CheckRank(c, 0, 2) || !CheckRank(c, 1, 2))
    return false;
  const auto attrs = c.attrs_of<Gemm>();
  Shape a = DimsOf(c, 0).value_or(Shape{kUnknownDim, kUnknownDim});
  Shape b = DimsOf(c, 1).value_or(Shape{kUnknownDim, kUnknownDim});
  if (attrs.transA) std::swap(a[0], a[1]);
  if (attrs.transB) std::swap(b[0], b[1]);
  if (!MergeDim(a[1], b[0]))
    return c.Fail(fmt::format("a has {} columns but b has {} rows{}", a[1], b[0],
                              attrs.transA || attrs.transB ? " (transposed)" : ""));
  const Shape dims = {a[0], b[1]};
  if (!CheckBroadcastsTo(c, 2, dims)) return false;
  return SetTensor(c, 0, dtype, dims);
}

double Gemm::Flops(Operation op) {
  const bool transposed = op.attrs_of<Gemm>().transA != 0;
  return 2.0 * static_cast<double>(op.result(0).type().NumElements()) *
         static_cast<double>(op.operand(0).type().dim(transposed ? 0 : 1));
}

void LoadMatmulOps(IrContext& context) { AddOps<MatMul, Gemm>(context); }

}  // namespace weft::ir::ops
