#include "ir/dialects/onnx/nn/activation.h"

#include <cmath>

#include "ir/builder.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

bool IsKnownFloat(Value x) { return x.type().IsTensor() && IsFloat(x.type().dtype()); }

Value Scaled(Builder& b, Value x, double factor) {
  return b.Make<Mul>({x, b.ConstantScalar(x.type().dtype(), factor)});
}

}  // namespace

bool Celu::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }
bool ThresholdedRelu::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }
bool Swish::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }
bool Shrink::Infer(InferContext& c) { return UnaryNumberOp::Infer(c); }
bool Gelu::Infer(InferContext& c) { return UnaryFloatOp::Infer(c); }

bool PRelu::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !SameDtype(c, {0, 1}, &dtype)) return false;
  const Dims x = DimsOf(c, 0);
  return (!x || CheckBroadcastsTo(c, 1, *x)) && SetTensor(c, 0, dtype, x);
}

std::vector<Value> Mish::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  (void)attrs;
  return {b.Make<Mul>({operands[0], b.Make<Tanh>({b.Make<Softplus>({operands[0]})})})};
}

std::vector<Value> Swish::Decompose(Builder& b, std::span<const Value> operands,
                                    const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (attrs.alpha == 1) return {b.Make<Mul>({x, b.Make<Sigmoid>({x})})};
  if (!IsKnownFloat(x)) return {};
  return {b.Make<Mul>({x, b.Make<Sigmoid>({Scaled(b, x, attrs.alpha)})})};
}

std::vector<Value> Gelu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!IsKnownFloat(x)) return {};
  Value bend;
  if (attrs.approximate == GeluApproximation::kTanh) {
    const Value cube = b.Make<Mul>({x, b.Make<Mul>({x, x})});
    const Value inner = b.Make<Add>({x, Scaled(b, cube, 0.044715)});
    bend = b.Make<Tanh>({Scaled(b, inner, std::sqrt(2 / M_PI))});
  } else {
    bend = b.Make<Erf>({Scaled(b, x, std::sqrt(0.5))});
  }
  const Value one = b.ConstantScalar(x.type().dtype(), 1);
  return {b.Make<Mul>({Scaled(b, x, 0.5), b.Make<Add>({bend, one})})};
}

void LoadActivationOps(IrContext& context) {
  AddOps<Softplus, Softsign, Mish, Celu, ThresholdedRelu, Swish, Shrink, Gelu, PRelu>(context);
}

}  // namespace weft::ir::ops
