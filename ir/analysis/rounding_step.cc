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

bool IsInputOrConstant(Value v) { return !v || !v.DefiningOp() || IsConstant(v); }

// An input of the program or a constant, perhaps moved.
bool IsGiven(Value v) {
  while (!IsInputOrConstant(v)) {
    const Operation op = v.DefiningOp();
    if (!Moves(op) || v != op.result(0)) return false;
    for (uint32_t i = 1; i < op.num_operands(); ++i)
      if (!IsInputOrConstant(op.operand(i))) return false;
    v = op.operand(0);
  }
  return true;
}

// ONNX specifies the integers of given f32 to the last bit. Shorter floats may be widened, and the
// quotient with them.
bool IsSpecified(Operation op) {
  if (!op.Is<ops::QuantizeLinear>() && !op.Is<ops::DynamicQuantizeLinear>()) return false;
  const Value x = op.operand(0);
  if (!x.type().IsTensor() || x.type().dtype() != DataType::kF32) return false;
  for (uint32_t i = 0; i < op.num_operands(); ++i)
    if (!IsGiven(op.operand(i))) return false;
  return true;
}

// Values are whole numbers of steps.
struct Lattice {
  double step = 1;
  bool may_differ = true;  // by one, between two right computations
};

// Nothing once no visit is left.
std::optional<Lattice> LatticeOf(Value v, int* visits);

std::optional<Lattice> LatticeOfConcat(Operation op, int* visits) {
  std::optional<Lattice> all;
  for (const Value operand : op.operands()) {
    const std::optional<Lattice> one = LatticeOf(operand, visits);
    if (!one || (all && all->step != one->step)) return std::nullopt;
    all = {one->step, one->may_differ || (all && all->may_differ)};
  }
  return all;
}

std::optional<Lattice> LatticeOfDequantized(Operation op, int* visits) {
  if (op.attrs_of<ops::DequantizeLinear>().block_size != 0) return std::nullopt;
  const std::optional<double> scale = ConstantSplat(op.operand(1));
  const std::optional<Lattice> integers = LatticeOf(op.operand(0), visits);
  if (!scale || !integers || !(std::fabs(*scale) > 0) || !std::isfinite(*scale))
    return std::nullopt;
  return Lattice{std::fabs(*scale), integers->may_differ};
}

// A bound between two steps would make differences of parts of a step.
bool BoundsAreWholeSteps(Operation clip, double step) {
  for (uint32_t i = 1; i < clip.num_operands(); ++i) {
    if (!clip.operand(i)) continue;
    const std::optional<double> bound = ConstantSplat(clip.operand(i));
    if (!bound) return false;
    const double steps = *bound / step;
    if (std::isfinite(steps) && std::fabs(steps - std::nearbyint(steps)) > 1e-3) return false;
  }
  return true;
}

std::optional<Lattice> LatticeOf(Value v, int* visits) {
  const Operation op = v ? v.DefiningOp() : Operation();
  if (!op || --*visits < 0 || v != op.result(0)) return std::nullopt;
  if (Rounds(op))
    return IsAnyInteger(v) ? std::optional(Lattice{1, !IsSpecified(op)}) : std::nullopt;
  if (op.Is<ops::DequantizeLinear>()) return LatticeOfDequantized(op, visits);
  if (op.Is<ops::Concat>()) return LatticeOfConcat(op, visits);
  if (!Moves(op)) return std::nullopt;
  const std::optional<Lattice> moved = LatticeOf(op.operand(0), visits);
  if (moved && op.Is<ops::Clip>() && !IsAnyInteger(v) && !BoundsAreWholeSteps(op, moved->step))
    return std::nullopt;
  return moved;
}

}  // namespace

std::optional<double> RoundingStep(Value v) {
  int visits = 1024;  // so that a tower of Concats of one value ends soon
  const std::optional<Lattice> lattice = LatticeOf(v, &visits);
  return lattice && lattice->may_differ ? std::optional(lattice->step) : std::nullopt;
}

}  // namespace weft::ir
