#include "ir/dialects/fused/quantized_products.h"

#include <fmt/format.h>

#include "ir/dialects/fused/nhwc.h"
#include "ir/dialects/fused/operands.h"
#include "ir/dialects/fused/quantized.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/agreed.h"

namespace weft::ir::fused {
namespace {

enum Operand : size_t { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

// All operands but the shapes of x and w.
bool CheckProduct(InferContext& c, int64_t* channels, const Ints& clamp) {
  return CheckQuantized(c, kX) && CheckQuantized(c, kW, channels) &&
         CheckQuantization(c, kYScale) && CheckDtype(c, kBias, DataType::kI32) &&
         AgreeOnShape(c, kBias, {channels, 1}) && CheckClamp(c, kYZero, clamp);
}

}  // namespace

bool QConv2d::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<QConv2d>();
  if (!CheckTensors(c) || !CheckRank(c, kX, 4) || !CheckRank(c, kW, 4)) return false;
  Shape w = DimsOf(c, kW).value_or(Shape(4, kUnknownDim));
  const int64_t channels = c.Ranked(kX) ? c.operand_type(kX).dim(3) : kUnknownDim;
  if (!CheckConvChannels(c, channels, w, attrs.group) || !CheckProduct(c, &w[0], attrs.clamp))
    return false;
  Dims dims;
  const Window window = {.kernel = {w[2], w[3]},
                         .strides = attrs.strides,
                         .dilations = attrs.dilations,
                         .pads = attrs.pads,
                         .kernel_of_operand = true};
  if (!SlideNhwc(c, window, &dims)) return false;
  dims->back() = w[0];
  return SetTensor(c, 0, DtypeOf(c, kYZero), dims);
}

std::vector<Value> QConv2d::Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs) {
  std::vector<Value> inputs(operands.begin(), operands.begin() + kBias);
  inputs[kX] = ToNchw(b, operands[kX]);
  if (const Value bias = OperandOrNull(operands, kBias)) inputs.push_back(bias);
  const Value y = b.Make<ops::QLinearConv>(inputs, {.dilations = attrs.dilations,
                                                    .group = attrs.group,
                                                    .pads = attrs.pads,
                                                    .strides = attrs.strides});
  return {BuildClamp(b, ToNhwc(b, y), attrs.clamp)};
}

bool QLinear::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<QLinear>();
  if (!CheckTensors(c) || !CheckRank(c, kX, 1, SIZE_MAX) || !CheckRank(c, kW, 2)) return false;
  Shape w = DimsOf(c, kW).value_or(Shape{kUnknownDim, kUnknownDim});
  if (attrs.transpose_w) std::swap(w[0], w[1]);
  if (!CheckProduct(c, &w[1], attrs.clamp)) return false;
  Dims dims = DimsOf(c, kX);
  if (dims) {
    if (!MergeDim(dims->back(), w[0]))
      return c.Fail(fmt::format("x has {} columns but w has {} rows{}", dims->back(), w[0],
                                attrs.transpose_w ? " (transposed)" : ""));
    dims->back() = w[1];
  }
  return SetTensor(c, 0, DtypeOf(c, kYZero), dims);
}

std::vector<Value> QLinear::Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs) {
  Value w = operands[kW];
  if (attrs.transpose_w) w = b.Make<ops::Transpose>({w}, {.perm = {1, 0}});
  const Value sums =
      b.Make<ops::MatMulInteger>({operands[kX], w, operands[kXZero], operands[kWZero]});
  const Value biased = AddIfGiven(b, sums, operands, kBias);
  const Value scale = b.Make<ops::Mul>({operands[kXScale], operands[kWScale]});
  const Value y = b.Make<ops::Mul>({b.Make<ops::Cast>({biased}, {.to = DataType::kF32}), scale});
  return {QuantizedLike(b, y, operands, kYScale, attrs.clamp)};
}

bool DequantizeMatmul::Infer(InferContext& c) {
  constexpr size_t kWeights = 1, kScale = 2, kZero = 3;
  DataType real, stored;
  if (!CheckTensors(c) || !SameDtype(c, {kX, kScale}, &real) ||
      !SameDtype(c, {kWeights, kZero}, &stored) ||
      !CheckOneOf(c, kX, {DataType::kF32, DataType::kF16, DataType::kBF16}, "f32, f16 or bf16") ||
      !CheckOneOf(c, kWeights,
                  {DataType::kI8, DataType::kU8, DataType::kI4, DataType::kU4, DataType::kI2,
                   DataType::kU2},
                  "an integer of 8 bits or less") ||
      !CheckRank(c, kX, 1, SIZE_MAX) || !CheckRank(c, kWeights, 2))
    return false;
  if (!c.attrs().Get("block_size")) return c.Unknown();
  const int64_t block = c.attrs_of<DequantizeMatmul>().block_size;
  if (block < 1) return c.Fail(fmt::format("block_size is {}", block));
  const Shape w = DimsOf(c, kWeights).value_or(Shape{kUnknownDim, kUnknownDim});
  const int64_t blocks = IsStaticDim(w[0]) ? w[0] / block + (w[0] % block != 0) : kUnknownDim;
  for (const size_t i : {kScale, kZero})
    if (!CheckShape(c, i, {{blocks, w[1]}})) return false;
  Dims dims = DimsOf(c, kX);
  if (dims) {
    if (!MergeDim(dims->back(), w[0]))
      return c.Fail(fmt::format("x has {} columns but w has {} rows", dims->back(), w[0]));
    dims->back() = w[1];
  }
  return SetTensor(c, 0, real, dims);
}

std::vector<Value> DequantizeMatmul::Decompose(Builder& b, std::span<const Value> operands,
                                               const Attrs<Plain>& attrs) {
  const Value w = b.Make<ops::DequantizeLinear>(operands.subspan(1),
                                                {.axis = 0, .block_size = attrs.block_size});
  return {b.Make<ops::MatMul>({operands[kX], w})};
}

}  // namespace weft::ir::fused
