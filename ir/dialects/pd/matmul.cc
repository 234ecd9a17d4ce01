#include "ir/dialects/pd/matmul.h"

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {
namespace {

// The product of operands 0 and 1; fails where they do not fit.
bool ProductDims(InferContext& c, const MatMul::Attrs<Plain>& attrs, Dims* dims) {
  if (!CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX)) return false;
  Dims x = DimsOf(c, 0), y = DimsOf(c, 1);
  *dims = std::nullopt;
  if (!x || !y) return true;
  if (attrs.transpose_x && x->size() > 1) std::swap(x->back(), x->end()[-2]);
  if (attrs.transpose_y && y->size() > 1) std::swap(y->back(), y->end()[-2]);
  return MatMulDims(c, *x, *y, dims);
}

}  // namespace

bool MatMul::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 1}, &dtype) &&
         ProductDims(c, c.attrs_of<MatMul>(), &dims) && SetTensor(c, 0, dtype, dims);
}

bool FusedLinear::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckRank(c, 0, 1, SIZE_MAX) ||
      !CheckRank(c, 1, 2))
    return false;
  const Dims x = DimsOf(c, 0), w = DimsOf(c, 1);
  if (w && !CheckShape(c, 2, {&(*w)[1], 1})) return false;
  Dims dims;
  if (!x || !w) return SetTensor(c, 0, dtype, dims);
  return MatMulDims(c, *x, *w, &dims) && SetTensor(c, 0, dtype, dims);
}

bool MatMulGrad::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 1, 2}, &dtype) &&
         ProductDims(c, c.attrs_of<MatMulGrad>(), &dims) && CheckGrad(c, 2, dims) &&
         SetGradsOf(c, {0, 1});
}

void LoadMatmulOps(IrContext& context) { AddOps<MatMul, FusedLinear, MatMulGrad>(context); }

}  // namespace weft::ir::pd
