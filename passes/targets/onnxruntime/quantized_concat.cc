// fuse-quantized-concat-for-ort: what joins 8-bit numbers of any scales is one operator of ONNX Runtime.
//
//   q(concat(dq(x0), dq(x1), ...))  =>  com.microsoft.QLinearConcat(x0, x1, ...)
//
// A pass and not a rule: there are three operands for each of a free number of inputs.
#include <algorithm>
#include <limits>

#include "ir/analysis/constant.h"
#include "ir/dialects/microsoft/quantized.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;
using ir::DataType;
using ir::Operation;
using ir::Value;

bool IsOneConstant(Value v) {
  return v && v.type().IsStatic() && v.type().rank() <= 1 && v.type().NumElements() == 1 &&
         ir::Contents(v);
}

// From or to 8 bits by one scale and one zero point, as the word per_tensor of rules wants them.
template <class Op>
bool IsPerTensor(Operation op) {
  if (!op || !op.Is<Op>() || op.num_operands() < 3 || !IsOneConstant(op.operand(1)) ||
      !IsOneConstant(op.operand(2)) || op.operand(1).type().dtype() != DataType::kF32)
    return false;
  const double scale = *ir::ConstantSplat(op.operand(1));
  const DataType dtype = op.operand(2).type().dtype();
  return scale >= double{std::numeric_limits<float>::min()} && scale <= 1e30 &&
         (dtype == DataType::kI8 || dtype == DataType::kU8);
}

// The concat in f32 that `quantize` alone reads, of numbers of the same type.
Operation JoinedBy(Operation quantize) {
  if (!IsPerTensor<ops::QuantizeLinear>(quantize) || !quantize.operand(0).HasOneUse() ||
      quantize.attrs_of<ops::QuantizeLinear>().precision != 0)
    return {};
  const Operation concat = quantize.operand(0).DefiningOp();
  const DataType dtype = quantize.operand(2).type().dtype();
  if (!concat || !concat.Is<ops::Concat>() || concat.block() != quantize.block() ||
      quantize.operand(0).type().dtype() != DataType::kF32)
    return {};
  const auto fits = [&](Value x) {
    const Operation op = x ? x.DefiningOp() : Operation();
    return IsPerTensor<ops::DequantizeLinear>(op) && op.operand(2).type().dtype() == dtype;
  };
  const auto inputs = concat.operands().vec();
  return std::all_of(inputs.begin(), inputs.end(), fits) ? concat : Operation();
}

class FuseQuantizedConcat : public Pass {
 public:
  FuseQuantizedConcat()
      : Pass("fuse-quantized-concat-for-ort",
             "8-bit numbers of any scales are joined by one operator",
             {.numerics = drr::NumericClass::kReassociates}) {}

  absl::Status Run(ir::Program& program) override {
    std::vector<Operation> found;
    ir::Walk(program, [&](Operation op) {
      if (JoinedBy(op)) found.push_back(op);
    });
    ir::Rewriter rewriter(&program);
    for (const Operation quantize : found) Fuse(rewriter, quantize, JoinedBy(quantize));
    return absl::OkStatus();
  }

 private:
  void Fuse(ir::Rewriter& rewriter, Operation quantize, Operation concat) {
    std::vector<Value> operands = {quantize.operand(1), quantize.operand(2)};
    for (const Value number : concat.operands()) {
      const Operation dequantize = number.DefiningOp();
      for (const uint32_t i : {0, 1, 2}) operands.push_back(dequantize.operand(i));
    }
    rewriter.SetInsertionPoint(quantize);
    rewriter.set_location(quantize.location());
    rewriter.Replace(quantize, {rewriter.Make<ir::microsoft::QLinearConcat>(
                                   operands, {.axis = concat.attrs_of<ops::Concat>().axis})});
    rewriter.EraseWithDeadOperands(concat);
    Count("concats fused");
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(FuseQuantizedConcat);

}  // namespace
}  // namespace weft::passes
