#include "ir/dialects/microsoft/quantized.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/quantize.h"

namespace weft::ir::microsoft {
namespace {

template <class Op>
std::vector<Value> DecomposeBinary(Builder& b, std::span<const Value> operands) {
  if (ops::ElementTypeOf(operands[0]) == DataType::kNull) return {};
  const auto dequantized = [&](size_t i) {
    return b.Make<ops::DequantizeLinear>({operands[i], operands[i + 1], operands[i + 2]});
  };
  const Value zero = ops::OperandOrNull(operands, 7);
  return {b.Make<ops::QuantizeLinear>({b.Make<Op>({dequantized(0), dequantized(3)}), operands[6],
                                       zero ? zero : ops::ScalarLike(b, operands[0], 0)})};
}

}  // namespace

bool QLinearBinaryOp::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2, 3, 5, 7}, &dtype)) return false;
  if (dtype != DataType::kNull && dtype != DataType::kI8 && dtype != DataType::kU8)
    return c.Fail(fmt::format("a is {} but must be i8 or u8", DataTypeName(dtype)));
  for (const size_t scale : {1, 4, 6})
    if (!CheckDtype(c, scale, DataType::kF32) || !CheckScalar(c, scale) ||
        !CheckScalar(c, scale + 1))
      return false;
  return Broadcast(c, {0, 3}, &dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> QLinearAdd::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>&) {
  return DecomposeBinary<ops::Add>(b, operands);
}
std::vector<Value> QLinearMul::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>&) {
  return DecomposeBinary<ops::Mul>(b, operands);
}

void LoadQuantizedOps(IrContext& context) { AddOps<QLinearAdd, QLinearMul>(context); }

}  // namespace weft::ir::microsoft
