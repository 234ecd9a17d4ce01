#include "ir/dialects/litert.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/agreed.h"

namespace weft::ir {
namespace litert {
namespace {

// The integers of a quantised element type; nothing for other types.
struct Range {
  int64_t lowest, highest;
};
std::optional<Range> RangeOf(DataType dtype) {
  switch (dtype) {
    case DataType::kI8:
      return Range{INT8_MIN, INT8_MAX};
    case DataType::kU8:
      return Range{0, UINT8_MAX};
    case DataType::kI16:
      return Range{INT16_MIN, INT16_MAX};
    default:
      return std::nullopt;
  }
}

// Fails unless `what`, of element type dtype, has a scale where it is quantised and only there.
bool CheckQuantisation(InferContext& c, std::string_view what, DataType dtype,
                       const std::optional<float>& scale, int64_t zero_point) {
  if (dtype == DataType::kNull) return true;
  const auto range = RangeOf(dtype);
  if (!scale) {
    if (IsFloat(dtype)) return true;
    return c.Fail(fmt::format("{} is {} but has no scale", what, DataTypeName(dtype)));
  }
  if (!range) return c.Fail(fmt::format("{} has a scale but is {}", what, DataTypeName(dtype)));
  if (!std::isfinite(*scale) || *scale <= 0)
    return c.Fail(fmt::format("the scale of {} is {}", what, *scale));
  if (zero_point < range->lowest || zero_point > range->highest)
    return c.Fail(
        fmt::format("the zero point of {}, {}, is no {}", what, zero_point, DataTypeName(dtype)));
  return true;
}

Value Dequantised(Builder& b, Value q, float scale, int64_t zero_point) {
  const Value x = b.Make<ops::Cast>({q}, {.to = DataType::kF32});
  const Value zero = b.ConstantScalar(DataType::kF32, static_cast<double>(zero_point));
  const Value factor = b.ConstantScalar(DataType::kF32, scale);
  return b.Make<ops::Mul>({b.Make<ops::Sub>({x, zero}), factor});
}

// Casts cut fractions off, which rounds halves up where no number is negative: so counted from the
// lowest integer.
Value Quantised(Builder& b, Value x, DataType dtype, float scale, int64_t zero_point) {
  const auto f32 = [&](double value) { return b.ConstantScalar(DataType::kF32, value); };
  const Range range = *RangeOf(dtype);
  const auto lowest = static_cast<double>(range.lowest);
  const Value steps = b.Make<ops::Div>({x, f32(scale)});
  const Value above =
      b.Make<ops::Add>({steps, f32(static_cast<double>(zero_point - range.lowest))});
  const Value in_range =
      b.Make<ops::Clip>({above, f32(0), f32(static_cast<double>(range.highest - range.lowest))});
  const Value rounded =
      b.Make<ops::Cast>({b.Make<ops::Add>({in_range, f32(0.5)})}, {.to = DataType::kI32});
  const Value q = b.Make<ops::Add>({rounded, b.ConstantScalar(DataType::kI32, lowest)});
  return b.Make<ops::Cast>({q}, {.to = dtype});
}

Value Adjoint(Builder& b, Value x) {
  Ints perm(x.type().rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.Make<ops::Transpose>({x}, {.perm = perm});
}

}  // namespace

bool MatMul::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MatMul>();
  const DataType x_dtype = DtypeOf(c, 0), y_dtype = DtypeOf(c, 1);
  if (!CheckTensors(c) || !CheckRank(c, 0, 2, SIZE_MAX) || !CheckRank(c, 1, 2, SIZE_MAX) ||
      !CheckQuantisation(c, "x", x_dtype, attrs.x_scale, attrs.x_zero_point) ||
      !CheckQuantisation(c, "y", y_dtype, attrs.y_scale, attrs.y_zero_point) ||
      !CheckQuantisation(c, "the result", x_dtype, attrs.out_scale, attrs.out_zero_point))
    return false;
  DataType dtype = x_dtype;
  if (!attrs.x_scale && !SameDtype(c, {0, 1}, &dtype)) return false;
  if (attrs.x_scale.has_value() != attrs.y_scale.has_value())
    return c.Fail("one operand has a scale and the other has none");
  Dims x = DimsOf(c, 0), y = DimsOf(c, 1), dims;
  if (!x || !y) return SetTensor(c, 0, dtype, std::nullopt);
  if (attrs.adj_x) std::swap((*x)[x->size() - 1], (*x)[x->size() - 2]);
  if (attrs.adj_y) std::swap((*y)[y->size() - 1], (*y)[y->size() - 2]);
  return MatMulDims(c, *x, *y, &dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> MatMul::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>& attrs) {
  Value x = operands[0], y = operands[1];
  const DataType dtype = x.type().dtype();
  if (!x.type().HasRank() || !y.type().HasRank()) return {};
  if (attrs.out_scale && !RangeOf(dtype)) return {};
  if (attrs.x_scale) x = Dequantised(b, x, *attrs.x_scale, attrs.x_zero_point);
  if (attrs.y_scale) y = Dequantised(b, y, *attrs.y_scale, attrs.y_zero_point);
  const Value product =
      b.Make<ops::MatMul>({attrs.adj_x ? Adjoint(b, x) : x, attrs.adj_y ? Adjoint(b, y) : y});
  if (!attrs.out_scale) return {product};
  return {Quantised(b, product, dtype, *attrs.out_scale, attrs.out_zero_point)};
}

bool Convert::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Convert>();
  if (!CheckTensors(c) ||
      !CheckQuantisation(c, "x", DtypeOf(c, 0), attrs.from_scale, attrs.from_zero_point) ||
      !CheckQuantisation(c, "the result", attrs.to, attrs.to_scale, attrs.to_zero_point) ||
      (!attrs.from_scale && !CheckDtype(c, 0, DataType::kF32)))
    return false;
  if (attrs.to_scale ? !RangeOf(attrs.to) : attrs.to != DataType::kF32)
    return c.Fail(attrs.to_scale ? "the result has a scale but no element type"
                                 : "the result has no scale and is not f32");
  return SetTensor(c, 0, attrs.to, DimsOf(c, 0));
}

std::vector<Value> Convert::Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs) {
  Value x = operands[0];
  // A quantised type is known by its scale, f32 by that it has none.
  if (x.type().dtype() == DataType::kNull || (attrs.to_scale && !RangeOf(attrs.to))) return {};
  if (attrs.from_scale) x = Dequantised(b, x, *attrs.from_scale, attrs.from_zero_point);
  if (!attrs.from_scale && !attrs.to_scale) return {b.Make<ops::Identity>({x})};
  if (!attrs.to_scale) return {x};
  return {Quantised(b, x, attrs.to, *attrs.to_scale, attrs.to_zero_point)};
}

std::vector<Value> NotEqual::Decompose(Builder& b, std::span<const Value> operands,
                                       const Attrs<Plain>&) {
  return {b.Make<ops::Not>({b.Make<ops::Equal>({operands[0], operands[1]})})};
}

bool Select::Infer(InferContext& c) { return ops::Where::Infer(c); }

std::vector<Value> Select::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>&) {
  return {b.Make<ops::Where>(operands)};
}

bool StridedSlice::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<StridedSlice>();
  const size_t rank = attrs.begin.size();
  if (attrs.end.size() != rank || attrs.strides.size() != rank)
    return c.Fail("begin, end and strides differ in length");
  if (std::any_of(attrs.strides.begin(), attrs.strides.end(), [](int64_t s) { return s <= 0; }))
    return c.Fail(fmt::format("strides {} are not positive", IntsText(attrs.strides)));
  if (!CheckTensors(c) || !CheckRank(c, 0, rank)) return false;
  Shape dims = DimsOf(c, 0).value_or(Shape(rank, kUnknownDim));
  for (size_t i = 0; i < rank; ++i) {
    if (!IsStaticDim(dims[i])) {
      dims[i] = kUnknownDim;
      continue;
    }
    const auto clamped = [size = dims[i]](int64_t at) {
      return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
    };
    const int64_t count = clamped(attrs.end[i]) - clamped(attrs.begin[i]);
    dims[i] = count <= 0 ? 0 : (count - 1) / attrs.strides[i] + 1;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

std::vector<Value> StridedSlice::Decompose(Builder& b, std::span<const Value> operands,
                                           const Attrs<Plain>& attrs) {
  Ints axes(attrs.begin.size());
  std::iota(axes.begin(), axes.end(), 0);
  return {b.Make<ops::Slice>({operands[0], b.ConstantInts(attrs.begin), b.ConstantInts(attrs.end),
                              b.ConstantInts(axes), b.ConstantInts(attrs.strides)})};
}

bool Pack::Infer(InferContext& c) {
  if (c.num_operands() == 0) return c.Fail("has no operands");
  std::vector<size_t> all(c.num_operands());
  std::iota(all.begin(), all.end(), 0);
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, all, &dtype)) return false;
  Dims dims;
  for (const size_t i : all) {
    if (!dims) dims = DimsOf(c, i);
    if (dims && !AgreeOnShape(c, i, *dims)) return false;
  }
  int64_t axis = c.attrs_of<Pack>().axis;
  if (!dims) return SetTensor(c, 0, dtype, std::nullopt);
  if (!NormalizeAxis(c, &axis, dims->size() + 1)) return false;
  dims->insert(dims->begin() + axis, static_cast<int64_t>(all.size()));
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Pack::Decompose(Builder& b, std::span<const Value> operands,
                                   const Attrs<Plain>& attrs) {
  const Value axes = b.ConstantInts({attrs.axis});
  std::vector<Value> parts;
  for (const Value x : operands) parts.push_back(b.Make<ops::Unsqueeze>({x, axes}));
  return {b.Make<ops::Concat>(parts, {.axis = attrs.axis})};
}

bool Unpack::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  Dims dims = DimsOf(c, 0);
  if (dims) {
    int64_t axis = c.attrs_of<Unpack>().axis;
    if (!NormalizeAxis(c, &axis, dims->size())) return false;
    const auto count = static_cast<int64_t>(c.num_results());
    if (!MergeDim((*dims)[axis], count))
      return c.Fail(
          fmt::format("has {} results but dimension {} of x is {}", count, axis, (*dims)[axis]));
    dims->erase(dims->begin() + axis);
  }
  for (size_t i = 0; i < c.num_results(); ++i)
    if (!SetTensor(c, i, DtypeOf(c, 0), dims)) return false;
  return true;
}

std::vector<Value> Unpack::Decompose(Builder& b, std::span<const Value> operands,
                                     const Attrs<Plain>& attrs) {
  const Type type = operands[0].type();
  if (!type.HasRank() || !IsStaticDim(type.dim(attrs.axis))) return {};
  const Operation split = b.Create<ops::Split>({operands[0]}, {.axis = attrs.axis},
                                               static_cast<int>(type.dim(attrs.axis)));
  const Value axes = b.ConstantInts({attrs.axis});
  std::vector<Value> entries;
  for (const Value part : split.results()) entries.push_back(b.Make<ops::Squeeze>({part, axes}));
  return entries;
}

}  // namespace litert

void LoadLitertDialect(IrContext& context) {
  LoadOnnxDialect(context);
  AddOps<litert::MatMul, litert::Convert, litert::NotEqual, litert::Select, litert::StridedSlice,
         litert::Pack, litert::Unpack>(context);
}

}  // namespace weft::ir
