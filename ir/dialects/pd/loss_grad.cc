#include "ir/dialects/pd/loss_grad.h"

#include "ir/dialects/pd/internal/gradient.h"
#include "ir/dialects/pd/internal/loss_dims.h"

namespace weft::ir::pd {

bool MeanGrad::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MeanGrad>();
  DataType dtype;
  Dims dims = DimsOf(c, 0);
  return CheckTensors(c) && SameDtype(c, {0, 1}, &dtype) &&
         ReduceDims(c, attrs.axis, attrs.keepdim, &dims) && CheckGrad(c, 1, dims) &&
         SetGradsOf(c, {0});
}

bool CrossEntropyWithSoftmaxGrad::Infer(InferContext& c) {
  DataType dtype;
  Dims loss;
  return CheckTensors(c) && SameDtype(c, {1, 2}, &dtype) &&
         LossDims(c, 1, 0, c.attrs_of<CrossEntropyWithSoftmaxGrad>(), &loss) &&
         CheckGrad(c, 2, loss) && SetGradsOf(c, {1});
}

void LoadLossGradOps(IrContext& context) { AddOps<MeanGrad, CrossEntropyWithSoftmaxGrad>(context); }

}  // namespace weft::ir::pd
