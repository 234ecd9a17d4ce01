#include "ir/dialects/onnx/reduce.h"

#include <algorithm>

#include "ir/dialects/onnx/shape_value.h"

namespace weft::ir::ops {
namespace {

// axes: nullopt when they are not known; empty for all.
bool InferReduce(InferContext& c, std::optional<Ints> axes, bool keep) {
  if (!CheckTensors(c) || !CheckNumber(c, 0)) return false;
  Dims dims = DimsOf(c, 0);
  if (dims && axes) {
    if (!NormalizeAxes(c, &*axes, dims->size())) return false;
    const bool all = axes->empty();
    Shape result;
    for (size_t i = 0; i < dims->size(); ++i) {
      const bool reduced =
          all || std::binary_search(axes->begin(), axes->end(), static_cast<int64_t>(i));
      if (!reduced) result.push_back((*dims)[i]);
      if (reduced && keep) result.push_back(1);
    }
    dims = std::move(result);
  } else if (dims && keep) {
    for (int64_t& d : *dims)
      if (d != 1) d = kUnknownDim;
  } else {
    dims = std::nullopt;
    if (axes && axes->empty() && !keep) dims = Shape();
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
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
  std::optional<Ints> axes = c.HasOperand(1) ? KnownInts(c, 1) : Ints();
  if (axes && axes->empty() && attrs.noop_with_empty_axes)
    return CheckNumber(c, 0) && SetSameAs(c, 0, 0);
  return InferReduce(c, std::move(axes), attrs.keepdims != 0);
}

void LoadReduceOps(IrContext& context) {
  AddOps<ReduceMean, ReduceMax, ReduceMin, ReduceSum>(context);
}

}  // namespace weft::ir::ops
