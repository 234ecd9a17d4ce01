#include "ir/dialects/pd/nn_grad.h"

#include "ir/dialects/pd/internal/gradient.h"
#include "ir/dialects/pd/internal/window_dims.h"

namespace weft::ir::pd {

bool Conv2dGrad::Infer(InferContext& c) {
  DataType dtype;
  Shape dims;
  return CheckTensors(c) && SameDtype(c, {0, 1, 2}, &dtype) &&
         ConvDims(c, c.attrs_of<Conv2dGrad>(), &dims) && CheckShape(c, 2, dims) &&
         SetGradsOf(c, {0, 1});
}

bool BatchNormGrad::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 2, SIZE_MAX) || !CheckGradOf(c, 7, 0)) return false;
  const bool nchw = c.attrs_of<BatchNormGrad>().data_layout == DataFormat::kNchw;
  int64_t channels = c.Ranked(0) ? c.operand_type(0).dim(nchw ? 1 : -1) : kUnknownDim;
  for (size_t i = 1; i < 7; ++i) {
    if (!CheckShape(c, i, {&channels, 1})) return false;
    channels = MergeDim(channels, VectorLength(c, i)).value_or(channels);
  }
  return SetGradsOf(c, {0, 1, 2});
}

bool Pool2dGrad::Infer(InferContext& c) {
  Shape dims;
  return CheckTensors(c) && PoolDims(c, c.attrs_of<Pool2dGrad>(), c.operand(3), &dims) &&
         CheckShape(c, 1, dims) && CheckGradOf(c, 2, 1) && SetGradsOf(c, {0});
}

bool SoftmaxGrad::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckGradOf(c, 1, 0)) return false;
  int64_t axis = c.attrs_of<SoftmaxGrad>().axis;
  if (c.Ranked(0) && !NormalizeAxis(c, &axis, c.operand_type(0).rank())) return false;
  return SetGradsOf(c, {0});
}

void LoadNnGradOps(IrContext& context) {
  AddOps<Conv2dGrad, BatchNormGrad, Pool2dGrad, SoftmaxGrad>(context);
}

}  // namespace weft::ir::pd
