#include "ir/dialects/pd/elementwise.h"

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/pd/gradient.h"

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

// Of x and y broadcast; out_grad is the last operand.
bool InferBinaryGrad(InferContext& c) {
  const size_t out_grad = c.num_operands() - 1;
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 1, out_grad}, &dtype) && Broadcast(c, {0, 1}, &dims) &&
         CheckGrad(c, out_grad, dims) && SetGradsOf(c, {0, 1});
}

}  // namespace

bool Relu::Infer(InferContext& c) { return InferUnary(c); }
bool Sigmoid::Infer(InferContext& c) { return InferUnary(c); }
bool Tanh::Infer(InferContext& c) { return InferUnary(c); }
bool Gelu::Infer(InferContext& c) { return InferUnary(c); }

bool Cast::Infer(InferContext& c) {
  return CheckTensors(c) && SetTensor(c, 0, c.attrs_of<Cast>().dtype, DimsOf(c, 0));
}

bool Scale::Infer(InferContext& c) {
  return CheckTensors(c) && CheckNumber(c, 0) && CheckScalar(c, 1) && SetSameAs(c, 0, 0);
}

bool Add::Infer(InferContext& c) { return InferBinary(c); }
bool Subtract::Infer(InferContext& c) { return InferBinary(c); }
bool Multiply::Infer(InferContext& c) { return InferBinary(c); }
bool Divide::Infer(InferContext& c) { return InferBinary(c); }

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

void LoadElementwiseOps(IrContext& context) {
  AddOps<Relu, Sigmoid, Tanh, Gelu, Cast, Scale, Add, Subtract, Multiply, Divide, ReluGrad,
         GeluGrad, AddGrad, SubtractGrad, MultiplyGrad, DivideGrad>(context);
}

}  // namespace weft::ir::pd
