#include "ir/dialects/pd/math_grad.h"

#include "ir/dialects/pd/internal/gradient.h"
#include "ir/dialects/pd/internal/product_dims.h"

namespace weft::ir::pd {
namespace {

// Of x and y broadcast; out_grad is the last operand.
bool InferBinaryGrad(InferContext& c) {
  const size_t out_grad = c.num_operands() - 1;
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 1, out_grad}, &dtype) && Broadcast(c, {0, 1}, &dims) &&
         CheckGrad(c, out_grad, dims) && SetGradsOf(c, {0, 1});
}

}  // namespace

bool ReluGrad::Infer(InferContext& c) {
  return CheckTensors(c) && CheckNumber(c, 0) && CheckGradOf(c, 1, 0) && SetGradsOf(c, {0});
}
bool GeluGrad::Infer(InferContext& c) {
  return CheckTensors(c) && CheckNumber(c, 0) && CheckGradOf(c, 1, 0) && SetGradsOf(c, {0});
}
bool AddGrad::Infer(InferContext& c) { return InferBinaryGrad(c); }
bool SubtractGrad::Infer(InferContext& c) { return InferBinaryGrad(c); }
bool MultiplyGrad::Infer(InferContext& c) { return InferBinaryGrad(c); }
bool DivideGrad::Infer(InferContext& c) {
  return CheckTensors(c) && CheckGradOf(c, 3, 2) && InferBinaryGrad(c);
}

bool MatMulGrad::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 1, 2}, &dtype) &&
         ProductDims(c, c.attrs_of<MatMulGrad>(), &dims) && CheckGrad(c, 2, dims) &&
         SetGradsOf(c, {0, 1});
}

void LoadMathGradOps(IrContext& context) {
  AddOps<ReluGrad, GeluGrad, AddGrad, SubtractGrad, MultiplyGrad, DivideGrad, MatMulGrad>(context);
}

}  // namespace weft::ir::pd
