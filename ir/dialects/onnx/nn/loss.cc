#include "ir/dialects/onnx/nn/loss.h"

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

bool CheckClasses(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || dtype == DataType::kI32 || dtype == DataType::kI64) return true;
  return c.Fail(OperandName(c, i) + " is " + std::string(DataTypeName(dtype)) +
                " but must be i32 or i64");
}

bool InferLoss(InferContext& c, LossReduction reduction) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckClasses(c, 1) || !CheckRank(c, 0, 2, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX) ||
      !CheckRank(c, 2, 1))
    return false;
  Dims samples = DimsOf(c, 1);
  if (Dims x = DimsOf(c, 0)) {
    const int64_t classes = (*x)[1];
    x->erase(x->begin() + 1);
    if (!CheckShape(c, 1, *x) || !CheckShape(c, 2, {&classes, 1})) return false;
    if (samples)
      for (size_t d = 0; d < x->size(); ++d) (*x)[d] = *MergeDim((*x)[d], (*samples)[d]);
    samples = x;
  }
  if (reduction != LossReduction::kNone) samples = Shape();
  return SetTensor(c, 0, dtype, samples) && SetTensor(c, 1, dtype, DimsOf(c, 0));
}

}  // namespace

bool NegativeLogLikelihoodLoss::Infer(InferContext& c) {
  return InferLoss(c, c.attrs_of<NegativeLogLikelihoodLoss>().reduction);
}
bool SoftmaxCrossEntropyLoss::Infer(InferContext& c) {
  return InferLoss(c, c.attrs_of<SoftmaxCrossEntropyLoss>().reduction);
}

void LoadLossOps(IrContext& context) {
  AddOps<NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss>(context);
}

}  // namespace weft::ir::ops
