#include "ir/dialects/fused/matmul.h"

#include <fmt/format.h>

#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/agreed.h"

namespace weft::ir::fused {

bool Linear::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<Linear>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 2) || !CheckRank(c, 3, 1, SIZE_MAX) ||
      !CheckActivation(c, attrs.activation, attrs.activation_params))
    return false;
  Shape w = DimsOf(c, 1).value_or(Shape{kUnknownDim, kUnknownDim});
  if (attrs.transpose_w) std::swap(w[0], w[1]);
  if (!AgreeOnShape(c, 2, {&w[1], 1})) return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) dims = DimsOf(c, 3);  // which is like the result
  if (!dims) return SetTensor(c, 0, dtype, std::nullopt);
  if (c.Ranked(0) && !MergeDim(dims->back(), w[0]))
    return c.Fail(fmt::format("x has {} columns but w has {} rows{}", dims->back(), w[0],
                              attrs.transpose_w ? " (transposed)" : ""));
  dims->back() = w[1];
  return AgreeOnShape(c, 3, *dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Linear::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>& attrs) {
  Value w = operands[1];
  if (attrs.transpose_w) w = b.Make<ops::Transpose>({w}, {.perm = {1, 0}});
  Value y = b.Make<ops::MatMul>({operands[0], w});
  y = AddIfGiven(b, y, operands, 2);
  y = AddIfGiven(b, y, operands, 3);
  return {BuildActivation(b, y, attrs.activation, attrs.activation_params)};
}

bool BatchMatMul::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<BatchMatMul>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 2, SIZE_MAX) || !CheckRank(c, 1, 2, SIZE_MAX))
    return false;
  Dims a = DimsOf(c, 0), b = DimsOf(c, 1), dims;
  if (a && !attrs.perm_a.empty() && !PermuteDims(c, Shape(*a), attrs.perm_a, &a)) return false;
  if (b && !attrs.perm_b.empty() && !PermuteDims(c, Shape(*b), attrs.perm_b, &b)) return false;
  if (!a || !b) return SetTensor(c, 0, dtype, std::nullopt);
  return MatMulDims(c, *a, *b, &dims) && CheckBroadcastsTo(c, 2, *dims) &&
         SetTensor(c, 0, dtype, dims);
}

std::vector<Value> BatchMatMul::Decompose(Builder& b, std::span<const Value> operands,
                                          const Attrs<Plain>& attrs) {
  const auto permuted = [&](Value x, const Ints& perm) {
    return perm.empty() ? x : b.Make<ops::Transpose>({x}, {.perm = perm});
  };
  Value y = b.Make<ops::MatMul>(
      {permuted(operands[0], attrs.perm_a), permuted(operands[1], attrs.perm_b)});
  if (attrs.scale != 1)
    y = b.Make<ops::Mul>({y, b.ConstantScalar(operands[0].type().dtype(), attrs.scale)});
  return {AddIfGiven(b, y, operands, 2)};
}

}  // namespace weft::ir::fused
