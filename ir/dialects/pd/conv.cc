#include "ir/dialects/pd/conv.h"

#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {
namespace {

// The result of the convolution of operand 0 with operand 1; fails where the op is wrong.
bool ConvDims(InferContext& c, const Conv2d::Attrs<Plain>& attrs, Shape* dims) {
  const Dims input = DimsOf(c, 0), filter = DimsOf(c, 1);
  *dims = Shape(4, kUnknownDim);
  if (!CheckRank(c, 0, 4) || !CheckRank(c, 1, 4)) return false;
  if (!input || !filter) return true;
  const size_t channels = ChannelAxis(attrs.data_format), height = HeightAxis(attrs.data_format);
  if (!CheckConvChannels(c, (*input)[channels], *filter, attrs.groups)) return false;
  *dims = *input;
  (*dims)[channels] = (*filter)[0];
  Window window = {.kernel = {(*filter)[2], (*filter)[3]},
                   .strides = attrs.strides,
                   .dilations = attrs.dilations,
                   .pads = {},
                   .auto_pad = ToAutoPad(attrs.padding_algorithm)};
  if (!ReadPaddings(c, attrs.paddings, &window.pads)) return false;
  if (IsStaticDim(window.kernel[0]) && IsStaticDim(window.kernel[1]))
    return Slide(c, window, attrs.data_format, dims);
  (*dims)[height] = (*dims)[height + 1] = kUnknownDim;
  return true;
}

}  // namespace

bool Conv2d::Infer(InferContext& c) {
  DataType dtype;
  Shape dims;
  return CheckTensors(c) && SameDtype(c, {0, 1}, &dtype) &&
         ConvDims(c, c.attrs_of<Conv2d>(), &dims) && SetTensor(c, 0, dtype, dims);
}

bool Conv2dGrad::Infer(InferContext& c) {
  DataType dtype;
  Shape dims;
  return CheckTensors(c) && SameDtype(c, {0, 1, 2}, &dtype) &&
         ConvDims(c, c.attrs_of<Conv2dGrad>(), &dims) && CheckShape(c, 2, dims) &&
         SetGradsOf(c, {0, 1});
}

void LoadConvOps(IrContext& context) { AddOps<Conv2d, Conv2dGrad>(context); }

}  // namespace weft::ir::pd
