// Operators of ONNX Runtime, as their reference bodies (ir/dialects/microsoft) compute them.
#include "ir/context.h"
#include "passes/verify/proof/op_meaning.h"

namespace weft::passes {

// The function of x + bias.
std::vector<Tensor*> OpMeanings::Gelu(const ProofOp& op) {
  Tensor *x = op.operands[0], *bias = op.operand(1);
  if (bias != nullptr) x = Call("onnx.Add", {x, bias});
  if (x == nullptr || !c_.open()) return {};
  if (op.name != "fused.gelu") {
    ProofOp fused;
    const char* approximate = op.name == "com.microsoft.FastGelu" ? "tanh" : "none";
    fused.attrs["approximate"] = {.literal = context_.StringAttr(approximate)};
    return {Call("fused.gelu", {x}, fused)};
  }
  ProofOp plain = op;
  plain.operands = {x};
  return AnyElementwise(plain);
}

// x * sigmoid(x * alpha), of which the inner product is left out where alpha is 1.
std::vector<Tensor*> OpMeanings::QuickGelu(const ProofOp& op) {
  const ProofAttr& given = op.attrs.find("alpha")->second;
  const ir::Attribute alpha = Chosen(given);
  const bool is_one = alpha.Is(ir::AttrKind::kFloat) && alpha.AsFloat() == 1;
  if (!is_one && given.elements.size() != 1) return AnyElementwise(op);
  Tensor* x = op.operands[0];
  Tensor* scaled = is_one ? x : Call("onnx.Mul", {x, NumberLike(*x, given.elements[0])});
  Tensor* gate = scaled == nullptr ? nullptr : Call("onnx.Sigmoid", {scaled});
  return {gate == nullptr ? nullptr : Call("onnx.Mul", {x, gate})};
}

// Of x + skip + bias, over the last axis; the last result is that sum. Statistics are some functions.
std::vector<Tensor*> OpMeanings::SkipNormalization(const ProofOp& op) {
  const bool is_rms = op.name == "com.microsoft.SkipSimplifiedLayerNormalization";
  // f16 is converted on the way.
  if (c_.PossibleTypes(op.operands[0]->type) != TypeBit(ir::DataType::kF32)) return AnyFunction(op);
  Tensor* sum = Call("onnx.Add", {op.operands[0], op.operands[1]});
  Tensor* bias = op.operand(is_rms ? 3 : 4);
  if (bias != nullptr && sum != nullptr) sum = Call("onnx.Add", {sum, bias});
  if (sum == nullptr || !c_.open()) return {};
  ProofOp norm;
  norm.attrs["epsilon"] = op.attrs.find("epsilon")->second;
  if (!is_rms) norm.attrs["axis"] = {.literal = context_.IntAttr(-1)};
  Tensor* y = is_rms ? Call("fused.rms_norm", {sum, op.operands[2]}, norm)
                     : Call("onnx.LayerNormalization", {sum, op.operands[2], op.operand(3)}, norm);
  Results results = {y};
  constexpr size_t kSum = 3;
  while (results.size() < op.num_results)
    results.push_back(results.size() == kSum ? sum : Unknown(op.name + ":statistics"));
  return results;
}

// The sums of integers are some function. Both operators compute cast(sums) * (a_scale * b_scale) + bias.
std::vector<Tensor*> OpMeanings::IntegerProduct(const ProofOp& op) {
  Results a;  // the integers, the scale and the zero point
  size_t scale = 3, zero_point = 5, bias = 6;
  if (op.name == "com.microsoft.DynamicQuantizeMatMul") {
    scale = 2, zero_point = 3, bias = 4;
    ProofOp quantize{.def = context_.FindOp("onnx.DynamicQuantizeLinear"),
                     .name = "onnx.DynamicQuantizeLinear"};
    quantize.operands = {op.operands[0]};
    quantize.num_results = 3;
    if (quantize.def != nullptr) a = Apply(quantize);
  } else {
    a = {op.operands[0], op.operands[2], op.operand(4)};
  }
  if (a.size() != 3) return {};
  Tensor* sums = Call("onnx.MatMulInteger", {a[0], op.operands[1], a[2], op.operand(zero_point)});
  Tensor* unit = sums == nullptr ? nullptr : Call("onnx.Mul", {a[1], op.operands[scale]});
  if (unit == nullptr || !c_.open()) return {};
  ProofOp to_float;
  to_float.attrs["to"] = {.literal = context_.DataTypeAttr(ir::DataType::kF32)};
  Tensor* real = Call("onnx.Cast", {sums}, to_float);
  Tensor* y = real == nullptr ? nullptr : Call("onnx.Mul", {real, unit});
  if (y != nullptr && op.operand(bias) != nullptr) y = Call("onnx.Add", {y, op.operand(bias)});
  return {y};
}

}  // namespace weft::passes
