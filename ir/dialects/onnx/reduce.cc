#include "ir/dialects/onnx/reduce.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {
bool ReduceOp::Infer(InferContext& c) {
  const bool takes_bool = c.opcode() == kOpcodeOf<ReduceMax> || c.opcode() == kOpcodeOf<ReduceMin>;
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 1, 0, 1)) return false;
  if (!(takes_bool && DtypeOf(c, 0) == DataType::kBool) && !CheckNumber(c, 0)) return false;
  const auto attrs = c.attrs_of<ReduceMean>();  // all have the same
  if (attrs.axes && c.HasOperand(1)) return c.Fail("axes are given as operand and as attribute");
  const std::optional<Ints> axes = c.HasOperand(1) ? KnownInts(c, 1) : attrs.axes.value_or(Ints());
  if (axes && axes->empty() && attrs.noop_with_empty_axes) return SetSameAs(c, 0, 0);
  Dims dims = DimsOf(c, 0);
  // Axes of unknown number may be none, which leaves or takes every dimension.
  return ReduceDims(c, axes, attrs.keepdims != 0, &dims) && SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool TopK::Infer(InferContext& c) { return InferTopK(c, c.attrs_of<TopK>().axis, DataType::kI64); }

bool InferTopK(InferContext& c, int64_t axis, DataType index) {
  if (!CheckTensors(c) || !CheckNumber(c, 0) || !CheckDtype(c, 1, index) || !CheckScalar(c, 1))
    return false;
  Dims dims = DimsOf(c, 0);
  if (dims) {
    if (!NormalizeAxis(c, &axis, dims->size())) return false;
    int64_t& size = (*dims)[axis];
    const auto value = ShapeOperand(c, 1);
    const ShapeEntry k = value && value->size() == 1 ? value->front() : ShapeEntry();
    if (k.is_number && (k.value < 0 || (IsStaticDim(size) && k.value > size)))
      return c.Fail(fmt::format("k is {} but x is {}", k.value, ToString(*dims)));
    size = k.value;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetTensor(c, 1, index, dims);
}

// --- reference bodies -------------------------------------------------------------

namespace {

// The sum of x over the axes that the op has.
Value SumOver(Builder& b, Value x, std::span<const Value> operands,
              const ReduceOp::Attrs<Plain>& attrs) {
  ReduceOp::Attrs<BuilderSlot> same{.keepdims = attrs.keepdims,
                                    .noop_with_empty_axes = attrs.noop_with_empty_axes};
  if (attrs.axes) same.axes = *attrs.axes;
  std::vector<Value> inputs(operands.begin(), operands.end());
  inputs[0] = x;
  return b.Make<ReduceSum>(inputs, same);
}

// f(x) computed in f64.
template <class F>
Value InDoubles(Builder& b, Value x, DataType dtype, const F& f) {
  return CastTo(b, f(CastTo(b, x, DataType::kF64)), dtype);
}

}  // namespace

std::vector<Value> ReduceL1::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>& attrs) {
  return {SumOver(b, b.Make<Abs>({operands[0]}), operands, attrs)};
}

std::vector<Value> ReduceSumSquare::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  return {SumOver(b, b.Make<Mul>({operands[0], operands[0]}), operands, attrs)};
}

std::vector<Value> ReduceL2::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>& attrs) {
  const Value squares = SumOver(b, b.Make<Mul>({operands[0], operands[0]}), operands, attrs);
  const DataType dtype = ElementTypeOf(squares);
  if (IsFloat(dtype)) return {b.Make<Sqrt>({squares})};
  if (dtype == DataType::kNull) return {};
  return {InDoubles(b, squares, dtype, [&](Value x) { return b.Make<Sqrt>({x}); })};
}

std::vector<Value> ReduceLogSum::Decompose(Builder& b, std::span<const Value> operands,
                                           const Attrs<Plain>& attrs) {
  const DataType dtype = ElementTypeOf(operands[0]);
  if (dtype == DataType::kNull) return {};
  return {InDoubles(b, operands[0], dtype,
                    [&](Value x) { return b.Make<Log>({SumOver(b, x, operands, attrs)}); })};
}

std::vector<Value> ReduceLogSumExp::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  const DataType dtype = ElementTypeOf(operands[0]);
  if (dtype == DataType::kNull) return {};
  return {InDoubles(b, operands[0], dtype, [&](Value x) {
    return b.Make<Log>({SumOver(b, b.Make<Exp>({x}), operands, attrs)});
  })};
}

void LoadReduceOps(IrContext& context) {
  AddOps<ReduceMean, ReduceMax, ReduceMin, ReduceSum, ReduceProd, ReduceL1, ReduceL2,
         ReduceSumSquare, ReduceLogSum, ReduceLogSumExp, TopK>(context);
}

}  // namespace weft::ir::ops
