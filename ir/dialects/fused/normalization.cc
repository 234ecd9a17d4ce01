#include "ir/dialects/fused/normalization.h"

#include <cmath>
#include <numbers>

#include "ir/dialects/fused/activation.h"
#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer_util.h"

namespace weft::ir::fused {

bool LayerNorm::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckFloat(c, 0)) return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) dims = DimsOf(c, 3);
  if (!dims) return SetTensor(c, 0, dtype, std::nullopt);
  int64_t axis = c.attrs_of<LayerNorm>().axis;
  if (!NormalizeAxis(c, &axis, dims->size())) return false;
  const auto last = std::span(*dims).subspan(static_cast<size_t>(axis));
  if (!CheckShape(c, 1, last) || !CheckShape(c, 2, last) || !CheckShape(c, 3, *dims)) return false;
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> LayerNorm::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  std::vector<Value> inputs = {AddIfGiven(b, operands[0], operands, 3), operands[1]};
  if (const Value bias = OperandOrNull(operands, 2)) inputs.push_back(bias);
  return {b.Make<ops::LayerNormalization>(inputs, {.axis = attrs.axis, .epsilon = attrs.epsilon})};
}

bool Gelu::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckFloat(c, 0)) return false;
  const Dims dims = DimsOf(c, 0);
  if (dims && !CheckBroadcastsTo(c, 1, *dims)) return false;
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Gelu::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value x = AddIfGiven(b, operands[0], operands, 1);
  if (attrs.approximate == GeluApproximate::kNone) return {BuildErfGelu(b, x)};
  const DataType dtype = x.type().dtype();
  const Value cube = b.Make<ops::Mul>({b.Make<ops::Mul>({x, x}), x});
  const Value cubic = b.Make<ops::Mul>({cube, b.ConstantScalar(dtype, 0.044715)});
  const Value scale = b.ConstantScalar(dtype, std::sqrt(2 * std::numbers::inv_pi));
  const Value tanh = b.Make<ops::Tanh>({b.Make<ops::Mul>({b.Make<ops::Add>({x, cubic}), scale})});
  const Value one_plus = b.Make<ops::Add>({tanh, b.ConstantScalar(dtype, 1)});
  const Value half = b.Make<ops::Mul>({x, b.ConstantScalar(dtype, 0.5)});
  return {b.Make<ops::Mul>({half, one_plus})};
}

}  // namespace weft::ir::fused
