#include "ir/dialects/pd/pool.h"

#include <fmt/format.h>

#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {
namespace {

// The result of pooling operand 0.
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

}  // namespace

bool Pool2d::Infer(InferContext& c) {
  Shape dims;
  return CheckTensors(c) && PoolDims(c, c.attrs_of<Pool2d>(), c.operand(1), &dims) &&
         SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Pool2dGrad::Infer(InferContext& c) {
  Shape dims;
  return CheckTensors(c) && PoolDims(c, c.attrs_of<Pool2dGrad>(), c.operand(3), &dims) &&
         CheckShape(c, 1, dims) && CheckGradOf(c, 2, 1) && SetGradsOf(c, {0});
}

void LoadPoolOps(IrContext& context) { AddOps<Pool2d, Pool2dGrad>(context); }

}  // namespace weft::ir::pd
