#include "ir/dialects/pd/reduce.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {

bool Mean::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Mean>();
  if (!CheckTensors(c) || !CheckFloat(c, 0)) return false;
  Dims dims = DimsOf(c, 0);
  return ReduceDims(c, attrs.axis, attrs.keepdim, &dims) && SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool TopK::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !CheckScalar(c, 1)) return false;
  Dims dims = DimsOf(c, 0);
  int64_t axis = c.attrs_of<TopK>().axis;
  const auto k = IntsOf(c.operand(1));
  if (dims) {
    if (!NormalizeAxis(c, &axis, dims->size())) return false;
    int64_t& entries = (*dims)[static_cast<size_t>(axis)];
    if (k && ((*k)[0] < 1 || (IsStaticDim(entries) && (*k)[0] > entries)))
      return c.Fail(fmt::format("k is {} for {} of {} along axis {}", (*k)[0], OperandName(c, 0),
                                ToString(*DimsOf(c, 0)), axis));
    entries = k ? (*k)[0] : kUnknownDim;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetTensor(c, 1, DataType::kI64, dims);
}

bool MeanGrad::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MeanGrad>();
  DataType dtype;
  Dims dims = DimsOf(c, 0);
  return CheckTensors(c) && SameDtype(c, {0, 1}, &dtype) &&
         ReduceDims(c, attrs.axis, attrs.keepdim, &dims) && CheckGrad(c, 1, dims) &&
         SetGradsOf(c, {0});
}

void LoadReduceOps(IrContext& context) { AddOps<Mean, TopK, MeanGrad>(context); }

}  // namespace weft::ir::pd
