#include "ir/dialects/microsoft/quantized.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/infer/quantized.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/pool.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/dialects/onnx/quantized_math.h"

namespace weft::ir::microsoft {
namespace {

Value Dequantized(Builder& b, std::span<const Value> operands, size_t i) {
  return b.Make<ops::DequantizeLinear>({operands[i], operands[i + 1], operands[i + 2]});
}

// y by the scale operands[i] and the zero point behind it, which has the type of operands[0].
Value Quantized(Builder& b, Value y, std::span<const Value> operands, size_t i) {
  const Value zero = ops::OperandOrNull(operands, i + 1);
  return b.Make<ops::QuantizeLinear>(
      {y, operands[i], zero ? zero : ops::ScalarLike(b, operands[0], 0)});
}

template <class Op>
std::vector<Value> DecomposeBinary(Builder& b, std::span<const Value> operands) {
  if (ops::ElementTypeOf(operands[0]) == DataType::kNull) return {};
  const Value y = b.Make<Op>({Dequantized(b, operands, 0), Dequantized(b, operands, 3)});
  return {Quantized(b, y, operands, 6)};
}

// Of a scale and a zero point.
bool CheckPerTensor(InferContext& c, size_t scale, size_t zero_point) {
  if (!CheckDtype(c, scale, DataType::kF32)) return false;
  for (const size_t i : {scale, zero_point})
    if (!CheckRank(c, i, 0, 1) || !CheckScalar(c, i)) return false;
  return true;
}

// Which operands of a product have b, and what comes with it.
struct WeightOperands {
  size_t b, scale, zero_point, bias;
};

// The result is f32.
bool InferProduct(InferContext& c, const WeightOperands& at) {
  DataType dtype;
  Dims dims;
  if (!CheckByte(c, at.b) || !SameDtype(c, {at.b, at.zero_point}, &dtype) ||
      !CheckRank(c, 0, 1, SIZE_MAX) || !CheckRank(c, at.b, 2, SIZE_MAX) ||
      !CheckDtype(c, at.scale, DataType::kF32) || !CheckDtype(c, at.bias, DataType::kF32))
    return false;
  const Dims a = DimsOf(c, 0), b = DimsOf(c, at.b);
  if (a && b && !MatMulDims(c, *a, *b, &dims)) return false;
  int64_t columns[] = {b ? b->back() : kUnknownDim};
  if (!CheckScalarOr(c, at.scale, columns, "columns") ||
      !CheckScalarOr(c, at.zero_point, columns, "columns") || !AgreeOnShape(c, at.bias, columns))
    return false;
  if (dims) dims->back() = columns[0];
  return SetTensor(c, 0, DataType::kF32, dims);
}

std::vector<Value> DecomposeProduct(Builder& b, std::span<const Value> operands,
                                    const WeightOperands& at, Value a, Value a_scale,
                                    Value a_zero_point) {
  const Value sums = b.Make<ops::MatMulInteger>(
      {a, operands[at.b], a_zero_point, ops::OperandOrNull(operands, at.zero_point)});
  const Value unit = b.Make<ops::Mul>({a_scale, operands[at.scale]});
  const Value y = b.Make<ops::Mul>({ops::CastTo(b, sums, DataType::kF32), unit});
  const Value bias = ops::OperandOrNull(operands, at.bias);
  return {bias ? b.Make<ops::Add>({y, bias}) : y};
}

constexpr WeightOperands kOfMatMulIntegerToFloat = {1, 3, 5, 6};
constexpr WeightOperands kOfDynamicQuantizeMatMul = {1, 2, 3, 4};

}  // namespace

bool QLinearBinaryOp::Infer(InferContext& c) {
  DataType dtype;
  Dims dims;
  return CheckTensors(c) && SameDtype(c, {0, 2, 3, 5, 7}, &dtype) && CheckByte(c, 0) &&
         CheckPerTensor(c, 1, 2) && CheckPerTensor(c, 4, 5) && CheckPerTensor(c, 6, 7) &&
         Broadcast(c, {0, 3}, &dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> QLinearAdd::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>&) {
  return DecomposeBinary<ops::Add>(b, operands);
}
std::vector<Value> QLinearMul::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>&) {
  return DecomposeBinary<ops::Mul>(b, operands);
}

bool QGemm::Infer(InferContext& c) {
  constexpr size_t kA = 0, kAScale = 1, kAZero = 2, kB = 3, kBScale = 4, kBZero = 5, kC = 6,
                   kYScale = 7, kYZero = 8;
  const auto attrs = c.attrs_of<QGemm>();
  DataType a_dtype, b_dtype;
  if (!CheckTensors(c) || !CheckByte(c, kA) || !CheckByte(c, kB) ||
      !SameDtype(c, {kA, kAZero}, &a_dtype) || !SameDtype(c, {kB, kBZero}, &b_dtype) ||
      !CheckRank(c, kA, 2) || !CheckRank(c, kB, 2) || !CheckPerTensor(c, kAScale, kAZero) ||
      !CheckDtype(c, kBScale, DataType::kF32))
    return false;
  Shape a = DimsOf(c, kA).value_or(Shape{kUnknownDim, kUnknownDim});
  Shape b = DimsOf(c, kB).value_or(Shape{kUnknownDim, kUnknownDim});
  if (attrs.transA) std::swap(a[0], a[1]);
  if (attrs.transB) std::swap(b[0], b[1]);
  if (!MergeDim(a[1], b[0]))
    return c.Fail(fmt::format("a has {} columns but b has {} rows{}", a[1], b[0],
                              attrs.transA || attrs.transB ? " (transposed)" : ""));
  Shape dims = {a[0], b[1]};
  if (!CheckScalarOr(c, kBScale, &dims[1], "columns") ||
      !CheckScalarOr(c, kBZero, &dims[1], "columns") || !CheckDtype(c, kC, DataType::kI32) ||
      !AgreeOnBroadcast(c, kC, dims))
    return false;
  if (c.HasOperand(kYScale) != c.HasOperand(kYZero))
    return c.Fail("has only one of y_scale and y_zero_point");
  if (!c.HasOperand(kYScale)) return SetTensor(c, 0, DataType::kF32, dims);
  return CheckByte(c, kYZero) && CheckPerTensor(c, kYScale, kYZero) &&
         SetTensor(c, 0, DtypeOf(c, kYZero), dims);
}

std::vector<Value> QGemm::Decompose(Builder& b, std::span<const Value> operands,
                                    const Attrs<Plain>& attrs) {
  const auto transposed = [&](Value x, bool is_transposed) {
    return is_transposed ? b.Make<ops::Transpose>({x}, {.perm = {1, 0}}) : x;
  };
  Value sums = b.Make<ops::MatMulInteger>({transposed(operands[0], attrs.transA != 0),
                                           transposed(operands[3], attrs.transB != 0), operands[2],
                                           operands[5]});
  if (const Value c = ops::OperandOrNull(operands, 6)) sums = b.Make<ops::Add>({sums, c});
  const Value unit = ops::Scaled(b, b.Make<ops::Mul>({operands[1], operands[4]}), attrs.alpha);
  const Value y = b.Make<ops::Mul>({ops::CastTo(b, sums, DataType::kF32), unit});
  return {ops::OperandOrNull(operands, 7) ? Quantized(b, y, operands, 7) : y};
}

bool MatMulIntegerToFloat::Infer(InferContext& c) {
  DataType dtype;
  return CheckTensors(c) && CheckByte(c, 0) && SameDtype(c, {0, 4}, &dtype) &&
         CheckPerTensor(c, 2, 4) && InferProduct(c, kOfMatMulIntegerToFloat);
}

std::vector<Value> MatMulIntegerToFloat::Decompose(Builder& b, std::span<const Value> operands,
                                                   const Attrs<Plain>&) {
  return DecomposeProduct(b, operands, kOfMatMulIntegerToFloat, operands[0], operands[2],
                          ops::OperandOrNull(operands, 4));
}

bool DynamicQuantizeMatMul::Infer(InferContext& c) {
  return CheckTensors(c) && CheckDtype(c, 0, DataType::kF32) &&
         InferProduct(c, kOfDynamicQuantizeMatMul);
}

std::vector<Value> DynamicQuantizeMatMul::Decompose(Builder& b, std::span<const Value> operands,
                                                    const Attrs<Plain>&) {
  const Operation a = b.Create<ops::DynamicQuantizeLinear>({operands[0]});
  return DecomposeProduct(b, operands, kOfDynamicQuantizeMatMul, a.result(0), a.result(1),
                          a.result(2));
}

bool QLinearGlobalAveragePool::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2, 4}, &dtype) || !CheckByte(c, 0) ||
      !CheckRank(c, 0, 3, SIZE_MAX) || !CheckPerTensor(c, 1, 2) || !CheckPerTensor(c, 3, 4))
    return false;
  Dims dims = DimsOf(c, 0);
  if (dims) {
    const bool is_last = c.attrs_of<QLinearGlobalAveragePool>().channels_last != 0;
    const auto begin = dims->begin() + (is_last ? 1 : 2);
    std::fill(begin, dims->end() - (is_last ? 1 : 0), 1);
  }
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> QLinearGlobalAveragePool::Decompose(Builder& b, std::span<const Value> operands,
                                                       const Attrs<Plain>& attrs) {
  const ir::Type type = operands[0].type();
  if (type.dtype() == DataType::kNull || (attrs.channels_last && !type.HasRank())) return {};
  Value x = Dequantized(b, operands, 0);
  Ints to_last = {0};  // NCHW to NHWC
  if (attrs.channels_last) {
    Ints to_first = {0, static_cast<int64_t>(type.rank()) - 1};
    for (int64_t i = 1; i + 1 < static_cast<int64_t>(type.rank()); ++i) {
      to_first.push_back(i);
      to_last.push_back(i + 1);
    }
    to_last.push_back(1);
    x = b.Make<ops::Transpose>({x}, {.perm = to_first});
  }
  Value y = b.Make<ops::GlobalAveragePool>({x});
  if (attrs.channels_last) y = b.Make<ops::Transpose>({y}, {.perm = to_last});
  return {Quantized(b, y, operands, 3)};
}

bool QLinearConcat::Infer(InferContext& c) {
  constexpr size_t kFirst = 2;
  if (!CheckTensors(c)) return false;
  if (c.num_operands() <= kFirst || (c.num_operands() - kFirst) % 3 != 0)
    return c.Fail("wants the integers, the scale and the zero point of each input");
  std::vector<size_t> integers = {1};
  std::vector<ir::Type> inputs;
  for (size_t i = kFirst; i < c.num_operands(); i += 3) {
    for (size_t k = i; k < i + 3; ++k)
      if (!c.HasOperand(k)) return c.Fail(fmt::format("operand {} is not given", k));
    if (!CheckPerTensor(c, i + 1, i + 2)) return false;
    integers.insert(integers.end(), {i, i + 2});
    inputs.push_back(c.operand_type(i));
  }
  DataType dtype;
  return SameDtype(c, integers, &dtype) && CheckByte(c, 1) && CheckPerTensor(c, 0, 1) &&
         ConcatTensors(c, inputs, c.attrs_of<QLinearConcat>().axis);
}

std::vector<Value> QLinearConcat::Decompose(Builder& b, std::span<const Value> operands,
                                            const Attrs<Plain>& attrs) {
  std::vector<Value> numbers;
  for (size_t i = 2; i < operands.size(); i += 3) numbers.push_back(Dequantized(b, operands, i));
  return {Quantized(b, b.Make<ops::Concat>(numbers, {.axis = attrs.axis}), operands, 0)};
}

void LoadQuantizedOps(IrContext& context) {
  AddOps<QLinearAdd, QLinearMul, QGemm, MatMulIntegerToFloat, DynamicQuantizeMatMul,
         QLinearGlobalAveragePool, QLinearConcat>(context);
}

}  // namespace weft::ir::microsoft
