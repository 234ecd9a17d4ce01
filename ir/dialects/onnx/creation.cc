#include "ir/dialects/onnx/creation.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstdlib>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/infer/shape_value.h"

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
  return Max(CeilDiv(distance, std::abs(*delta)), 0).ToDim();
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

void LoadCreationOps(IrContext& context) {
  AddOps<Range, EyeLike, Size, RandomNormal, RandomNormalLike, RandomUniform, RandomUniformLike,
         Bernoulli, Multinomial>(context);
}

}  // namespace weft::ir::ops
