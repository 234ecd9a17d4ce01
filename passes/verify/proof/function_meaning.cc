// Operators that ONNX defines by others. Real arithmetic alone makes them equal: their kernels do not overflow
// where the parts would.
#include <fmt/format.h>

#include "ir/context.h"
#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {

Tensor* OpMeanings::NumberLike(Tensor& x, Term number) {
  return c_.Make<Filled>(x.type, std::vector<Term>(), number);
}

// A cast to the type of another tensor.
std::vector<Tensor*> OpMeanings::CastLike(const ProofOp& op) {
  const Tensor& like = *op.operands[1];
  ProofOp cast = op;
  cast.name = "onnx.Cast";
  cast.operands.resize(1);
  cast.attrs["to"] = {
      .token = fmt::format("type of {}", like.id), .element_type = like.type, .is_type = true};
  return Cast(cast);
}

// log(softmax(x))
std::vector<Tensor*> OpMeanings::LogSoftmax(const ProofOp& op) {
  if (!c_.ReadsReals()) return LikeOperand(op);
  Tensor* y = Call("onnx.Softmax", op.operands, op);
  return {y == nullptr ? nullptr : Call("onnx.Log", {y})};
}

// log(exp(x) + 1)
std::vector<Tensor*> OpMeanings::Softplus(const ProofOp& op) {
  if (!c_.ReadsReals()) return AnyElementwise(op);
  Tensor* e = Call("onnx.Exp", op.operands);
  if (e == nullptr) return {};
  Tensor* sum = Call("onnx.Add", {e, NumberLike(*e, c_.terms().Number(1))});
  return {sum == nullptr ? nullptr : Call("onnx.Log", {sum})};
}

// x * tanh(softplus(x))
std::vector<Tensor*> OpMeanings::Mish(const ProofOp& op) {
  if (!c_.ReadsReals()) return AnyElementwise(op);
  Tensor* y = Call("onnx.Softplus", op.operands);
  if (y != nullptr) y = Call("onnx.Tanh", {y});
  return {y == nullptr ? nullptr : Call("onnx.Mul", {op.operands[0], y})};
}

std::vector<Tensor*> OpMeanings::HardSwish(const ProofOp& op) {
  ProofOp gate;
  gate.attrs["alpha"] = {.literal = context_.FloatAttr(1.0F / 6)};
  gate.attrs["beta"] = {.literal = context_.FloatAttr(0.5F)};
  Tensor* x = op.operands[0];
  Tensor* factor = Call("onnx.HardSigmoid", {x}, gate);
  return {factor == nullptr ? nullptr : Call("onnx.Mul", {x, factor})};
}

}  // namespace weft::passes
