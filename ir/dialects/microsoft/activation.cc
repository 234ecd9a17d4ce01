#include "ir/dialects/microsoft/activation.h"

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/nn/activation.h"

namespace weft::ir::microsoft {
namespace {

Value WithBias(Builder& b, std::span<const Value> operands) {
  const Value bias = ops::OperandOrNull(operands, 1);
  return bias ? b.Make<ops::Add>({operands[0], bias}) : operands[0];
}

}  // namespace

bool GeluOp::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && CheckFloat(c, 0) && SameDtype(c, {0, 1}, &dtype) &&
         (c.HasOperand(1) ? Broadcast(c, {0, 1}, &dims) : (dims = DimsOf(c, 0), true)) &&
         SetTensor(c, 0, dtype, dims);
}
bool QuickGelu::Infer(InferContext& c) { return GeluOp::Infer(c); }

std::vector<Value> Gelu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>&) {
  return {b.Make<ops::Gelu>({operands[0]})};
}
std::vector<Value> BiasGelu::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>&) {
  return {b.Make<ops::Gelu>({WithBias(b, operands)})};
}
std::vector<Value> FastGelu::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>&) {
  return {
      b.Make<ops::Gelu>({WithBias(b, operands)}, {.approximate = ops::GeluApproximation::kTanh})};
}
std::vector<Value> QuickGelu::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  if (ops::ElementTypeOf(operands[0]) == DataType::kNull) return {};
  const Value scaled = ops::Scaled(b, operands[0], attrs.alpha);
  return {b.Make<ops::Mul>({operands[0], b.Make<ops::Sigmoid>({scaled})})};
}

void LoadActivationOps(IrContext& context) { AddOps<Gelu, BiasGelu, FastGelu, QuickGelu>(context); }

}  // namespace weft::ir::microsoft
