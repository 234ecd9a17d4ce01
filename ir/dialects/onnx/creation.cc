#include "ir/dialects/onnx/creation.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/movement.h"

namespace weft::ir::ops {

std::optional<int64_t> RangeSize(int64_t start, int64_t limit, int64_t delta) {
  if (delta == 0) return std::nullopt;
  if (delta > 0 ? start >= limit : start <= limit) return 0;
  // The distance and the step fit u64, their quotient may not fit i64.
  const auto distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
  const uint64_t step =
      delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
  const uint64_t size = (distance - 1) / step + 1;
  if (size > uint64_t{INT64_MAX}) return std::nullopt;
  return static_cast<int64_t>(size);
}

std::optional<int64_t> RangeSize(double start, double limit, double delta) {
  if (delta == 0) return std::nullopt;
  const double size = std::ceil((limit - start) / delta);
  if (!(size < 0x1p62)) return std::nullopt;  // NaN, too
  return size <= 0 ? 0 : static_cast<int64_t>(size);
}

namespace {

// The size of a range whose bounds follow from sizes.
int64_t SizeOfComputedRange(const InferContext& c) {
  std::array<DimExpr, 3> bounds;  // start, limit, delta
  for (size_t i = 0; i < 3; ++i)
    if (const auto value = ShapeOperand(c, i); value && value->size() == 1)
      bounds[i] = value->front().expr();
  const auto delta = bounds[2].number();
  if (!delta || *delta == 0 || *delta == INT64_MIN) return kUnknownDim;
  const DimExpr distance = *delta > 0 ? bounds[1] - bounds[0] : bounds[0] - bounds[1];
  return ir::Max(CeilDiv(distance, std::abs(*delta)), 0).ToDim();
}

}  // namespace

bool Range::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype)) return false;
  for (size_t i = 0; i < 3; ++i)
    if (!CheckNumber(c, i) || !CheckScalar(c, i)) return false;
  std::optional<int64_t> size;
  bool known = false;
  const auto find_size = [&](const auto& start, const auto& limit, const auto& delta) {
    known = start && limit && delta && !start->empty() && !limit->empty() && !delta->empty();
    if (known) size = RangeSize(start->front(), limit->front(), delta->front());
  };
  if (IsInteger(dtype)) {
    find_size(ConstantInts(c.operand(0)), ConstantInts(c.operand(1)), ConstantInts(c.operand(2)));
  } else {
    find_size(ConstantDoubles(c.operand(0), 1), ConstantDoubles(c.operand(1), 1),
              ConstantDoubles(c.operand(2), 1));
  }
  if (known && !size) return c.Fail("start, limit and delta make no range");
  return SetTensor(c, 0, dtype, ir::Shape{known ? *size : SizeOfComputedRange(c)});
}

bool EyeLike::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckRank(c, 0, 2)) return false;
  return SetTensor(c, 0, c.attrs_of<EyeLike>().dtype.value_or(DtypeOf(c, 0)), DimsOf(c, 0));
}

bool Size::Infer(InferContext& c) {
  return CheckTensors(c) && SetTensor(c, 0, DataType::kI64, ir::Shape{});
}

// --- random numbers ----------------------------------------------------------------------

namespace {

bool SetFloats(InferContext& c, DataType dtype, const Dims& dims) {
  if (dtype != DataType::kNull && !IsFloat(dtype))
    return c.Fail(fmt::format("dtype is {}, no float", DataTypeName(dtype)));
  return SetTensor(c, 0, dtype, dims);
}

bool SetRandom(InferContext& c, DataType dtype, const Ints& shape) {
  for (const int64_t size : shape)
    if (size < 0) return c.Fail(fmt::format("shape has the entry {}", size));
  return SetFloats(c, dtype, shape);
}

bool SetRandomLike(InferContext& c, std::optional<DataType> dtype) {
  return CheckTensors(c) && SetFloats(c, dtype.value_or(DtypeOf(c, 0)), DimsOf(c, 0));
}

}  // namespace

bool RandomNormal::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<RandomNormal>();
  return SetRandom(c, attrs.dtype, attrs.shape);
}

bool RandomNormalLike::Infer(InferContext& c) {
  return SetRandomLike(c, c.attrs_of<RandomNormalLike>().dtype);
}

bool RandomUniform::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<RandomUniform>();
  return SetRandom(c, attrs.dtype, attrs.shape);
}

bool RandomUniformLike::Infer(InferContext& c) {
  return SetRandomLike(c, c.attrs_of<RandomUniformLike>().dtype);
}

bool Bernoulli::Infer(InferContext& c) {
  return CheckTensors(c) && CheckFloat(c, 0) &&
         SetTensor(c, 0, c.attrs_of<Bernoulli>().dtype.value_or(DtypeOf(c, 0)), DimsOf(c, 0));
}

bool Multinomial::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Multinomial>();
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 2)) return false;
  if (attrs.sample_size < 1) return c.Fail(fmt::format("sample_size is {}", attrs.sample_size));
  if (attrs.dtype != DataType::kI32 && attrs.dtype != DataType::kI64)
    return c.Fail(fmt::format("dtype is {} but must be i32 or i64", DataTypeName(attrs.dtype)));
  const Dims x = DimsOf(c, 0);
  return SetTensor(c, 0, attrs.dtype, ir::Shape{x ? x->front() : kUnknownDim, attrs.sample_size});
}

// --- reference bodies -------------------------------------------------------------

std::vector<Value> Range::Decompose(Builder& b, std::span<const Value> operands,
                                    const Attrs<Plain>&) {
  const DataType dtype = ElementTypeOf(operands[0]);
  if (dtype == DataType::kNull) return {};
  const DataType wide = IsFloat(dtype) ? DataType::kF64 : DataType::kI64;
  const auto scalar = [&](size_t i) { return CastTo(b, AsScalar(b, operands[i]), wide); };
  const Value start = scalar(0), delta = scalar(2);
  const Value extent = CastTo(b, b.Make<Sub>({scalar(1), start}), DataType::kF64);
  const Value steps = b.Make<Ceil>({b.Make<Div>({extent, CastTo(b, delta, DataType::kF64)})});
  Value size = CastTo(b, b.Make<Max>({steps, ScalarLike(b, steps, 0)}), DataType::kI64);
  size = UnsqueezeAt(b, size, {0});
  const Value axis = b.ConstantScalar(DataType::kI64, 0);
  const Value ones = b.Make<Expand>({b.ConstantInts({1}), size});
  const Value count = b.Make<CumSum>({ones, axis}, {.exclusive = 1});
  const Value offsets = b.Make<Mul>({CastTo(b, count, wide), delta});
  return {CastTo(b, b.Make<Add>({offsets, start}), dtype)};
}

// x is the probability that a number from 0 to 1 is less.
std::vector<Value> Bernoulli::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  const DataType dtype = attrs.dtype.value_or(ElementTypeOf(operands[0]));
  if (dtype == DataType::kNull) return {};
  RandomUniformLike::Attrs<BuilderSlot> uniform{.dtype = DataType::kF64};
  if (attrs.seed) uniform.seed = *attrs.seed;
  const Value random = b.Make<RandomUniformLike>({operands[0]}, uniform);
  return {CastTo(b, b.Make<Less>({random, CastTo(b, operands[0], DataType::kF64)}), dtype)};
}

void LoadCreationOps(IrContext& context) {
  AddOps<Range, EyeLike, Size, RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike,
         Bernoulli, Multinomial>(context);
}

}  // namespace weft::ir::ops
