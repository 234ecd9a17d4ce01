#include "ir/dialects/pd/math.h"

#include "ir/dialects/onnx/infer_util.h"
#include "ir/dialects/pd/internal/product_dims.h"

namespace weft::ir::pd {
namespace {

bool InferUnary(InferContext& c) {
  return CheckTensors(c) && CheckNumber(c, 0) && SetSameAs(c, 0, 0);
}

bool InferBinary(InferContext& c) {
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 1}, &dtype) && Broadcast(c, {0, 1}, &dims) &&
         SetTensor(c, 0, dtype, dims);
}

}  // namespace

bool Relu::Infer(InferContext& c) { return InferUnary(c); }
bool Sigmoid::Infer(InferContext& c) { return InferUnary(c); }
bool Tanh::Infer(InferContext& c) { return InferUnary(c); }
bool Gelu::Infer(InferContext& c) { return InferUnary(c); }
bool Add::Infer(InferContext& c) { return InferBinary(c); }
bool Subtract::Infer(InferContext& c) { return InferBinary(c); }
bool Multiply::Infer(InferContext& c) { return InferBinary(c); }
bool Divide::Infer(InferContext& c) { return InferBinary(c); }

bool Cast::Infer(InferContext& c) {
  return CheckTensors(c) && SetTensor(c, 0, c.attrs_of<Cast>().dtype, DimsOf(c, 0));
}

bool Scale::Infer(InferContext& c) {
  return CheckTensors(c) && CheckNumber(c, 0) && CheckScalar(c, 1) && SetSameAs(c, 0, 0);
}

bool ProductDims(InferContext& c, const MatMul::Attrs<Plain>& attrs, Dims* dims) {
  if (!CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX)) return false;
  Dims x = DimsOf(c, 0), y = DimsOf(c, 1);
  *dims = std::nullopt;
  if (!x || !y) return true;
  if (attrs.transpose_x && x->size() > 1) std::swap(x->back(), x->end()[-2]);
  if (attrs.transpose_y && y->size() > 1) std::swap(y->back(), y->end()[-2]);
  return MatMulDims(c, *x, *y, dims);
}

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

void LoadMathOps(IrContext& context) {
  AddOps<Relu, Sigmoid, Tanh, Gelu, Cast, Scale, Add, Subtract, Multiply, Divide, MatMul,
         FusedLinear>(context);
}

}  // namespace weft::ir::pd
