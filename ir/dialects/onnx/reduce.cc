#include "ir/dialects/onnx/reduce.h"

#include "ir/dialects/onnx/shape_value.h"

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

void LoadReduceOps(IrContext& context) {
  AddOps<ReduceMean, ReduceMax, ReduceMin, ReduceSum>(context);
}

}  // namespace weft::ir::ops
