#include "ir/dialects/onnx/nn/signal.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/math.h"

namespace weft::ir::ops {
namespace {

bool CheckPosition(InferContext& c, size_t i) { return CheckIndex(c, i) && CheckScalar(c, i); }

// The one integer of operand i, or kUnknownDim; fails when it is known to be below `min`.
bool ScalarOperand(InferContext& c, size_t i, int64_t min, int64_t* value) {
  *value = kUnknownDim;
  if (!CheckPosition(c, i)) return false;
  const auto known = KnownInts(c, i);
  if (!known || known->size() != 1) return true;
  *value = known->front();
  return *value >= min || c.Fail(fmt::format("{} is {}", OperandName(c, i), *value));
}

// Whether the last dimension of operand 0 may hold real or complex numbers.
bool CheckParts(InferContext& c, bool may_be_real, bool may_be_complex) {
  const Dims x = DimsOf(c, 0);
  if (!x || !IsStaticDim(x->back())) return true;
  if ((x->back() == 1 && may_be_real) || (x->back() == 2 && may_be_complex)) return true;
  return c.Fail(fmt::format("{} has {} parts of a number", OperandName(c, 0), x->back()));
}

int64_t OneSided(int64_t length) { return IsStaticDim(length) ? length / 2 + 1 : kUnknownDim; }

}  // namespace

bool DFT::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<DFT>();
  const bool inverse = attrs.inverse != 0, onesided = attrs.onesided != 0;
  int64_t length;
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 2, SIZE_MAX) ||
      !ScalarOperand(c, 1, 1, &length) || !CheckPosition(c, 2) ||
      !CheckParts(c, !(onesided && inverse), !onesided || inverse))
    return false;
  Dims dims = DimsOf(c, 0);
  if (!dims) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  dims->back() = onesided && inverse ? 1 : 2;
  const auto given = c.HasOperand(2) ? KnownInts(c, 2) : Ints{-2};
  if (!given || given->size() != 1) {
    std::fill(dims->begin(), dims->end() - 1, kUnknownDim);
    return SetTensor(c, 0, DtypeOf(c, 0), dims);
  }
  int64_t axis = given->front();
  if (!NormalizeAxis(c, &axis, dims->size())) return false;
  if (axis + 1 == static_cast<int64_t>(dims->size()))
    return c.Fail("axis is the last one, which holds the parts of a number");
  int64_t& dim = (*dims)[axis];
  if (!c.HasOperand(1)) {
    length = dim;
    if (onesided && inverse)
      length = !IsStaticDim(dim) ? kUnknownDim : dim < INT64_MAX / 2 ? 2 * (dim - 1) : 0;
    if (IsStaticDim(length) && length < 1)
      return c.Fail(fmt::format("dimension {} is {}: nothing to transform", axis, dim));
  }
  dim = onesided && !inverse ? OneSided(length) : length;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool STFT::Infer(InferContext& c) {
  DataType dtype;
  int64_t step, length;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3) || !CheckRank(c, 2, 1) || !CheckParts(c, true, true) ||
      !ScalarOperand(c, 1, 1, &step) || !ScalarOperand(c, 3, 1, &length))
    return false;
  const Shape signal = DimsOf(c, 0).value_or(Shape(3, kUnknownDim));
  if (c.HasOperand(3)) {
    if (c.HasOperand(2) && !CheckShape(c, 2, {&length, 1})) return false;
  } else {
    length = c.HasOperand(2) ? VectorLength(c, 2) : signal[1];
  }
  int64_t frames = kUnknownDim;
  if (IsStaticDim(length) && IsStaticDim(signal[1])) {
    if (length < 1 || length > signal[1])
      return c.Fail(fmt::format("frames of {} do not fit {} elements", length, signal[1]));
    if (IsStaticDim(step)) frames = (signal[1] - length) / step + 1;
  }
  const int64_t numbers = c.attrs_of<STFT>().onesided != 0 ? OneSided(length)
                          : IsStaticDim(length)            ? length
                                                           : kUnknownDim;
  return SetTensor(c, 0, dtype, Shape{signal[0], frames, numbers, 2});
}

bool MelWeightMatrix::Infer(InferContext& c) {
  int64_t bins, length, rate;
  DataType dtype;
  if (!CheckTensors(c) || !ScalarOperand(c, 0, 1, &bins) || !ScalarOperand(c, 1, 1, &length) ||
      !ScalarOperand(c, 2, 1, &rate) || !SameDtype(c, {3, 4}, &dtype) || !CheckFloat(c, 3) ||
      !CheckScalar(c, 3) || !CheckScalar(c, 4))
    return false;
  const DataType result = c.attrs_of<MelWeightMatrix>().output_datatype;
  if (!IsFloat(result) && !IsInteger(result)) return c.Fail("output_datatype is no number");
  return SetTensor(c, 0, result, Shape{OneSided(length), bins});
}

bool WindowOp::Infer(InferContext& c) {
  int64_t size;
  if (!CheckTensors(c) || !ScalarOperand(c, 0, 0, &size)) return false;
  const DataType result = c.attrs_of<HannWindow>().output_datatype;  // as of all windows
  if (!IsFloat(result) && !IsInteger(result)) return c.Fail("output_datatype is no number");
  return SetTensor(c, 0, result, Shape{size});
}

// --- reference bodies -------------------------------------------------------------

namespace {

// a + b cos(t) + c cos(2 t), where t makes a full turn in `size` steps, or in one less.
std::vector<Value> Cosines(Builder& b, Value size, const WindowOp::Attrs<Plain>& attrs,
                           std::array<double, 3> factors) {
  const auto number = [&](double value) { return b.ConstantScalar(DataType::kF64, value); };
  const Value count = CastTo(b, size, DataType::kI64);
  Value n = CastTo(b, AsScalar(b, count), DataType::kF64);
  if (attrs.periodic == 0) n = b.Make<Sub>({n, number(1)});
  const Value steps = b.Make<Mul>({CastTo(b, CountTo(b, count), DataType::kF64), number(2 * M_PI)});
  // A window of one element is the middle of one.
  const Value none = b.Make<Equal>({n, number(0)});
  const Value turn = b.Make<Where>({none, number(M_PI), b.Make<Div>({steps, n})});
  Value y = number(factors[0]);
  for (int i : {1, 2}) {
    if (factors[i] == 0) continue;
    const Value wave = b.Make<Cos>({Scaled(b, turn, i)});
    y = b.Make<Add>({Scaled(b, wave, factors[i]), y});
  }
  return {CastTo(b, y, attrs.output_datatype)};
}

}  // namespace

std::vector<Value> HannWindow::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>& attrs) {
  return Cosines(b, operands[0], attrs, {0.5, -0.5, 0});
}

std::vector<Value> HammingWindow::Decompose(Builder& b, std::span<const Value> operands,
                                            const Attrs<Plain>& attrs) {
  return Cosines(b, operands[0], attrs, {25.0 / 46, -21.0 / 46, 0});
}

std::vector<Value> BlackmanWindow::Decompose(Builder& b, std::span<const Value> operands,
                                             const Attrs<Plain>& attrs) {
  return Cosines(b, operands[0], attrs, {0.42, -0.5, 0.08});
}

void LoadSignalOps(IrContext& context) {
  AddOps<DFT, STFT, MelWeightMatrix, HannWindow, HammingWindow, BlackmanWindow>(context);
}

}  // namespace weft::ir::ops
