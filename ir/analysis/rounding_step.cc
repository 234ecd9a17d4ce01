#include "ir/analysis/rounding_step.h"

#include <cmath>

#include "ir/analysis/constant.h"
#include "ir/dialects/fused.h"
#include "ir/dialects/onnx.h"

namespace weft::ir {
namespace {

bool IsAnyInteger(Value v) {
  return v.type().IsTensor() &&
         (IsInteger(v.type().dtype()) || IsLowPrecisionInteger(v.type().dtype()));
}

bool Rounds(Operation op) {
  return op.Is<ops::QuantizeLinear>() || op.Is<ops::DynamicQuantizeLinear>() ||
         op.Is<ops::QLinearConv>() || op.Is<ops::QLinearMatMul>() || op.Is<fused::QConv2d>() ||
         op.Is<fused::QLinear>() || op.Is<fused::QAdd>() || op.Is<fused::QMul>() ||
         op.Is<fused::QAveragePool2d>() || op.Is<fused::QGlobalAveragePool2d>();
}

// Elements of the result are elements of operand 0, or bounds.
bool Moves(Operation op) {
  return op.Is<ops::Identity>() || op.Is<ops::Transpose>() || op.Is<ops::Reshape>() ||
         op.Is<ops::Flatten>() || op.Is<ops::Squeeze>() || op.Is<ops::Unsqueeze>() ||
         op.Is<ops::Expand>() || op.Is<ops::Slice>() || op.Is<ops::Gather>() ||
         op.Is<ops::MaxPool>() || op.Is<fused::MaxPool2d>() || op.Is<ops::Clip>() ||
         op.Is<ops::Relu>();
}

// Nothing once no visit is left.
std::optional<double> StepOf(Value v, int* visits);

std::optional<double> StepOfConcat(Operation op, int* visits) {
  std::optional<double> step;
  for (const Value operand : op.operands()) {
    const std::optional<double> other = StepOf(operand, visits);
    if (!other || (step && *step != *other)) return std::nullopt;
    step = other;
  }
  return step;
}

std::optional<double> StepOfDequantized(Operation op, int* visits) {
  if (op.attrs_of<ops::DequantizeLinear>().block_size != 0) return std::nullopt;
  const std::optional<double> scale = ConstantSplat(op.operand(1));
  const std::optional<double> integers = StepOf(op.operand(0), visits);
  if (!scale || !integers || !(std::fabs(*scale) > 0) || !std::isfinite(*scale))
    return std::nullopt;
  return std::fabs(*scale);
}

std::optional<double> StepOf(Value v, int* visits) {
  const Operation op = v ? v.DefiningOp() : Operation();
  if (!op || --*visits < 0 || v != op.result(0)) return std::nullopt;
  if (Rounds(op)) return IsAnyInteger(v) ? std::optional(1.0) : std::nullopt;
  if (op.Is<ops::DequantizeLinear>()) return StepOfDequantized(op, visits);
  if (op.Is<ops::Concat>()) return StepOfConcat(op, visits);
  return Moves(op) ? StepOf(op.operand(0), visits) : std::nullopt;
}

}  // namespace

std::optional<double> RoundingStep(Value v) {
  int visits = 1024;  // so that a tower of Concats of one value ends soon
  return StepOf(v, &visits);
}

}  // namespace weft::ir
