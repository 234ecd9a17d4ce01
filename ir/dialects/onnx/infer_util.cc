#include "ir/dialects/onnx/infer_util.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/constant.h"

namespace weft::ir {
namespace {

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

std::optional<Ints> KnownInts(const InferContext& c, size_t i) {
  return c.HasOperand(i) ? ConstantInts(c.operand(i)) : std::nullopt;
}

int64_t VectorLength(const InferContext& c, size_t i) {
  const Dims dims = DimsOf(c, i);
  return dims && dims->size() == 1 ? (*dims)[0] : kUnknownDim;
}

bool SetTensor(InferContext& c, size_t i, DataType dtype, const Dims& dims) {
  if (dtype == DataType::kNull || i >= c.num_results()) return true;
  if (!dims) return c.SetResult(i, c.context()->UnrankedTensorType(dtype));
  if (dims->size() > kMaxRank)
    return c.Fail(fmt::format("the result has rank {}, more than {}", dims->size(), kMaxRank));
  int64_t elements = 1;
  for (int64_t d : *dims) {
    if (d <= 1) continue;
    if (d > kMaxElements / elements)
      return c.Fail(fmt::format("the result is too large: {}", ToString(*dims)));
    elements *= d;
  }
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
  int64_t product = 1;
  int64_t other = 0;  // the one dimension that is no number
  size_t others = 0;
  for (int64_t d : dims) {
    if (d == 0) return 0;
    if (!IsStaticDim(d)) {
      other = d;
      ++others;
    } else if (const auto next = CheckedMul(product, d)) {
      product = *next;
    } else {
      return std::nullopt;
    }
  }
  if (others == 0) return product;
  return others == 1 && product == 1 ? other : kUnknownDim;
}

std::optional<int64_t> MergeDim(int64_t a, int64_t b) {
  if (a == b || b == kUnknownDim) return a;
  if (a == kUnknownDim || IsSymbolicDim(a)) return b;
  if (IsSymbolicDim(b)) return a;
  return std::nullopt;
}

std::optional<int64_t> BroadcastDim(int64_t a, int64_t b) {
  if (a == b || b == 1) return a;
  if (a == 1) return b;
  if (IsStaticDim(a) && IsStaticDim(b)) return std::nullopt;
  // The other is 1 or the same at run time, or the program is wrong.
  if (IsStaticDim(a)) return a;
  if (IsStaticDim(b)) return b;
  return kUnknownDim;
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

bool NormalizeAxis(InferContext& c, int64_t* axis, size_t rank, std::string_view what) {
  const auto r = static_cast<int64_t>(rank);
  if (*axis < -r || *axis >= r)
    return c.Fail(fmt::format("{} {} is out of range for rank {}", what, *axis, rank));
  if (*axis < 0) *axis += r;
  return true;
}

bool NormalizeAxes(InferContext& c, Ints* axes, size_t rank) {
  for (int64_t& axis : *axes)
    if (!NormalizeAxis(c, &axis, rank)) return false;
  std::sort(axes->begin(), axes->end());
  const auto twice = std::adjacent_find(axes->begin(), axes->end());
  if (twice != axes->end()) return c.Fail(fmt::format("axis {} is given twice", *twice));
  return true;
}

}  // namespace weft::ir
