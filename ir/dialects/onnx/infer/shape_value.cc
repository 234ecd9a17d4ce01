#include "ir/dialects/onnx/infer/shape_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/analysis/constant.h"
#include "ir/analysis/integer_element.h"
#include "ir/dialects/onnx.h"

namespace weft::ir {
namespace {

constexpr size_t kMaxEntries = 64;  // longer vectors are no shapes
constexpr int kMaxSteps = 256;      // ops looked at for one value
constexpr int kMaxDepth = 64;

std::optional<Ints> NumbersOf(const ShapeValue& value) {
  Ints ints;
  for (const ShapeEntry& e : value) {
    if (!e.is_number) return std::nullopt;
    ints.push_back(e.value);
  }
  return ints;
}

// Of the types that entries are computed in: whether a value of that type can be the number. Else
// arithmetic has wrapped around.
bool Fits(const ShapeEntry& entry, DataType dtype) {
  if (!entry.is_number) return true;
  if (dtype == DataType::kI32) return std::in_range<int32_t>(entry.value);
  if (dtype == DataType::kU32) return std::in_range<uint32_t>(entry.value);
  return dtype != DataType::kU64 || entry.value >= 0;
}

// Evaluates one value. Not memoised: the step count bounds the work on a graph that shares much.
class Evaluator {
 public:
  std::optional<ShapeValue> Evaluate(Value value, int depth = 0);

 private:
  std::optional<ShapeValue> FromOp(Operation op, int depth);
  std::optional<Ints> Numbers(Value value, int depth);
  static std::optional<ShapeValue> FromConstant(Value value);
  static std::optional<ShapeValue> FromShape(Operation op);
  std::optional<ShapeValue> FromConcat(Operation op, int depth);
  std::optional<ShapeValue> FromGather(Operation op, int depth);
  std::optional<ShapeValue> FromSlice(Operation op, int depth);
  std::optional<ShapeValue> FromSplit(Operation op, uint32_t result, int depth);
  std::optional<ShapeValue> FromFill(Operation op, int depth);
  std::optional<ShapeValue> FromWhere(Operation op, int depth);
  std::optional<ShapeValue> FromAbs(Operation op, int depth);
  std::optional<ShapeValue> FromProduct(Operation op, int depth);
  std::optional<ShapeValue> FromElementwise(Operation op, int depth);

  int steps_ = 0;
};

std::optional<ShapeValue> Evaluator::Evaluate(Value value, int depth) {
  if (!value || depth > kMaxDepth || ++steps_ > kMaxSteps) return std::nullopt;
  const Type type = value.type();
  if (!type.HasRank() || type.rank() > 1) return std::nullopt;
  if (!IsInteger(type.dtype()) && type.dtype() != DataType::kBool) return std::nullopt;
  std::optional<ShapeValue> result;
  if (const auto op = value.DefiningOp(); op && type.NumElements() <= int64_t{kMaxEntries})
    result = op.num_results() == 1 ? FromOp(op, depth + 1)
             : op.Is<ops::Split>() ? FromSplit(op, value.index(), depth + 1)
                                   : std::nullopt;
  if (result)
    for (ShapeEntry& entry : *result)
      if (!Fits(entry, type.dtype())) entry = {};
  const int64_t count = type.NumElements();
  if (result && (count < 0 || static_cast<int64_t>(result->size()) == count)) return result;
  // Not computable, but the number of entries is known.
  if (count >= 0 && count <= int64_t{kMaxEntries}) return ShapeValue(count);
  return std::nullopt;
}

// Casts that change no number that a size can be.
bool KeepsSizes(Operation op) {
  const DataType to = op.result().type().dtype();
  return to == DataType::kI64 || to == DataType::kI32;
}

bool IsExtremum(Operation op) { return op.Is<ops::Min>() || op.Is<ops::Max>(); }

std::optional<ShapeValue> Evaluator::FromOp(Operation op, int depth) {
  if (op.HasTrait(kConstantLike)) return FromConstant(op.result());
  if (op.Is<ops::Shape>()) return FromShape(op);
  if (op.num_operands() == 0) return std::nullopt;
  if (op.Is<ops::Identity>() || op.Is<ops::Unsqueeze>() || op.Is<ops::Squeeze>() ||
      op.Is<ops::Reshape>() || (op.Is<ops::Cast>() && KeepsSizes(op)))
    return Evaluate(op.operand(0), depth);
  if (op.Is<ops::Concat>()) return FromConcat(op, depth);
  if (op.Is<ops::Gather>()) return FromGather(op, depth);
  if (op.Is<ops::Slice>()) return FromSlice(op, depth);
  if (op.Is<ops::Split>()) return FromSplit(op, 0, depth);
  if (op.Is<ops::ConstantOfShape>() || op.Is<ops::Expand>()) return FromFill(op, depth);
  if (op.Is<ops::Where>()) return FromWhere(op, depth);
  if (op.Is<ops::Abs>() && KeepsSizes(op)) return FromAbs(op, depth);
  if (op.Is<ops::Size>() || op.Is<ops::ReduceProd>()) return FromProduct(op, depth);
  if (op.Is<ops::Add>() || op.Is<ops::Sub>() || op.Is<ops::Mul>() || op.Is<ops::Div>() ||
      op.Is<ops::Mod>() || op.Is<ops::Equal>() || IsExtremum(op))
    return FromElementwise(op, depth);
  return std::nullopt;
}

std::optional<Ints> Evaluator::Numbers(Value value, int depth) {
  if (auto ints = ConstantInts(value)) return ints;
  const auto entries = Evaluate(value, depth);
  return entries ? NumbersOf(*entries) : std::nullopt;
}

std::optional<ShapeValue> Evaluator::FromConstant(Value value) {
  const auto ints = ConstantInts(value);
  if (!ints) return std::nullopt;
  ShapeValue result;
  for (int64_t n : *ints) result.push_back(ShapeEntry::Number(n));
  return result;
}

std::optional<ShapeValue> Evaluator::FromShape(Operation op) {
  const Type type = op.HasOperand(0) ? op.operand(0).type() : Type();
  if (!type.HasRank()) return std::nullopt;
  const auto rank = static_cast<int64_t>(type.rank());
  const auto attrs = op.attrs_of<ops::Shape>();
  const auto clamp = [rank](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  ShapeValue result;
  for (int64_t i = clamp(attrs.start); i < clamp(attrs.end.value_or(rank)); ++i)
    result.push_back(ShapeEntry::OfDim(type.dim(i)));
  return result;
}

std::optional<ShapeValue> Evaluator::FromConcat(Operation op, int depth) {
  ShapeValue result;
  for (Value operand : op.operands()) {
    const auto part = Evaluate(operand, depth);
    if (!part) return std::nullopt;
    result.insert(result.end(), part->begin(), part->end());
    if (result.size() > kMaxEntries) return std::nullopt;
  }
  return result;
}

std::optional<ShapeValue> Evaluator::FromGather(Operation op, int depth) {
  if (op.num_operands() < 2) return std::nullopt;
  const auto data = Evaluate(op.operand(0), depth);
  const auto indices = Numbers(op.operand(1), depth);
  if (!data || !indices) return std::nullopt;
  const auto size = static_cast<int64_t>(data->size());
  ShapeValue result;
  for (int64_t i : *indices) {
    if (i < -size || i >= size) return std::nullopt;
    result.push_back((*data)[i < 0 ? i + size : i]);
  }
  return result;
}

std::optional<ShapeValue> Evaluator::FromSlice(Operation op, int depth) {
  if (op.num_operands() < 3) return std::nullopt;
  const auto data = Evaluate(op.operand(0), depth);
  const auto start = Numbers(op.operand(1), depth), end = Numbers(op.operand(2), depth);
  if (!data || !start || !end || start->size() != 1 || end->size() != 1) return std::nullopt;
  if (op.HasOperand(4) && ConstantInts(op.operand(4)) != Ints{1}) return std::nullopt;
  const auto size = static_cast<int64_t>(data->size());
  const auto clamp = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t from = clamp(start->front()), to = std::max(from, clamp(end->front()));
  return ShapeValue(data->begin() + from, data->begin() + to);
}

std::optional<ShapeValue> Evaluator::FromSplit(Operation op, uint32_t result, int depth) {
  const auto data = Evaluate(op.operand(0), depth);
  if (!data) return std::nullopt;
  size_t begin = 0;
  for (uint32_t i = 0; i <= result; ++i) {
    const int64_t count = op.result(i).type().NumElements();
    if (count < 0 || begin + static_cast<size_t>(count) > data->size()) return std::nullopt;
    if (i == result) {
      const auto from = data->begin() + static_cast<std::ptrdiff_t>(begin);
      return ShapeValue(from, from + count);
    }
    begin += static_cast<size_t>(count);
  }
  return std::nullopt;
}

// A vector of one entry again and again.
std::optional<ShapeValue> Evaluator::FromFill(Operation op, int depth) {
  const bool expands = op.Is<ops::Expand>();
  if (expands && op.num_operands() < 2) return std::nullopt;
  const auto shape = Numbers(op.operand(expands ? 1 : 0), depth);
  if (!shape || shape->size() > 1) return std::nullopt;
  const int64_t count = shape->empty() ? 1 : shape->front();
  if (count < 0 || count > int64_t{kMaxEntries}) return std::nullopt;
  if (!expands) {
    const Attribute value = op.attr("value");
    if (!value.Is(AttrKind::kDense) || value.IsElided()) return std::nullopt;
    const Type type = value.dense_type();
    const auto number = type.NumElements() == 1 ? IntegerElement(value, 0) : std::nullopt;
    if (!number) return std::nullopt;
    return ShapeValue(static_cast<size_t>(count), ShapeEntry::Number(*number));
  }
  const auto x = Evaluate(op.operand(0), depth);
  if (!x || (x->size() != 1 && count != 1)) return std::nullopt;
  return x->size() == 1 ? ShapeValue(static_cast<size_t>(count), x->front()) : *x;
}

// The entry of a vector that is broadcast.
const ShapeEntry& EntryAt(const ShapeValue& value, size_t i) {
  return value.size() == 1 ? value[0] : value[i];
}

std::optional<size_t> BroadcastSize(std::initializer_list<const ShapeValue*> values) {
  size_t size = 1;
  for (const ShapeValue* value : values) {
    if (value->size() == 1) continue;
    if (size != 1 && value->size() != size) return std::nullopt;
    size = value->size();
  }
  return size;
}

std::optional<ShapeValue> Evaluator::FromWhere(Operation op, int depth) {
  if (op.num_operands() < 3) return std::nullopt;
  const auto condition = Evaluate(op.operand(0), depth), x = Evaluate(op.operand(1), depth),
             y = Evaluate(op.operand(2), depth);
  if (!condition || !x || !y) return std::nullopt;
  const auto size = BroadcastSize({&*condition, &*x, &*y});
  if (!size) return std::nullopt;
  ShapeValue result(*size);
  for (size_t i = 0; i < *size; ++i) {
    const ShapeEntry &c = EntryAt(*condition, i), &then = EntryAt(*x, i), &other = EntryAt(*y, i);
    if (c.is_number) result[i] = c.value != 0 ? then : other;
    if (!c.is_number && then == other && then.value != kUnknownDim) result[i] = then;
  }
  return result;
}

// Sizes stay what they are.
std::optional<ShapeValue> Evaluator::FromAbs(Operation op, int depth) {
  auto entries = Evaluate(op.operand(0), depth);
  if (!entries) return std::nullopt;
  for (ShapeEntry& entry : *entries) {
    if (!entry.is_number && !entry.is_size) entry = {};
    if (!entry.is_number || entry.value >= 0) continue;
    entry = entry.value > INT32_MIN ? ShapeEntry::Number(-entry.value) : ShapeEntry();
  }
  return entries;
}

// The number of elements of a tensor, or the product of all entries.
std::optional<ShapeValue> Evaluator::FromProduct(Operation op, int depth) {
  std::optional<ShapeValue> factors;
  if (op.Is<ops::Size>()) {
    const Type type = op.HasOperand(0) ? op.operand(0).type() : Type();
    if (!type.HasRank()) return std::nullopt;
    factors = ShapeValue();
    for (const int64_t dim : type.dims()) factors->push_back(ShapeEntry::OfDim(dim));
  } else {
    const Type type = op.result().type();
    if (type.NumElements() != 1 || op.operand(0).type().dtype() != type.dtype())
      return std::nullopt;
    factors = Evaluate(op.operand(0), depth);
  }
  if (!factors) return std::nullopt;
  DimExpr product = 1;
  bool is_size = true;
  for (const ShapeEntry& factor : *factors) {
    product = product * factor.expr();
    is_size &= factor.is_size;
  }
  return ShapeValue{ShapeEntry::Of(product, is_size)};
}

// Division of ONNX rounds towards zero, which is down for sizes.
ShapeEntry Divide(const ShapeEntry& x, const ShapeEntry& y, bool remainder) {
  if (x.is_number && y.is_number && !remainder) {
    const bool fits = y.value != 0 && !(x.value == INT64_MIN && y.value == -1);
    return fits ? ShapeEntry::Number(x.value / y.value) : ShapeEntry();
  }
  if (!x.is_size || !y.is_size) return {};
  const DimExpr quotient = FloorDiv(x.expr(), y.expr());
  return ShapeEntry::Of(remainder ? x.expr() - y.expr() * quotient : quotient, true);
}

ShapeEntry Apply(Operation op, const ShapeEntry& x, const ShapeEntry& y) {
  const DimExpr a = x.expr(), b = y.expr();
  const bool sizes = x.is_size && y.is_size;
  if (op.Is<ops::Add>()) return ShapeEntry::Of(a + b, sizes);
  if (op.Is<ops::Sub>()) return ShapeEntry::Of(a - b, x.is_size && y.is_number && y.value <= 0);
  if (op.Is<ops::Mul>()) return ShapeEntry::Of(a * b, sizes);
  if (op.Is<ops::Min>()) return ShapeEntry::Of(Min(a, b), sizes);
  if (op.Is<ops::Max>()) return ShapeEntry::Of(Max(a, b), x.is_size || y.is_size);
  if (op.Is<ops::Div>()) return Divide(x, y, false);
  if (op.Is<ops::Mod>()) return op.attrs_of<ops::Mod>().fmod ? ShapeEntry() : Divide(x, y, true);
  // Equal
  if (a.known() && a == b) return ShapeEntry::Number(1);
  const bool differ = (x.is_number && x.value < 0 && y.is_size) ||
                      (y.is_number && y.value < 0 && x.is_size) || (a - b).IsAtLeast(1) ||
                      (b - a).IsAtLeast(1);
  return differ ? ShapeEntry::Number(0) : ShapeEntry();
}

std::optional<ShapeValue> Evaluator::FromElementwise(Operation op, int depth) {
  if (op.num_operands() < 2 && !IsExtremum(op)) return std::nullopt;
  const DataType dtype = op.operand(0) ? op.operand(0).type().dtype() : DataType::kNull;
  if (dtype != DataType::kI64 && dtype != DataType::kI32) return std::nullopt;
  auto result = Evaluate(op.operand(0), depth);
  for (uint32_t i = 1; result && i < op.num_operands(); ++i) {
    const auto next = Evaluate(op.operand(i), depth);
    const auto size = next ? BroadcastSize({&*result, &*next}) : std::nullopt;
    if (!size) return std::nullopt;
    ShapeValue combined;
    for (size_t e = 0; e < *size; ++e)
      combined.push_back(Apply(op, EntryAt(*result, e), EntryAt(*next, e)));
    result = std::move(combined);
  }
  return result;
}

// Takes what both products have in common out of them, known sizes and symbols alike.
void Cancel(Shape* a, Shape* b) {
  for (size_t i = 0; i < a->size();) {
    const auto match = (*a)[i] == kUnknownDim ? b->end() : std::find(b->begin(), b->end(), (*a)[i]);
    if (match == b->end()) {
      ++i;
      continue;
    }
    b->erase(match);
    a->erase(a->begin() + static_cast<std::ptrdiff_t>(i));
  }
}

std::string Text(const ShapeValue& target) {
  std::string text = "[";
  for (size_t i = 0; i < target.size(); ++i) {
    if (i) text += ',';
    const int64_t value = target[i].value;
    if (target[i].is_number) {
      text += std::to_string(value);
    } else {
      const std::string dim = ToString(std::span(&value, 1));
      text += dim.substr(1, dim.size() - 2);
    }
  }
  return text + "]";
}

// The one dim that makes the product of `rest` equal that of `data`.
bool ComputeDim(InferContext& c, Shape data, Shape rest, const ShapeValue& target, int64_t* dim) {
  Cancel(&data, &rest);
  const auto have = ProductOf(data), need = ProductOf(rest);
  if (!have || !need) return c.Fail(fmt::format("shape {} is too large", Text(target)));
  *dim = kUnknownDim;
  if (*need == 1) {
    *dim = *have;
  } else if (IsStaticDim(*have) && IsStaticDim(*need) && *need != 0) {
    if (*have % *need != 0)
      return c.Fail(fmt::format("{} elements do not fill shape {}", *have, Text(target)));
    *dim = *have / *need;
  } else {
    *dim = FloorDiv(DimExpr::OfDim(*have), DimExpr::OfDim(*need)).ToDim();
  }
  return true;
}

}  // namespace

ShapeEntry ShapeEntry::Of(const DimExpr& e, bool is_size) {
  if (const auto number = e.number()) return Number(*number);
  const int64_t dim = e.ToDim();
  return {dim, false, dim != kUnknownDim && (is_size || e.IsAtLeast(0))};
}

std::optional<ShapeValue> EvaluateShapeValue(Value value) { return Evaluator().Evaluate(value); }

std::optional<ShapeValue> ShapeOperand(const InferContext& c, size_t i) {
  if (!c.Ranked(i) || c.operand_type(i).rank() > 1) return std::nullopt;
  return EvaluateShapeValue(c.operand(i));
}

std::optional<Ints> KnownInts(const InferContext& c, size_t i) {
  const auto value = ShapeOperand(c, i);
  return value ? NumbersOf(*value) : std::nullopt;
}

bool ReshapeDims(InferContext& c, const Dims& data, const ShapeValue& target, bool allow_zero,
                 Dims* result) {
  Shape dims, others;
  std::optional<size_t> computed;
  bool zero = false;
  for (size_t i = 0; i < target.size(); ++i) {
    // What may be negative may be -1.
    int64_t dim = target[i].is_number || target[i].is_size ? target[i].value : kUnknownDim;
    if (target[i].is_number && dim < -1)
      return c.Fail(fmt::format("shape {} has the entry {}", Text(target), dim));
    if (target[i].is_number && dim == -1) {
      if (computed) return c.Fail(fmt::format("shape {} has more than one -1", Text(target)));
      computed = i;
      dims.push_back(kUnknownDim);
      continue;
    }
    if (target[i].is_number && dim == 0 && !allow_zero) {
      if (data && i >= data->size())
        return c.Fail(
            fmt::format("shape {} copies dimension {} of {}", Text(target), i, ToString(*data)));
      dim = data ? (*data)[i] : kUnknownDim;
    }
    zero |= dim == 0;
    dims.push_back(dim);
    others.push_back(dim);
  }
  if (computed && zero && allow_zero)
    return c.Fail(fmt::format("shape {} has both 0 and -1", Text(target)));
  if (data && computed) {
    if (!ComputeDim(c, *data, others, target, &dims[*computed])) return false;
  } else if (data) {
    const auto have = ProductOf(*data), need = ProductOf(others);
    if (!need || (have && IsStaticDim(*have) && IsStaticDim(*need) && *have != *need))
      return c.Fail(fmt::format("{} does not fit shape {}", ToString(*data), Text(target)));
  }
  *result = std::move(dims);
  return true;
}

bool DimsFromOperand(InferContext& c, size_t i, Dims* dims) {
  if (!CheckDtype(c, i, DataType::kI64) || !CheckRank(c, i, 1)) return false;
  const auto value = ShapeOperand(c, i);
  if (!value) return true;
  *dims = ir::Shape();
  for (const ShapeEntry& e : *value) {
    if (e.is_number && e.value < 0)
      return c.Fail(fmt::format("{} has the entry {}", OperandName(c, i), e.value));
    (*dims)->push_back(e.value);
  }
  return true;
}

}  // namespace weft::ir
