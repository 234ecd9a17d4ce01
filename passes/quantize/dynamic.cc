// x is quantised when it is known, so that no calibration is needed; its product with i8 weights is
// exact in i32.
#include <unordered_map>

#include "ir/dialects/onnx.h"
#include "ir/rewriter.h"
#include "passes/quantize/quantize.h"
#include "passes/quantize/weights.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::Value;

// Row-major [k, n] weights of a Gemm that has them transposed.
ir::Attribute Transposed(ir::IrContext& context, ir::Attribute w) {
  const int64_t n = w.dense_type().dims()[0], k = w.dense_type().dims()[1];
  std::vector<int8_t> to(static_cast<size_t>(n * k));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < k; ++j) to[j * n + i] = static_cast<int8_t>(w.bytes()[i * k + j]);
  return context.DenseAttrOf(context.TensorType(ir::DataType::kI8, ir::Shape{k, n}),
                             std::span<const int8_t>(to));
}

}  // namespace

absl::StatusOr<int64_t> QuantizeDynamic(ir::Program& program) {
  ir::IrContext& context = *program.context();
  ir::Rewriter rewriter(&program);
  std::vector<WeightedOp> found;
  for (const ir::Operation op : program.body())
    if (const auto weighted = WeightedOpOf(op); weighted && !op.Is<ops::Conv>())
      found.push_back(*weighted);
  std::unordered_map<uint32_t, ir::Operation> quantized;  // by value
  for (const WeightedOp& weighted : found) {
    const ir::Operation op = weighted.op;
    const Value x = op.operand(0);
    WEFT_ASSIGN_OR_RETURN(Int8Weights w, QuantizeWeights(context, weighted));
    if (weighted.channel_axis == 0) w.integers = Transposed(context, w.integers);
    rewriter.SetInsertionPoint(op);
    rewriter.set_location(op.location());
    ir::Operation& q = quantized[x.id()];
    if (!q) q = rewriter.Make<ops::DynamicQuantizeLinear>({x}).DefiningOp();
    const Value sums = rewriter.Make<ops::MatMulInteger>(
        {q.result(0), rewriter.Constant(w.integers), q.result(2)});
    const Value scales =
        rewriter.ConstantFloats(w.scales, ir::Shape{static_cast<int64_t>(w.scales.size())});
    const Value scale = rewriter.Make<ops::Mul>({q.result(1), scales});
    Value y = rewriter.Make<ops::Mul>(
        {rewriter.Make<ops::Cast>({sums}, {.to = ir::DataType::kF32}), scale});
    if (op.Is<ops::Gemm>() && op.num_operands() > 2 && op.operand(2))
      y = rewriter.Make<ops::Add>({y, op.operand(2)});
    rewriter.Replace(op, {y});
  }
  return static_cast<int64_t>(found.size());
}

}  // namespace weft::passes
