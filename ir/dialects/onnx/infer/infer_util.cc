#include "ir/dialects/onnx/infer/infer_util.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dim/dim_expr.h"

namespace weft::ir {
namespace {

// Whether min(b, 1) <= a <= b, as where the first a of b are sliced off. Then a == 1 or a == b where
// the two broadcast, and the result has b: an a of 0 where b is 1 cannot be.
bool IsCutOf(const DimExpr& a, const DimExpr& b) {
  return (b - a).IsAtLeast(0) && (a - Min(b, 1)).IsAtLeast(0);
}

// A result may have this many elements, so that its size in bytes fits int64 for every type.
constexpr int64_t kMaxElements = INT64_MAX / 16;

}  // namespace

bool CheckTensors(InferContext& c) {
  for (size_t i = 0; i < c.num_operands(); ++i) {
    const Type type = c.operand_type(i);
    if (!type || type.kind() == TypeKind::kTensor || type.kind() == TypeKind::kOpaque) continue;
    return c.Fail(fmt::format("{} is {}, not a tensor", OperandName(c, i), type.ToString()));
  }
  return true;
}

std::string OperandName(const InferContext& c, size_t i) {
  const OpDef* def = c.context()->FindOp(c.opcode());
  if (!def || def->info->operands.size() == 0) return fmt::format("operand {}", i);
  const auto& operands = def->info->operands;
  const size_t last = operands.size() - 1;
  if (operands[last].arity == Arity::kVariadic && i >= last)
    return fmt::format("{}[{}]", operands[last].name, i - last);
  if (i > last) return fmt::format("operand {}", i);
  return std::string(operands[i].name);
}

DataType DtypeOf(const InferContext& c, size_t i) {
  const Type type = c.operand_type(i);
  return type.IsTensor() ? type.dtype() : DataType::kNull;
}

Dims DimsOf(const InferContext& c, size_t i) {
  if (!c.Ranked(i)) return std::nullopt;
  return c.operand_type(i).shape();
}

bool SameDtype(InferContext& c, std::span<const size_t> operands, DataType* dtype) {
  *dtype = DataType::kNull;
  size_t first = 0;
  for (size_t i : operands) {
    const DataType other = DtypeOf(c, i);
    if (other == DataType::kNull) continue;
    if (*dtype == DataType::kNull) {
      *dtype = other;
      first = i;
    } else if (other != *dtype) {
      return c.Fail(fmt::format("{} is {} but {} is {}", OperandName(c, first),
                                DataTypeName(*dtype), OperandName(c, i), DataTypeName(other)));
    }
  }
  return true;
}

bool CheckDtype(InferContext& c, size_t i, DataType expected) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || dtype == expected) return true;
  return c.Fail(fmt::format("{} is {} but must be {}", OperandName(c, i), DataTypeName(dtype),
                            DataTypeName(expected)));
}

bool CheckIndex(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || dtype == DataType::kI32 || dtype == DataType::kI64) return true;
  return c.Fail(
      fmt::format("{} is {} but must be i32 or i64", OperandName(c, i), DataTypeName(dtype)));
}

bool CheckNumber(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || IsFloat(dtype) || IsInteger(dtype)) return true;
  return c.Fail(
      fmt::format("{} is {} but must be a number", OperandName(c, i), DataTypeName(dtype)));
}

bool CheckFloat(InferContext& c, size_t i) {
  const DataType dtype = DtypeOf(c, i);
  if (dtype == DataType::kNull || IsFloat(dtype)) return true;
  return c.Fail(
      fmt::format("{} is {} but must be a float", OperandName(c, i), DataTypeName(dtype)));
}

bool CheckRank(InferContext& c, size_t i, size_t min, size_t max) {
  if (!c.Ranked(i)) return true;
  const size_t rank = c.operand_type(i).rank();
  if (rank >= min && rank <= max) return true;
  const std::string expected = min == max        ? fmt::format("{}", min)
                               : max == SIZE_MAX ? fmt::format("{} or more", min)
                                                 : fmt::format("{} to {}", min, max);
  return c.Fail(fmt::format("{} has rank {} but must have {}", OperandName(c, i), rank, expected));
}

bool CheckVector(InferContext& c, size_t i, int64_t size, std::string_view what) {
  if (!CheckRank(c, i, 1)) return false;
  const int64_t actual = VectorLength(c, i);
  if (!IsStaticDim(actual) || !IsStaticDim(size) || actual == size) return true;
  return c.Fail(
      fmt::format("{} has {} entries but {} are {}", OperandName(c, i), actual, what, size));
}

bool CheckScalar(InferContext& c, size_t i) {
  const Dims dims = DimsOf(c, i);
  if (!dims) return true;
  for (int64_t d : *dims)
    if (IsStaticDim(d) && d != 1)
      return c.Fail(fmt::format("{} is {}, not a scalar", OperandName(c, i), ToString(*dims)));
  return true;
}

namespace {

// Of an operand whose rank is not known.
bool UnknownShape(InferContext& c, size_t i, std::span<const int64_t> dims) {
  if (!c.must_prove() || !c.HasOperand(i)) return true;
  return c.Fail(
      fmt::format("{} must be {} and its rank is not known", OperandName(c, i), ToString(dims)));
}

}  // namespace

bool CheckShape(InferContext& c, size_t i, std::span<const int64_t> dims) {
  const Dims actual = DimsOf(c, i);
  if (!actual) return UnknownShape(c, i, dims);
  bool ok = actual->size() == dims.size();
  for (size_t d = 0; ok && d < dims.size(); ++d)
    ok = MergeDim(c, (*actual)[d], dims[d]).has_value();
  if (ok) return true;
  return c.Fail(fmt::format("{} is {} but must be {}{}", OperandName(c, i), ToString(*actual),
                            ToString(dims), c.must_prove() ? " for sure" : ""));
}

bool CheckBroadcastsTo(InferContext& c, size_t i, std::span<const int64_t> dims) {
  const Dims actual = DimsOf(c, i);
  if (!actual) return UnknownShape(c, i, dims);
  const auto joint = BroadcastShape(dims, *actual);
  bool ok = joint && joint->size() == dims.size();
  for (size_t d = 0; ok && d < dims.size(); ++d) ok = MergeDim((*joint)[d], dims[d]).has_value();
  for (size_t d = 1; ok && c.must_prove() && d <= actual->size(); ++d) {
    const int64_t dim = (*actual)[actual->size() - d];
    const int64_t to = dims[dims.size() - d];
    ok = dim == 1 || SameDim(dim, to) || IsCutOf(DimExpr::OfDim(dim), DimExpr::OfDim(to));
  }
  if (ok) return true;
  return c.Fail(fmt::format("{} {} does not {}broadcast to {}", OperandName(c, i),
                            ToString(*actual), c.must_prove() ? "provably " : "", ToString(dims)));
}

int64_t VectorLength(const InferContext& c, size_t i) {
  const Dims dims = DimsOf(c, i);
  return dims && dims->size() == 1 ? (*dims)[0] : kUnknownDim;
}

bool IsCountable(std::span<const int64_t> dims) {
  int64_t elements = 1;
  for (int64_t d : dims) {
    if (d <= 1) continue;
    if (d > kMaxElements / elements) return false;
    elements *= d;
  }
  return true;
}

bool SetTensor(InferContext& c, size_t i, DataType dtype, const Dims& dims) {
  if (dtype == DataType::kNull || i >= c.num_results()) return true;
  if (!dims) return c.SetResult(i, c.context()->UnrankedTensorType(dtype));
  if (dims->size() > kMaxRank)
    return c.Fail(fmt::format("the result has rank {}, more than {}", dims->size(), kMaxRank));
  if (!IsCountable(*dims))
    return c.Fail(fmt::format("the result is too large: {}", ToString(*dims)));
  return c.SetResult(i, dtype, *dims);
}

bool SetSameAs(InferContext& c, size_t result, size_t operand) {
  return SetTensor(c, result, DtypeOf(c, operand), DimsOf(c, operand));
}

std::optional<int64_t> CheckedAdd(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

std::optional<int64_t> CheckedMul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

std::optional<int64_t> ProductOf(std::span<const int64_t> dims) {
  for (int64_t d : dims)
    if (d == 0) return 0;
  int64_t product = 1;
  bool all_static = true;
  for (int64_t d : dims) {
    all_static &= IsStaticDim(d);
    if (IsStaticDim(d) && __builtin_mul_overflow(product, d, &product)) return std::nullopt;
  }
  if (all_static) return product;
  DimExpr expr = product;
  for (int64_t d : dims)
    if (!IsStaticDim(d)) expr = expr * DimExpr::OfDim(d);
  return expr.ToDim();
}

std::optional<int64_t> SumOf(std::span<const int64_t> dims) {
  int64_t sum = 0;
  bool all_static = true;
  for (int64_t d : dims) {
    all_static &= IsStaticDim(d);
    if (IsStaticDim(d) && __builtin_add_overflow(sum, d, &sum)) return std::nullopt;
  }
  if (all_static) return sum;
  DimExpr expr = sum;
  for (int64_t d : dims)
    if (!IsStaticDim(d)) expr = expr + DimExpr::OfDim(d);
  return expr.ToDim();
}

std::optional<int64_t> MergeDim(int64_t a, int64_t b) {
  if (a == b || b == kUnknownDim) return a;
  if (a == kUnknownDim || IsSymbolicDim(a)) return b;
  if (IsSymbolicDim(b)) return a;
  return std::nullopt;
}

std::optional<int64_t> MergeDim(const InferContext& c, int64_t a, int64_t b) {
  return !c.must_prove() || SameDim(a, b) ? MergeDim(a, b) : std::nullopt;
}

std::optional<int64_t> BroadcastDim(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (IsStaticDim(a) && IsStaticDim(b)) return std::nullopt;
  // The other is 1 or the same at run time, or the program is wrong.
  if (IsStaticDim(a)) return a;
  if (IsStaticDim(b)) return b;
  const DimExpr x = DimExpr::OfDim(a), y = DimExpr::OfDim(b);
  if (x.IsAtLeast(2) || IsCutOf(y, x)) return a;
  return y.IsAtLeast(2) || IsCutOf(x, y) ? b : kUnknownDim;
}

std::optional<Shape> BroadcastShape(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.size() < b.size()) std::swap(a, b);
  Shape dims(a.begin(), a.end());
  const size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    const auto dim = BroadcastDim(a[offset + i], b[i]);
    if (!dim) return std::nullopt;
    dims[offset + i] = *dim;
  }
  return dims;
}

bool Broadcast(InferContext& c, std::span<const size_t> operands, Dims* dims) {
  *dims = Shape();
  bool known = true;
  for (size_t i : operands) {
    const Dims next = DimsOf(c, i);
    if (!next) {
      known = false;
      continue;
    }
    const auto joint = BroadcastShape(**dims, *next);
    if (!joint) {
      const size_t first = operands[0];
      if (i == operands[1] || !c.Ranked(first))
        return c.Fail(fmt::format("{} {} and {} {} do not broadcast", OperandName(c, first),
                                  ToString(**dims), OperandName(c, i), ToString(*next)));
      return c.Fail(fmt::format("{} {} does not broadcast to the others' {}", OperandName(c, i),
                                ToString(*next), ToString(**dims)));
    }
    *dims = *joint;
  }
  if (!known) *dims = std::nullopt;
  return true;
}

bool MatMulDims(InferContext& c, Shape x, Shape y, Dims* dims) {
  const bool row = x.size() == 1, column = y.size() == 1;
  if (row) x.insert(x.begin(), 1);
  if (column) y.push_back(1);
  const size_t r = x.size(), s = y.size();
  if (!MergeDim(x[r - 1], y[s - 2]))
    return c.Fail(fmt::format("x has {} columns but y has {} rows", x[r - 1], y[s - 2]));
  auto batch = BroadcastShape(std::span(x).first(r - 2), std::span(y).first(s - 2));
  if (!batch)
    return c.Fail(fmt::format("leading dimensions of x {} and y {} do not broadcast", ToString(x),
                              ToString(y)));
  if (!row) batch->push_back(x[r - 2]);
  if (!column) batch->push_back(y[s - 1]);
  *dims = std::move(*batch);
  return true;
}

bool PermuteDims(InferContext& c, const Shape& dims, std::span<const int64_t> perm, Dims* result) {
  if (perm.size() != dims.size())
    return c.Fail(fmt::format("{} has rank {} but perm has {} entries", OperandName(c, 0),
                              dims.size(), perm.size()));
  *result = Shape();
  std::vector<bool> seen(dims.size());
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(dims.size()) || seen[axis])
      return c.Fail(fmt::format("perm {} is no permutation", IntsText(perm)));
    seen[axis] = true;
    (*result)->push_back(dims[axis]);
  }
  return true;
}

bool ConcatTensors(InferContext& c, std::span<const Type> types, int64_t axis) {
  DataType dtype = DataType::kNull;
  Dims dims;  // of the first ranked one; then what all say
  bool ranked = true;
  Shape sizes;  // along axis
  for (size_t i = 0; i < types.size(); ++i) {
    const Type type = types[i];
    if (!type.IsTensor()) {
      ranked = false;
      continue;
    }
    if (dtype == DataType::kNull) dtype = type.dtype();
    if (type.dtype() != DataType::kNull && type.dtype() != dtype)
      return c.Fail(fmt::format("input {} is {} but the others are {}", i,
                                DataTypeName(type.dtype()), DataTypeName(dtype)));
    ranked &= type.HasRank();
    if (!type.HasRank()) continue;
    if (!dims) {
      dims = type.shape();
      if (!NormalizeAxis(c, &axis, dims->size())) return false;
    }
    bool fits = type.rank() == dims->size();
    for (size_t d = 0; fits && d < dims->size(); ++d) {
      if (static_cast<int64_t>(d) == axis) continue;
      const auto merged = MergeDim((*dims)[d], type.dims()[d]);
      fits = merged.has_value();
      if (fits) (*dims)[d] = *merged;
    }
    if (!fits)
      return c.Fail(fmt::format("input {} {} does not fit {} along axis {}", i,
                                ToString(type.dims()), ToString(*dims), axis));
    sizes.push_back(type.dim(axis));
  }
  if (!dims) return SetTensor(c, 0, dtype, std::nullopt);
  const auto sum = ranked ? SumOf(sizes) : kUnknownDim;
  if (!sum) return c.Fail(fmt::format("the result is too large along axis {}", axis));
  (*dims)[axis] = *sum;
  return SetTensor(c, 0, dtype, dims);
}

bool NormalizeAxis(InferContext& c, int64_t* axis, size_t rank, std::string_view what) {
  const auto r = static_cast<int64_t>(rank);
  if (*axis < -r || *axis >= r)
    return c.Fail(fmt::format("{} {} is out of range for rank {}", what, *axis, rank));
  *axis = NormalAxis(*axis, rank);
  return true;
}

std::string IntsText(std::span<const int64_t> ints) {
  return fmt::format("[{}]", fmt::join(ints, ","));
}

bool NormalizeAxes(InferContext& c, Ints* axes, size_t rank) {
  for (int64_t& axis : *axes)
    if (!NormalizeAxis(c, &axis, rank)) return false;
  std::sort(axes->begin(), axes->end());
  const auto twice = std::adjacent_find(axes->begin(), axes->end());
  if (twice != axes->end()) return c.Fail(fmt::format("axis {} is given twice", *twice));
  return true;
}

bool ReduceDims(InferContext& c, std::optional<Ints> axes, bool keep, Dims* dims) {
  if (*dims && axes) {
    if (!NormalizeAxes(c, &*axes, (*dims)->size())) return false;
    Shape result;
    for (size_t i = 0; i < (*dims)->size(); ++i) {
      const bool reduced =
          axes->empty() || std::binary_search(axes->begin(), axes->end(), static_cast<int64_t>(i));
      if (!reduced) result.push_back((**dims)[i]);
      if (reduced && keep) result.push_back(1);
    }
    *dims = std::move(result);
  } else if (*dims && keep) {
    for (int64_t& d : **dims)
      if (d != 1) d = kUnknownDim;
  } else {
    const bool scalar = axes && axes->empty() && !keep;
    *dims = scalar ? Dims(Shape()) : std::nullopt;
  }
  return true;
}

}  // namespace weft::ir
