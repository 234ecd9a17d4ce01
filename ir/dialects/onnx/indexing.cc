#include "ir/dialects/onnx/indexing.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/shape_value.h"

namespace weft::ir::ops {

bool InferTopK(InferContext& c, int64_t axis, DataType index) {
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !CheckDtype(c, 1, index) || !CheckScalar(c, 1))
    return false;
  Dims dims = DimsOf(c, 0);
  if (dims) {
    if (!NormalizeAxis(c, &axis, dims->size())) return false;
    int64_t& size = (*dims)[axis];
    const auto value = ShapeOperand(c, 1);
    const ShapeEntry k = value && value->size() == 1 ? value->front() : ShapeEntry();
    if (k.is_number && (k.value < 0 || (IsStaticDim(size) && k.value > size)))
      return c.Fail(fmt::format("k is {} but x is {}", k.value, ToString(*dims)));
    size = k.value;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetTensor(c, 1, index, dims);
}

bool TopK::Infer(InferContext& c) { return InferTopK(c, c.attrs_of<TopK>().axis, DataType::kI64); }

bool ScatterND::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckDtype(c, 1, DataType::kI64) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, 1, 1, SIZE_MAX))
    return false;
  const Dims data = DimsOf(c, 0), indices = DimsOf(c, 1);
  if (data && indices && IsStaticDim(indices->back())) {
    const int64_t named = indices->back();
    if (named > static_cast<int64_t>(data->size()))
      return c.Fail(fmt::format("indices {} name {} dimensions but data has rank {}",
                                ToString(*indices), named, data->size()));
    Shape updates(indices->begin(), indices->end() - 1);
    updates.insert(updates.end(), data->begin() + named, data->end());
    if (!CheckShape(c, 2, updates)) return false;
  }
  return SetTensor(c, 0, dtype, data);
}

void LoadIndexingOps(IrContext& context) { AddOps<TopK, ScatterND>(context); }

}  // namespace weft::ir::ops
