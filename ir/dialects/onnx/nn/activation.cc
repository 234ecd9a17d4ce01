#include "ir/dialects/onnx/nn/activation.h"

#include <cmath>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

bool IsKnownFloat(Value x) { return x.type().IsTensor() && IsFloat(x.type().dtype()); }

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

// log(1 + exp(-|x|)) + max(x, 0), which does not overflow.
std::vector<Value> Softplus::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>&) {
  const Value x = operands[0];
  if (!IsKnownFloat(x)) return {};
  const Value small = b.Make<Exp>({b.Make<Neg>({b.Make<Abs>({x})})});
  const Value log = b.Make<Log>({b.Make<Add>({small, ScalarLike(b, x, 1)})});
  return {b.Make<Add>({log, b.Make<Relu>({x})})};
}

std::vector<Value> Softsign::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>&) {
  const Value x = operands[0];
  if (!IsKnownFloat(x)) return {};
  return {b.Make<Div>({x, b.Make<Add>({b.Make<Abs>({x}), ScalarLike(b, x, 1)})})};
}

std::vector<Value> Celu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!IsKnownFloat(x)) return {};
  const Value elu = b.Make<Elu>({b.Make<Div>({x, ScalarLike(b, x, attrs.alpha)})}, {.alpha = 1.0f});
  return {Scaled(b, elu, attrs.alpha)};
}

std::vector<Value> ThresholdedRelu::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!IsKnownFloat(x)) return {};
  const Value above = b.Make<Greater>({x, ScalarLike(b, x, attrs.alpha)});
  return {b.Make<Where>({above, x, ScalarLike(b, x, 0)})};
}

std::vector<Value> Shrink::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>& attrs) {
  const DataType dtype = ElementTypeOf(operands[0]);
  if (dtype == DataType::kNull) return {};
  const Value x = IsFloat(dtype) ? operands[0] : CastTo(b, operands[0], DataType::kF64);
  const auto number = [&](double value) { return ScalarLike(b, x, value); };
  const Value above = b.Make<Greater>({x, number(attrs.lambd)});
  const Value below = b.Make<Less>({x, number(-attrs.lambd)});
  const Value less = b.Make<Sub>({x, number(attrs.bias)});
  const Value more = b.Make<Add>({x, number(attrs.bias)});
  const Value y = b.Make<Where>({below, more, b.Make<Where>({above, less, number(0)})});
  return {CastTo(b, y, dtype)};
}

std::vector<Value> PRelu::Decompose(Builder& b, std::span<const Value> operands,
                                    const Attrs<Plain>&) {
  const Value x = operands[0];
  if (ElementTypeOf(x) == DataType::kNull) return {};
  const Value below = b.Make<Less>({x, ScalarLike(b, x, 0)});
  return {b.Make<Where>({below, b.Make<Mul>({x, operands[1]}), x})};
}

void LoadActivationOps(IrContext& context) {
  AddOps<Softplus, Softsign, Mish, Celu, ThresholdedRelu, Swish, Shrink, Gelu, PRelu>(context);
}

}  // namespace weft::ir::ops
