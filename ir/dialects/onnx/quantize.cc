#include "ir/dialects/onnx/quantize.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/reduce.h"

namespace weft::ir::ops {
namespace {

bool IsOneOf(DataType dtype, std::initializer_list<DataType> allowed) {
  return std::find(allowed.begin(), allowed.end(), dtype) != allowed.end();
}

// f8e8m0 holds scales.
bool IsLowPrecisionNumber(DataType dtype) {
  return IsLowPrecision(dtype) && dtype != DataType::kF8E8M0;
}

bool CheckOneOf(InferContext& c, size_t i, std::initializer_list<DataType> allowed,
                bool low_precision = false) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || IsOneOf(dtype, allowed) ||
      (low_precision && IsLowPrecisionNumber(dtype)))
    return true;
  std::string names;
  for (DataType a : allowed) names += (names.empty() ? "" : " or ") + std::string(DataTypeName(a));
  if (low_precision) names += " or a number of 8 bits or less";
  return c.Fail(
      fmt::format("{} is {} but must be {}", OperandName(c, i), DataTypeName(dtype), names));
}

// Fails unless operand i may be a scalar or one element per entry of x's dimension `axis`. Of one element the
// axis says nothing, and one whose size is not known may be that.
bool CheckPerAxis(InferContext& c, size_t i, int64_t axis) {
  if (!CheckRank(c, i, 0, 1)) return false;
  const Dims x = DimsOf(c, 0), dims = DimsOf(c, i);
  if (!x || !dims || dims->empty() || dims->front() == 1) return true;
  const auto rank = static_cast<int64_t>(x->size());
  if (!IsStaticDim(dims->front()) && (axis < -rank || axis >= rank)) return true;
  if (!NormalizeAxis(c, &axis, x->size())) return false;
  if (MergeDim((*x)[axis], dims->front())) return true;
  return c.Fail(fmt::format("{} has {} entries but dimension {} of x is {}", OperandName(c, i),
                            dims->front(), axis, (*x)[axis]));
}

// Fails unless operand i may have the shape of x, with one element per block along the axis.
bool CheckPerBlock(InferContext& c, size_t i, int64_t axis, int64_t block) {
  Dims x = DimsOf(c, 0);
  if (!x) return true;
  if (!NormalizeAxis(c, &axis, x->size())) return false;
  int64_t& dim = (*x)[axis];
  if (IsStaticDim(dim)) dim = dim / block + (dim % block != 0);
  return CheckShape(c, i, *x);
}

// The number of entries, of a scalar 1.
int64_t CountOf(const Dims& dims) {
  if (!dims) return kUnknownDim;
  return dims->empty() ? 1 : dims->front();
}

bool CheckScaleAndZeroPoint(InferContext& c, int64_t axis, int64_t block) {
  if (block < 0) return c.Fail(fmt::format("block_size is {}", block));
  for (size_t i : {1, 2})
    if (!(block > 0 ? CheckPerBlock(c, i, axis, block) : CheckPerAxis(c, i, axis))) return false;
  if (block > 0 || !c.HasOperand(2)) return true;
  const int64_t scales = CountOf(DimsOf(c, 1)), zero_points = CountOf(DimsOf(c, 2));
  if (!IsStaticDim(scales) || !IsStaticDim(zero_points) || scales == zero_points) return true;
  return c.Fail(fmt::format("{} has {} entries but {} has {}", OperandName(c, 1), scales,
                            OperandName(c, 2), zero_points));
}

constexpr std::initializer_list<DataType> kReals = {DataType::kF32, DataType::kF16,
                                                    DataType::kBF16};
constexpr std::initializer_list<DataType> kStored = {DataType::kU8, DataType::kI8, DataType::kU16,
                                                     DataType::kI16};

// An attribute that is the number of a type, one of `allowed`, or 0 for none.
bool CheckTypeNumber(InferContext& c, std::string_view name, int64_t number,
                     std::initializer_list<DataType> allowed, bool low_precision = false) {
  if (number == 0) return true;
  if (number > 0 && number <= static_cast<int64_t>(DataType::kI2)) {
    const auto dtype = static_cast<DataType>(number);
    if (IsOneOf(dtype, allowed) || (low_precision && IsLowPrecisionNumber(dtype))) return true;
  }
  return c.Fail(fmt::format("{} is {}, no type that it may be", name, number));
}

}  // namespace

bool QuantizeLinear::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<QuantizeLinear>();
  if (!CheckTensors(c) ||
      !CheckOneOf(c, 0, {DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kI32}) ||
      !CheckOneOf(c, 1, {DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kI32}) ||
      !CheckOneOf(c, 2, kStored, true) ||
      !CheckTypeNumber(c, "output_dtype", attrs.output_dtype, kStored, true) ||
      !CheckTypeNumber(c, "precision", attrs.precision, kReals) ||
      !CheckScaleAndZeroPoint(c, attrs.axis, attrs.block_size))
    return false;
  const auto wanted = static_cast<DataType>(attrs.output_dtype);
  DataType dtype = attrs.output_dtype == 0 ? DataType::kU8 : wanted;
  if (c.HasOperand(2)) {
    if (attrs.output_dtype != 0 && !CheckDtype(c, 2, wanted)) return false;
    dtype = DtypeOf(c, 2);
  }
  return SetTensor(c, 0, dtype, DimsOf(c, 0));
}

bool DequantizeLinear::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<DequantizeLinear>();
  DataType stored;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &stored) ||
      !CheckOneOf(c, 0,
                  {DataType::kI8, DataType::kU8, DataType::kI16, DataType::kU16, DataType::kI32},
                  true) ||
      !CheckOneOf(c, 1, {DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kF8E8M0}) ||
      !CheckTypeNumber(c, "output_dtype", attrs.output_dtype, kReals) ||
      !CheckScaleAndZeroPoint(c, attrs.axis, attrs.block_size))
    return false;
  const DataType dtype =
      attrs.output_dtype != 0 ? static_cast<DataType>(attrs.output_dtype) : DtypeOf(c, 1);
  if (dtype == DataType::kF8E8M0)
    return c.Fail("x_scale is f8e8m0, so output_dtype must say the type of the result");
  return SetTensor(c, 0, dtype, DimsOf(c, 0));
}

bool DynamicQuantizeLinear::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 0, DataType::kF32)) return false;
  return SetTensor(c, 0, DataType::kU8, DimsOf(c, 0)) &&
         SetTensor(c, 1, DataType::kF32, ir::Shape()) &&
         SetTensor(c, 2, DataType::kU8, ir::Shape());
}

// Of numbers that are all 0 the scale is 1 / 255.
std::vector<Value> DynamicQuantizeLinear::Decompose(Builder& b, std::span<const Value> operands,
                                                    const Attrs<Plain>&) {
  const Value x = operands[0];
  const auto number = [&](double value) { return b.ConstantScalar(DataType::kF32, value); };
  const Value zero = number(0), steps = number(255);
  const Value high = b.Make<ReduceMax>({x}, {.keepdims = int64_t{0}});
  const Value low = b.Make<ReduceMin>({x}, {.keepdims = int64_t{0}});
  const Value least = b.Make<Min>({low, zero});
  const Value range = b.Make<Sub>({b.Make<Max>({high, zero}), least});
  const Value some = b.Make<Where>({b.Make<Equal>({range, zero}), number(1), range});
  const Value scale = b.Make<Div>({some, steps});
  const Value at_zero = b.Make<Div>({b.Make<Neg>({least}), scale});
  const Value rounded = b.Make<Round>({b.Make<Min>({b.Make<Max>({at_zero, zero}), steps})});
  const Value zero_point = CastTo(b, rounded, DataType::kU8);
  return {b.Make<QuantizeLinear>({x, scale, zero_point}), scale, zero_point};
}

void LoadQuantizeOps(IrContext& context) {
  AddOps<QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear>(context);
}

}  // namespace weft::ir::ops
