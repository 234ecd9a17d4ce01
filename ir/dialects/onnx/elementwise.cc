#include "ir/dialects/onnx/elementwise.h"

#include "ir/builder.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {

bool HardSigmoid::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }
bool LeakyRelu::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }
bool Elu::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }
bool Selu::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }

bool Cast::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const DataType to = c.attrs_of<Cast>().to;
  if (!c.attrs().Get("to")) return c.Unknown();
  if (to == DataType::kNull) return c.Fail("to is no element type");
  return SetTensor(c, 0, to, DimsOf(c, 0));
}

bool Pow::Infer(InferContext& c) {
  Dims dims;
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !CheckNumber(c, 1) || !Broadcast(c, {0, 1}, &dims))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Where::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  if (!CheckTensors(c) || !CheckDtype(c, 0, DataType::kBool) || !SameDtype(c, {1, 2}, &dtype) ||
      !Broadcast(c, {0, 1, 2}, &dims))
    return false;
  return SetTensor(c, 0, dtype, dims);
}

bool Clip::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype)) return false;
  for (size_t i : {1, 2})
    if (!CheckScalar(c, i)) return false;
  return SetTensor(c, 0, dtype, DimsOf(c, 0));
}

bool Dropout::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckScalar(c, 1) || !CheckScalar(c, 2) ||
      !CheckDtype(c, 2, DataType::kBool))
    return false;
  SetTensor(c, 1, DataType::kBool, DimsOf(c, 0));
  return SetSameAs(c, 0, 0);
}

void LoadElementwiseOps(IrContext& context) {
  AddOps<Abs, Neg, Exp, Log, Sqrt, Reciprocal, Erf, Relu, Sigmoid, Tanh, HardSwish, Not, Identity,
         HardSigmoid, LeakyRelu, Elu, Selu, Cast, Add, Sub, Mul, Div, Pow, And, Or, Xor, Equal,
         Greater, Less, GreaterOrEqual, LessOrEqual, Min, Max, Sum, Where, Clip, Dropout>(context);
}

}  // namespace weft::ir::ops
