#include "ir/dialects/onnx/quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {
namespace {

bool CheckOneOf(InferContext& c, size_t i, std::initializer_list<DataType> allowed) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || std::find(allowed.begin(), allowed.end(), dtype) != allowed.end())
    return true;
  std::string names;
  for (DataType a : allowed) names += (names.empty() ? "" : " or ") + std::string(DataTypeName(a));
  return c.Fail(
      fmt::format("{} is {} but must be {}", OperandName(c, i), DataTypeName(dtype), names));
}

// Fails unless operand i may be a scalar or one element per entry of x's dimension `axis`.
bool CheckPerAxis(InferContext& c, size_t i, int64_t axis) {
  if (!CheckRank(c, i, 0, 1)) return false;
  const Dims x = DimsOf(c, 0), dims = DimsOf(c, i);
  if (!x || !dims || dims->empty() || dims->front() == 1) return true;
  if (!NormalizeAxis(c, &axis, x->size())) return false;
  if (MergeDim((*x)[axis], dims->front())) return true;
  return c.Fail(fmt::format("{} has {} entries but dimension {} of x is {}", OperandName(c, i),
                            dims->front(), axis, (*x)[axis]));
}

bool CheckScaleAndZeroPoint(InferContext& c, int64_t axis) {
  return CheckDtype(c, 1, DataType::kF32) && CheckPerAxis(c, 1, axis) && CheckPerAxis(c, 2, axis);
}

}  // namespace

bool QuantizeLinear::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckOneOf(c, 0, {DataType::kF32, DataType::kI32}) ||
      !CheckOneOf(c, 2, {DataType::kU8, DataType::kI8}) ||
      !CheckScaleAndZeroPoint(c, c.attrs_of<QuantizeLinear>().axis))
    return false;
  return SetTensor(c, 0, c.HasOperand(2) ? DtypeOf(c, 2) : DataType::kU8, DimsOf(c, 0));
}

bool DequantizeLinear::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) ||
      !CheckOneOf(c, 0, {DataType::kI8, DataType::kU8, DataType::kI32}) ||
      !CheckScaleAndZeroPoint(c, c.attrs_of<DequantizeLinear>().axis))
    return false;
  return SetTensor(c, 0, DataType::kF32, DimsOf(c, 0));
}

void LoadQuantizeOps(IrContext& context) { AddOps<QuantizeLinear, DequantizeLinear>(context); }

}  // namespace weft::ir::ops
