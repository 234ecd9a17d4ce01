#include "ir/dialects/fused/conv.h"

#include "ir/dialects/fused/nhwc.h"
#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/window.h"

namespace weft::ir::fused {

bool Conv2d::Infer(InferContext& c) {
  DataType dtype;
  const auto attrs = c.attrs_of<Conv2d>();
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckRank(c, 0, 4) ||
      !CheckRank(c, 1, 4) || !CheckActivation(c, attrs.activation, attrs.activation_params))
    return false;
  const Shape w = DimsOf(c, 1).value_or(Shape(4, kUnknownDim));
  const int64_t channels = c.Ranked(0) ? c.operand_type(0).dim(3) : kUnknownDim;
  if (!CheckConvChannels(c, channels, w, attrs.group) || !CheckShape(c, 2, {w.data(), 1}))
    return false;
  Dims dims;
  if (IsStaticDim(w[2]) && IsStaticDim(w[3])) {
    const Window window = {.kernel = {w[2], w[3]},
                           .strides = attrs.strides,
                           .dilations = attrs.dilations,
                           .pads = attrs.pads};
    if (!SlideNhwc(c, window, &dims)) return false;
  } else {
    dims = Shape{c.Ranked(0) ? c.operand_type(0).dim(0) : kUnknownDim, kUnknownDim, kUnknownDim, 0};
  }
  dims->back() = w[0];
  return CheckShape(c, 3, *dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Conv2d::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>& attrs) {
  std::vector<Value> inputs = {ToNchw(b, operands[0]), operands[1]};
  if (const Value bias = OperandOrNull(operands, 2)) inputs.push_back(bias);
  Value y = b.Make<ops::Conv>(inputs, {.dilations = attrs.dilations,
                                       .group = attrs.group,
                                       .pads = attrs.pads,
                                       .strides = attrs.strides});
  y = AddIfGiven(b, ToNhwc(b, y), operands, 3);
  return {BuildActivation(b, y, attrs.activation, attrs.activation_params)};
}

<<<<<<< HEAD
=======
bool MaxPool2d::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MaxPool2d>();
  Dims dims;
  return SlideNhwc(c,
                   {.kernel = attrs.kernel_shape,
                    .strides = attrs.strides,
                    .dilations = attrs.dilations,
                    .pads = attrs.pads,
                    .ceil_mode = attrs.ceil_mode,
                    .may_exceed = true},
                   &dims) &&
         SetTensor(c, 0, DtypeOf(c, 0), dims);
}

std::vector<Value> MaxPool2d::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  const Value y =
      b.Make<ops::MaxPool>({ToNchw(b, operands[0])}, {.ceil_mode = int64_t{attrs.ceil_mode},
                                                      .dilations = attrs.dilations,
                                                      .kernel_shape = attrs.kernel_shape,
                                                      .pads = attrs.pads,
                                                      .strides = attrs.strides});
  return {ToNhwc(b, y)};
}

bool AveragePool2d::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<AveragePool2d>();
  Dims dims;
  return SlideNhwc(c,
                   {.kernel = attrs.kernel_shape,
                    .strides = attrs.strides,
                    .dilations = {},
                    .pads = attrs.pads,
                    .ceil_mode = attrs.ceil_mode,
                    .may_exceed = true},
                   &dims) &&
         SetTensor(c, 0, DtypeOf(c, 0), dims);
}

std::vector<Value> AveragePool2d::Decompose(Builder& b, std::span<const Value> operands,
                                            const Attrs<Plain>& attrs) {
  const Value y = b.Make<ops::AveragePool>({ToNchw(b, operands[0])},
                                           {.ceil_mode = int64_t{attrs.ceil_mode},
                                            .count_include_pad = int64_t{attrs.count_include_pad},
                                            .kernel_shape = attrs.kernel_shape,
                                            .pads = attrs.pads,
                                            .strides = attrs.strides});
  return {ToNhwc(b, y)};
}

bool GlobalAveragePool2d::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 4)) return false;
  Shape dims = DimsOf(c, 0).value_or(Shape(4, kUnknownDim));
  dims[1] = dims[2] = 1;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

std::vector<Value> GlobalAveragePool2d::Decompose(Builder& b, std::span<const Value> operands,
                                                  const Attrs<Plain>&) {
  return {ToNhwc(b, b.Make<ops::GlobalAveragePool>({ToNchw(b, operands[0])}))};
}

>>>>>>> af19ce2b
}  // namespace weft::ir::fused
