#include "ir/dialects/pd/normalization.h"

#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {
namespace {

// Operands 1 to end - 1 have one number for each channel of operand 0. *channels: how many those are.
bool CheckChannels(InferContext& c, DataFormat layout, size_t end, int64_t* channels) {
  const int64_t axis = layout == DataFormat::kNchw ? 1 : -1;
  *channels = c.Ranked(0) ? c.operand_type(0).dim(axis) : kUnknownDim;
  for (size_t i = 1; i < end; ++i) {
    if (!CheckShape(c, i, {channels, 1})) return false;
    *channels = MergeDim(*channels, VectorLength(c, i)).value_or(*channels);
  }
  return true;
}

bool CheckAxis(InferContext& c, int64_t axis) {
  return !c.Ranked(0) || NormalizeAxis(c, &axis, c.operand_type(0).rank());
}

}  // namespace

bool BatchNorm::Infer(InferContext& c) {
  int64_t channels = kUnknownDim;
  if (!CheckTensors(c) || !CheckRank(c, 0, 2, SIZE_MAX) ||
      !CheckChannels(c, c.attrs_of<BatchNorm>().data_layout, 5, &channels))
    return false;
  for (size_t i = 1; i < 5; ++i)
    if (!SetTensor(c, i, DtypeOf(c, 1), Shape{channels})) return false;
  return SetSameAs(c, 0, 0);  // nothing is known of reserve_space
}

bool Softmax::Infer(InferContext& c) {
  return CheckTensors(c) && CheckAxis(c, c.attrs_of<Softmax>().axis) && SetSameAs(c, 0, 0);
}

bool BatchNormGrad::Infer(InferContext& c) {
  int64_t channels = kUnknownDim;
  return CheckTensors(c) && CheckRank(c, 0, 2, SIZE_MAX) && CheckGradOf(c, 7, 0) &&
         CheckChannels(c, c.attrs_of<BatchNormGrad>().data_layout, 7, &channels) &&
         SetGradsOf(c, {0, 1, 2});
}

bool SoftmaxGrad::Infer(InferContext& c) {
  return CheckTensors(c) && CheckGradOf(c, 1, 0) && CheckAxis(c, c.attrs_of<SoftmaxGrad>().axis) &&
         SetGradsOf(c, {0});
}

void LoadNormalizationOps(IrContext& context) {
  AddOps<BatchNorm, Softmax, BatchNormGrad, SoftmaxGrad>(context);
}

}  // namespace weft::ir::pd
