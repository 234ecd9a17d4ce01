#include "ir/dialects/onnx/pool.h"

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/window.h"

namespace weft::ir::ops {
namespace {

// Result of a pool on [N, C, spatial...].
bool InferPool(InferContext& c, const Window& window, Dims* dims) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 3, SIZE_MAX)) return false;
  *dims = DimsOf(c, 0);
  if (!*dims) return true;
  ir::Shape spatial;
  if (!WindowDims(c, std::span(**dims).subspan(2), window, &spatial)) return false;
  std::copy(spatial.begin(), spatial.end(), (*dims)->begin() + 2);
  return true;
}

}  // namespace

bool MaxPool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MaxPool>();
  Dims dims;
  if (!InferPool(c,
                 {.kernel = attrs.kernel_shape,
                  .strides = OrEmpty(attrs.strides),
                  .dilations = OrEmpty(attrs.dilations),
                  .pads = OrEmpty(attrs.pads),
                  .auto_pad = attrs.auto_pad,
                  .ceil_mode = attrs.ceil_mode != 0,
                  .may_exceed = true},
                 &dims) ||
      !CheckNumber(c, 0))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetTensor(c, 1, DataType::kI64, dims);
}

bool AveragePool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<AveragePool>();
  Dims dims;
  if (!InferPool(c,
                 {.kernel = attrs.kernel_shape,
                  .strides = OrEmpty(attrs.strides),
                  .dilations = {},
                  .pads = OrEmpty(attrs.pads),
                  .auto_pad = attrs.auto_pad,
                  .ceil_mode = attrs.ceil_mode != 0,
                  .may_exceed = true},
                 &dims) ||
      !CheckFloat(c, 0))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool GlobalAveragePool::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 3, SIZE_MAX)) return false;
  Dims dims = DimsOf(c, 0);
  if (dims) std::fill(dims->begin() + 2, dims->end(), 1);
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

void LoadPoolOps(IrContext& context) { AddOps<MaxPool, AveragePool, GlobalAveragePool>(context); }

}  // namespace weft::ir::ops
