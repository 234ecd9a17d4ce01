#include "ir/dialects/onnx/reduce.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
namespace {

bool InferReduce(InferContext& c, const std::optional<Ints>& axes, bool keep) {
  Dims dims = DimsOf(c, 0);
  return CheckTensors(c) && CheckNumber(c, 0) && ReduceDims(c, axes, keep, &dims) &&
         SetTensor(c, 0, DtypeOf(c, 0), dims);
}

template <class Op>
bool InferReduceOp(InferContext& c) {
  const auto attrs = c.attrs_of<Op>();
  return InferReduce(c, attrs.axes.value_or(Ints()), attrs.keepdims != 0);
}

}  // namespace

bool ReduceMean::Infer(InferContext& c) { return InferReduceOp<ReduceMean>(c); }
bool ReduceMax::Infer(InferContext& c) { return InferReduceOp<ReduceMax>(c); }
bool ReduceMin::Infer(InferContext& c) { return InferReduceOp<ReduceMin>(c); }

bool ReduceSum::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 1, 1)) return false;
  const auto attrs = c.attrs_of<ReduceSum>();
  const std::optional<Ints> axes = c.HasOperand(1) ? KnownInts(c, 1) : Ints();
  if (axes && axes->empty() && attrs.noop_with_empty_axes)
    return CheckNumber(c, 0) && SetSameAs(c, 0, 0);
  return InferReduce(c, axes, attrs.keepdims != 0);
}

bool TopK::Infer(InferContext& c) { return InferTopK(c, c.attrs_of<TopK>().axis, DataType::kI64); }

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

void LoadReduceOps(IrContext& context) {
  AddOps<ReduceMean, ReduceMax, ReduceMin, ReduceSum, TopK>(context);
}

}  // namespace weft::ir::ops
