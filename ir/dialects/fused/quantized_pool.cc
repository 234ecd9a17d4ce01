#include "ir/dialects/fused/quantized_pool.h"

#include "ir/dialects/fused/nhwc.h"
#include "ir/dialects/fused/quantized.h"

namespace weft::ir::fused {

bool QAveragePool2d::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<QAveragePool2d>();
  const Window window = {.kernel = attrs.kernel_shape,
                         .strides = attrs.strides,
                         .dilations = {1, 1},
                         .pads = attrs.pads,
                         .ceil_mode = attrs.ceil_mode,
                         .may_exceed = true};
  Dims dims;
  return CheckTensors(c) && CheckQuantized(c, 0) && CheckQuantization(c, 3) &&
         SlideNhwc(c, window, &dims) && SetTensor(c, 0, DtypeOf(c, 4), dims);
}

std::vector<Value> QAveragePool2d::Decompose(Builder& b, std::span<const Value> operands,
                                             const Attrs<Plain>& attrs) {
  const Value x = Dequantized(b, operands, 0);
  const std::vector<Value> y = AveragePool2d::Decompose(b, {&x, 1}, attrs);
  return {QuantizedLike(b, y[0], operands, 3, {})};
}

bool QGlobalAveragePool2d::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckQuantized(c, 0) || !CheckQuantization(c, 3) || !CheckRank(c, 0, 4))
    return false;
  Shape dims = DimsOf(c, 0).value_or(Shape(4, kUnknownDim));
  dims[1] = dims[2] = 1;
  return SetTensor(c, 0, DtypeOf(c, 4), dims);
}

std::vector<Value> QGlobalAveragePool2d::Decompose(Builder& b, std::span<const Value> operands,
                                                   const Attrs<Plain>&) {
  const Value x = Dequantized(b, operands, 0);
  const std::vector<Value> y = GlobalAveragePool2d::Decompose(b, {&x, 1}, {});
  return {QuantizedLike(b, y[0], operands, 3, {})};
}

}  // namespace weft::ir::fused
