#include "ir/dialects/pd/normalization.h"

#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {

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

bool Softmax::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  int64_t axis = c.attrs_of<Softmax>().axis;
  if (c.Ranked(0) && !NormalizeAxis(c, &axis, c.operand_type(0).rank())) return false;
  return SetSameAs(c, 0, 0);
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

bool SoftmaxGrad::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckGradOf(c, 1, 0)) return false;
  int64_t axis = c.attrs_of<SoftmaxGrad>().axis;
  if (c.Ranked(0) && !NormalizeAxis(c, &axis, c.operand_type(0).rank())) return false;
  return SetGradsOf(c, {0});
}

void LoadNormalizationOps(IrContext& context) {
  AddOps<BatchNorm, Softmax, BatchNormGrad, SoftmaxGrad>(context);
}

}  // namespace weft::ir::pd
