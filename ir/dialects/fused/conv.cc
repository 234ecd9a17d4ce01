#include "ir/dialects/fused/conv.h"

#include <algorithm>

#include "ir/dialects/fused/nhwc.h"
#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::fused {

bool Conv2d::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<Conv2d>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 4) || !CheckRank(c, 1, 4) ||
      !CheckActivation(c, attrs.activation, attrs.activation_params))
    return false;
  const Shape w = DimsOf(c, 1).value_or(Shape(4, kUnknownDim));
  const int64_t channels =
      c.Ranked(0) ? c.operand_type(0).dim(attrs.x_channels_first ? 1 : 3) : kUnknownDim;
  if (!CheckConvChannels(c, channels, w, attrs.group) || !CheckShape(c, 2, {w.data(), 1}))
    return false;
  Dims dims;
  const Window window = {.kernel = {w[2], w[3]},
                         .strides = attrs.strides,
                         .dilations = attrs.dilations,
                         .pads = attrs.pads,
                         .kernel_of_operand = true};
  if (!SlideNhwc(c, window, &dims, attrs.x_channels_first)) return false;
  dims->back() = w[0];
  return CheckShape(c, 3, *dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Conv2d::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>& attrs) {
  const Value x = attrs.x_channels_first ? operands[0] : ToNchw(b, operands[0]);
  std::vector<Value> inputs = {x, operands[1]};
  if (const Value bias = OperandOrNull(operands, 2)) inputs.push_back(bias);
  Value y = b.Make<ops::Conv>(inputs, {.dilations = attrs.dilations,
                                       .group = attrs.group,
                                       .pads = attrs.pads,
                                       .strides = attrs.strides});
  y = AddIfGiven(b, ToNhwc(b, y), operands, 3);
  return {BuildActivation(b, y, attrs.activation, attrs.activation_params)};
}

bool ConvTranspose2d::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<ConvTranspose2d>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 4) || !CheckRank(c, 1, 4) ||
      !CheckActivation(c, attrs.activation, attrs.activation_params))
    return false;
  Shape x = DimsOf(c, 0).value_or(Shape(4, kUnknownDim));
  std::rotate(x.begin() + 1, x.end() - 1, x.end());
  const Shape w = DimsOf(c, 1).value_or(Shape(4, kUnknownDim));
  Dims dims = ops::ConvTranspose::InferDims(c,
                                            {.group = attrs.group,
                                             .output_padding = attrs.output_padding,
                                             .pads = attrs.pads,
                                             .strides = attrs.strides},
                                            x, w);
  if (!dims) return false;
  std::rotate(dims->begin() + 1, dims->begin() + 2, dims->end());
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> ConvTranspose2d::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  std::vector<Value> inputs = {ToNchw(b, operands[0]), operands[1]};
  if (const Value bias = OperandOrNull(operands, 2)) inputs.push_back(bias);
  const Value y = b.Make<ops::ConvTranspose>(inputs, {.group = attrs.group,
                                                      .output_padding = attrs.output_padding,
                                                      .pads = attrs.pads,
                                                      .strides = attrs.strides});
  return {BuildActivation(b, ToNhwc(b, y), attrs.activation, attrs.activation_params)};
}

}  // namespace weft::ir::fused
