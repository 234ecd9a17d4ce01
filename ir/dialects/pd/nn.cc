#include "ir/dialects/pd/nn.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/window.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/internal/window_dims.h"

namespace weft::ir::pd {
namespace {

size_t ChannelAxis(DataFormat format) { return format == DataFormat::kNchw ? 1 : 3; }
size_t HeightAxis(DataFormat format) { return format == DataFormat::kNchw ? 2 : 1; }

// Paddle's [height, width] or [top, bottom, left, right] as begins, then ends.
bool ReadPaddings(InferContext& c, const Ints& paddings, Ints* pads) {
  if (paddings.size() == 2) {
    *pads = {paddings[0], paddings[1], paddings[0], paddings[1]};
  } else if (paddings.size() == 4) {
    *pads = {paddings[0], paddings[2], paddings[1], paddings[3]};
  } else {
    return c.Fail(fmt::format("paddings has {} entries but needs 2 or 4", paddings.size()));
  }
  return true;
}

ops::AutoPad ToAutoPad(PaddingAlgorithm algorithm) {
  switch (algorithm) {
    case PaddingAlgorithm::kSame:
      return ops::AutoPad::kSameUpper;
    case PaddingAlgorithm::kValid:
      return ops::AutoPad::kValid;
    case PaddingAlgorithm::kExplicit:
      break;
  }
  return ops::AutoPad::kNotSet;
}

// Replaces height and width in *dims.
bool Slide(InferContext& c, const Window& window, DataFormat format, Shape* dims) {
  const size_t height = HeightAxis(format);
  Shape spatial;
  if (!WindowDims(c, std::span(*dims).subspan(height, 2), window, &spatial)) return false;
  std::copy(spatial.begin(), spatial.end(), dims->begin() + static_cast<std::ptrdiff_t>(height));
  return true;
}

}  // namespace

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

bool Conv2d::Infer(InferContext& c) {
  DataType dtype;
  Shape dims;
  return CheckTensors(c) && SameDtype(c, {0, 1}, &dtype) &&
         ConvDims(c, c.attrs_of<Conv2d>(), &dims) && SetTensor(c, 0, dtype, dims);
}

bool BatchNorm::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 2, SIZE_MAX)) return false;
  const bool nchw = c.attrs_of<BatchNorm>().data_layout == DataFormat::kNchw;
  int64_t channels = c.Ranked(0) ? c.operand_type(0).dim(nchw ? 1 : -1) : kUnknownDim;
  for (size_t i = 1; i < 5; ++i) {
    if (!CheckShape(c, i, {&channels, 1})) return false;
    channels = MergeDim(channels, VectorLength(c, i)).value_or(channels);
  }
  for (size_t i = 1; i < 5; ++i)
    if (!SetTensor(c, i, DtypeOf(c, 1), Shape{channels})) return false;
  return SetSameAs(c, 0, 0);  // nothing is known of reserve_space
}

bool PoolDims(InferContext& c, const Pool2d::Attrs<Plain>& attrs, Value kernel_size, Shape* dims) {
  if (!CheckRank(c, 0, 4)) return false;
  *dims = DimsOf(c, 0).value_or(Shape(4, kUnknownDim));
  const size_t height = HeightAxis(attrs.data_format);
  const auto kernel = IntsOf(kernel_size);
  if (kernel && kernel->size() != 2)
    return c.Fail(fmt::format("kernel_size has {} entries but needs 2", kernel->size()));
  if (attrs.global_pooling) {
    (*dims)[height] = (*dims)[height + 1] = 1;
  } else if (!kernel) {
    (*dims)[height] = (*dims)[height + 1] = kUnknownDim;
  } else if (attrs.adaptive) {
    for (size_t i = 0; i < 2; ++i) {
      if ((*kernel)[i] < 1)
        return c.Fail(fmt::format("kernel_size has the entry {}", (*kernel)[i]));
      (*dims)[height + i] = (*kernel)[i];
    }
  } else {
    Window window = {.kernel = *kernel,
                     .strides = attrs.strides,
                     .dilations = {},
                     .pads = {},
                     .auto_pad = ToAutoPad(attrs.padding_algorithm),
                     .ceil_mode = attrs.ceil_mode};
    return ReadPaddings(c, attrs.paddings, &window.pads) &&
           Slide(c, window, attrs.data_format, dims);
  }
  return true;
}

bool Pool2d::Infer(InferContext& c) {
  Shape dims;
  return CheckTensors(c) && PoolDims(c, c.attrs_of<Pool2d>(), c.operand(1), &dims) &&
         SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Softmax::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  int64_t axis = c.attrs_of<Softmax>().axis;
  if (c.Ranked(0) && !NormalizeAxis(c, &axis, c.operand_type(0).rank())) return false;
  return SetSameAs(c, 0, 0);
}

bool MultiheadMatmul::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckRank(c, 0, 3) ||
      !CheckRank(c, 1, 3))
    return false;
  const Shape unknown(3, kUnknownDim);
  const Shape input = DimsOf(c, 0).value_or(unknown), w = DimsOf(c, 1).value_or(unknown);
  const int64_t heads = c.attrs_of<MultiheadMatmul>().head_number;
  if (!MergeDim(input[2], w[0]))
    return c.Fail(fmt::format("input has {} columns but w has {} rows", input[2], w[0]));
  if (!MergeDim(w[1], 3)) return c.Fail(fmt::format("w holds {} matrices, not 3", w[1]));
  if (heads < 1 || (IsStaticDim(w[2]) && w[2] % heads != 0))
    return c.Fail(fmt::format("{} columns of w do not split into {} heads", w[2], heads));
  const int64_t bias[] = {3, w[2]};
  const int64_t scores[] = {input[0], heads, input[1], input[1]};
  if (!CheckShape(c, 2, bias) || !CheckBroadcastsTo(c, 3, scores)) return false;
  return SetTensor(c, 0, dtype, Shape{input[0], input[1], w[2]});
}

void LoadNnOps(IrContext& context) {
  AddOps<Conv2d, BatchNorm, Pool2d, Softmax, MultiheadMatmul>(context);
}

}  // namespace weft::ir::pd
