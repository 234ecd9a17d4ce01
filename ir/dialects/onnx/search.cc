#include "ir/dialects/onnx/search.h"

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::ops {

bool ArgOp::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckNumber(c, 0)) return false;
  const auto attrs = c.attrs_of<ArgMax>();  // ArgMin's are the same
  Dims dims = DimsOf(c, 0);
  if (dims && dims->empty()) return c.Fail("x is a scalar, which has no axis");
  return ReduceDims(c, Ints{attrs.axis}, attrs.keepdims != 0, &dims) &&
         SetTensor(c, 0, DataType::kI64, dims);
}

void LoadSearchOps(IrContext& context) { AddOps<ArgMax, ArgMin>(context); }

}  // namespace weft::ir::ops
