#include "ir/dialects/fused/pool.h"

#include "ir/dialects/fused/nhwc.h"
#include "ir/dialects/onnx.h"

namespace weft::ir::fused {
namespace {

bool CheckPooled(InferContext& c) {
  const DataType dtype = DtypeOf(c, 0);
  return dtype == DataType::kI8 || dtype == DataType::kU8 || CheckFloat(c, 0);
}

}  // namespace

bool MaxPool2d::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MaxPool2d>();
  Dims dims;
  return CheckPooled(c) &&
         SlideNhwc(c,
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
  return CheckFloat(c, 0) &&
         SlideNhwc(c,
                   {.kernel = attrs.kernel_shape,
                    .strides = attrs.strides,
                    .dilations = {1, 1},
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

}  // namespace weft::ir::fused
