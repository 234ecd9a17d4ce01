#include "ir/dialects/pd/loss.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {
namespace {

// Fails when operand i has a known element type that is no integer.
bool CheckClassNumbers(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || IsInteger(dtype)) return true;
  return c.Fail(
      fmt::format("{} is {} but must be an integer", OperandName(c, i), DataTypeName(dtype)));
}

// *dims: of the loss of operand `probabilities` (or logits) against operand `label`; fails where
// they do not fit.
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

}  // namespace

bool CrossEntropyWithSoftmax::Infer(InferContext& c) {
  Dims loss;
  return CheckTensors(c) && LossDims(c, 0, 1, c.attrs_of<CrossEntropyWithSoftmax>(), &loss) &&
         SetSameAs(c, 0, 0) && SetTensor(c, 1, DtypeOf(c, 0), loss);
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

bool CrossEntropyWithSoftmaxGrad::Infer(InferContext& c) {
  DataType dtype;
  Dims loss;
  return CheckTensors(c) && SameDtype(c, {1, 2}, &dtype) &&
         LossDims(c, 1, 0, c.attrs_of<CrossEntropyWithSoftmaxGrad>(), &loss) &&
         CheckGrad(c, 2, loss) && SetGradsOf(c, {1});
}

void LoadLossOps(IrContext& context) {
  AddOps<CrossEntropyWithSoftmax, Accuracy, CrossEntropyWithSoftmaxGrad>(context);
}

}  // namespace weft::ir::pd
