#include "ir/dialects/pd/loss.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer_util.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/internal/loss_dims.h"

namespace weft::ir::pd {

bool CheckClassNumbers(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || IsInteger(dtype)) return true;
  return c.Fail(
      fmt::format("{} is {} but must be an integer", OperandName(c, i), DataTypeName(dtype)));
}

bool LossDims(InferContext& c, size_t probabilities, size_t label,
              const CrossEntropyWithSoftmax::Attrs<Plain>& attrs, Dims* dims) {
  *dims = DimsOf(c, probabilities);
  if (!CheckFloat(c, probabilities)) return false;
  DataType dtype;
  if (attrs.soft_label ? !SameDtype(c, {probabilities, label}, &dtype)
                       : !CheckClassNumbers(c, label))
    return false;
  if (!*dims) return true;
  int64_t axis = attrs.axis;
  if (!NormalizeAxis(c, &axis, (*dims)->size())) return false;
  if (attrs.soft_label && !CheckShape(c, label, **dims)) return false;
  (**dims)[static_cast<size_t>(axis)] = 1;
  return attrs.soft_label || CheckShape(c, label, **dims);
}

bool Mean::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Mean>();
  if (!CheckTensors(c) || !CheckFloat(c, 0)) return false;
  Dims dims = DimsOf(c, 0);
  return ReduceDims(c, attrs.axis, attrs.keepdim, &dims) && SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool CrossEntropyWithSoftmax::Infer(InferContext& c) {
  Dims loss;
  return CheckTensors(c) && LossDims(c, 0, 1, c.attrs_of<CrossEntropyWithSoftmax>(), &loss) &&
         SetSameAs(c, 0, 0) && SetTensor(c, 1, DtypeOf(c, 0), loss);
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

bool Accuracy::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckClassNumbers(c, 1) || !CheckClassNumbers(c, 2) ||
      !CheckRank(c, 1, 2))
    return false;
  if (const Dims indices = DimsOf(c, 1)) {
    const int64_t label[] = {(*indices)[0], 1};
    if (!CheckShape(c, 0, *indices) || !CheckShape(c, 2, label)) return false;
  }
  return SetTensor(c, 0, DataType::kF32, Shape()) && SetTensor(c, 1, DataType::kI32, Shape()) &&
         SetTensor(c, 2, DataType::kI32, Shape());
}

void LoadLossOps(IrContext& context) {
  AddOps<Mean, CrossEntropyWithSoftmax, TopK, Accuracy>(context);
}

}  // namespace weft::ir::pd
