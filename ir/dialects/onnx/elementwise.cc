#include "ir/dialects/onnx/elementwise.h"

#include "ir/dialects/onnx/body.h"
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
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckNumber(c, 0)) return false;
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

// --- reference bodies -------------------------------------------------------------

namespace {

bool IsTyped(Value x) { return ElementTypeOf(x) != DataType::kNull; }

// y where x is below 0, else x.
Value BelowZero(Builder& b, Value x, Value y) {
  return b.Make<Where>({b.Make<Less>({x, ScalarLike(b, x, 0)}), y, x});
}
// factor * (exp(x) - 1)
Value Rise(Builder& b, Value x, double factor) {
  return Scaled(b, b.Make<Sub>({b.Make<Exp>({x}), ScalarLike(b, x, 1)}), factor);
}

}  // namespace

std::vector<Value> Relu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>&) {
  if (!IsTyped(operands[0])) return {};
  return {b.Make<Max>({operands[0], ScalarLike(b, operands[0], 0)})};
}

std::vector<Value> HardSwish::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>&) {
  const Value gate = b.Make<HardSigmoid>({operands[0]}, {.alpha = 1.0f / 6, .beta = 0.5f});
  return {b.Make<Mul>({operands[0], gate})};
}

std::vector<Value> HardSigmoid::Decompose(Builder& b, std::span<const Value> operands,
                                          const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!IsTyped(x)) return {};
  const Value line = b.Make<Add>({Scaled(b, x, attrs.alpha), ScalarLike(b, x, attrs.beta)});
  return {b.Make<Max>({b.Make<Min>({line, ScalarLike(b, x, 1)}), ScalarLike(b, x, 0)})};
}

std::vector<Value> LeakyRelu::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  if (!IsTyped(operands[0])) return {};
  return {BelowZero(b, operands[0], Scaled(b, operands[0], attrs.alpha))};
}

std::vector<Value> Elu::Decompose(Builder& b, std::span<const Value> operands,
                                  const Attrs<Plain>& attrs) {
  if (!IsTyped(operands[0])) return {};
  return {BelowZero(b, operands[0], Rise(b, operands[0], attrs.alpha))};
}

std::vector<Value> Selu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!IsTyped(x)) return {};
  return {Scaled(b, BelowZero(b, x, Rise(b, x, attrs.alpha)), attrs.gamma)};
}

std::vector<Value> GreaterOrEqual::Decompose(Builder& b, std::span<const Value> operands,
                                             const Attrs<Plain>&) {
  return {b.Make<Or>({b.Make<Greater>(operands), b.Make<Equal>(operands)})};
}

std::vector<Value> LessOrEqual::Decompose(Builder& b, std::span<const Value> operands,
                                          const Attrs<Plain>&) {
  return {b.Make<Or>({b.Make<Less>(operands), b.Make<Equal>(operands)})};
}

// A limit may be a tensor of one element and any rank.
std::vector<Value> Clip::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>&) {
  Value y = operands[0];
  const auto limit = [&](size_t i) { return AsScalar(b, operands[i]); };
  if (OperandOrNull(operands, 1)) y = b.Make<Max>({y, limit(1)});
  if (OperandOrNull(operands, 2)) y = b.Make<Min>({y, limit(2)});
  return {y == operands[0] ? b.Make<Identity>({y}) : y};
}

void LoadElementwiseOps(IrContext& context) {
  AddOps<Abs, Neg, Exp, Log, Sqrt, Reciprocal, Erf, Relu, Sigmoid, Tanh, HardSwish, Not, Identity,
         HardSigmoid, LeakyRelu, Elu, Selu, Cast, Add, Sub, Mul, Div, Pow, And, Or, Xor, Equal,
         Greater, Less, GreaterOrEqual, LessOrEqual, Min, Max, Sum, Where, Clip, Dropout>(context);
}

}  // namespace weft::ir::ops
