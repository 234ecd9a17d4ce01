#include "ir/dialects/onnx/conv.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::ops {

bool Conv::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3, SIZE_MAX) || !CheckRank(c, 1, 3, SIZE_MAX))
    return false;
  const Dims x = DimsOf(c, 0), w = DimsOf(c, 1);
  if (!x || !w) return SetTensor(c, 0, dtype, std::nullopt);
  if (x->size() != w->size())
    return c.Fail(fmt::format("x has rank {} but w has rank {}", x->size(), w->size()));
  const auto attrs = c.attrs_of<Conv>();
  if (!CheckConvChannels(c, (*x)[1], *w, attrs.group) || !CheckShape(c, 2, {w->data(), 1}))
    return false;
  const Ints kernel(w->begin() + 2, w->end());
  if (attrs.kernel_shape) {
    bool same = attrs.kernel_shape->size() == kernel.size();
    for (size_t i = 0; same && i < kernel.size(); ++i)
      same = (*attrs.kernel_shape)[i] >= 0 && MergeDim(kernel[i], (*attrs.kernel_shape)[i]);
    if (!same)
      return c.Fail(fmt::format("kernel_shape is {} but w has {}", IntsText(*attrs.kernel_shape),
                                ToString(kernel)));
  }
  ir::Shape dims = {(*x)[0], (*w)[0]};
  ir::Shape spatial(kernel.size(), kUnknownDim);
  const Window window = {.kernel = attrs.kernel_shape.value_or(kernel),
                         .strides = OrEmpty(attrs.strides),
                         .dilations = OrEmpty(attrs.dilations),
                         .pads = OrEmpty(attrs.pads),
                         .auto_pad = attrs.auto_pad};
  const bool known = std::all_of(window.kernel.begin(), window.kernel.end(), IsStaticDim);
  if (known && !WindowDims(c, std::span(*x).subspan(2), window, &spatial)) return false;
  dims.insert(dims.end(), spatial.begin(), spatial.end());
  return SetTensor(c, 0, dtype, dims);
}

double Conv::Flops(Operation op) {
  const Type w = op.operand(1).type();
  return 2.0 * static_cast<double>(op.result(0).type().NumElements()) *
         static_cast<double>(w.NumElements()) / std::max(static_cast<double>(w.dim(0)), 1.0);
}

void LoadConvOps(IrContext& context) { AddOps<Conv>(context); }

}  // namespace weft::ir::ops
