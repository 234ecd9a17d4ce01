#include "ir/dialects/fused/quantized_elementwise.h"

#include "ir/dialects/fused/quantized.h"
#include "ir/dialects/onnx.h"

namespace weft::ir::fused {
namespace {

template <class Op>
std::vector<Value> DecomposeBinary(Builder& b, std::span<const Value> operands, const Ints& clamp) {
  const Value y = b.Make<Op>({Dequantized(b, operands, 0), Dequantized(b, operands, 3)});
  return {QuantizedLike(b, y, operands, 6, clamp)};
}

}  // namespace

bool QBinaryOp::Infer(InferContext& c) {
  Dims dims;
  return CheckTensors(c) && CheckQuantized(c, 0) && CheckQuantized(c, 3) &&
         CheckQuantization(c, 6) && CheckClamp(c, 7, c.attrs_of<QAdd>().clamp) &&
         Broadcast(c, {0, 3}, &dims) && SetTensor(c, 0, DtypeOf(c, 7), dims);
}

std::vector<Value> QAdd::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  return DecomposeBinary<ops::Add>(b, operands, attrs.clamp);
}
std::vector<Value> QMul::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  return DecomposeBinary<ops::Mul>(b, operands, attrs.clamp);
}

bool QLookup::Infer(InferContext& c) {
  constexpr int64_t kEntries = 256;
  return CheckTensors(c) && CheckByte(c, 0) && CheckByte(c, 1) &&
         CheckShape(c, 1, {&kEntries, 1}) && SetTensor(c, 0, DtypeOf(c, 1), DimsOf(c, 0));
}

// Negative indices count from the end.
std::vector<Value> QLookup::Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>&) {
  const Value index = b.Make<ops::Cast>({operands[0]}, {.to = DataType::kI32});
  return {b.Make<ops::Gather>({operands[1], index})};
}

}  // namespace weft::ir::fused
