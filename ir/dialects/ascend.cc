#include "ir/dialects/ascend.h"

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/infer.h"

namespace weft::ir {
namespace ascend {

bool TopK::Infer(InferContext& c) {
  return ops::InferTopK(c, c.attrs_of<TopK>().axis, DataType::kI32);
}

std::vector<Value> TopK::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value k = b.Make<ops::Cast>({operands[1]}, {.to = DataType::kI64});
  const Operation op = b.Create<ops::TopK>(
      {operands[0], k}, {.axis = attrs.axis, .largest = attrs.largest, .sorted = attrs.sorted});
  return {op.result(0), b.Make<ops::Cast>({op.result(1)}, {.to = DataType::kI32})};
}

}  // namespace ascend

void LoadAscendDialect(IrContext& context) {
  LoadOnnxDialect(context);
  AddOps<ascend::TopK>(context);
}

}  // namespace weft::ir
