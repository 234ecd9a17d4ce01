#include "ir/dialects/onnx/infer/shape_value.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"

namespace weft::ir {
namespace {

constexpr size_t kMaxEntries = 64;  // longer vectors are no shapes
constexpr int kMaxSteps = 256;      // ops looked at for one value
constexpr int kMaxDepth = 64;

// Evaluates one value. Not memoised: the step count bounds the work on a graph that shares much.
class Evaluator {
 public:
  std::optional<ShapeValue> Evaluate(Value value, int depth = 0);

 private:
  std::optional<ShapeValue> FromOp(Operation op, int depth);
  static std::optional<ShapeValue> FromConstant(Value value);
  static std::optional<ShapeValue> FromShape(Operation op);
  std::optional<ShapeValue> FromConcat(Operation op, int depth);
  std::optional<ShapeValue> FromGather(Operation op, int depth);
  std::optional<ShapeValue> FromSlice(Operation op, int depth);
  std::optional<ShapeValue> FromArithmetic(Operation op, int depth);
  static ShapeEntry Apply(Operation op, ShapeEntry x, ShapeEntry y);

  int steps_ = 0;
};

std::optional<ShapeValue> Evaluator::Evaluate(Value value, int depth) {
  if (!value || depth > kMaxDepth || ++steps_ > kMaxSteps) return std::nullopt;
  const Type type = value.type();
  if (!type.HasRank() || type.rank() > 1 || !IsInteger(type.dtype())) return std::nullopt;
  std::optional<ShapeValue> result;
  if (const auto op = value.DefiningOp(); op && type.NumElements() <= int64_t{kMaxEntries})
    result = FromOp(op, depth + 1);
  const int64_t count = type.NumElements();
  if (result && (count < 0 || static_cast<int64_t>(result->size()) == count)) return result;
  // Not computable, but the number of entries is known.
  if (count >= 0 && count <= int64_t{kMaxEntries}) return ShapeValue(count);
  return std::nullopt;
}

std::optional<ShapeValue> Evaluator::FromOp(Operation op, int depth) {
  if (op.HasTrait(kConstantLike)) return FromConstant(op.result());
  if (op.Is<ops::Shape>()) return FromShape(op);
  if (op.Is<ops::Identity>() || op.Is<ops::Unsqueeze>() || op.Is<ops::Squeeze>() ||
      op.Is<ops::Reshape>() || op.Is<ops::Cast>())
    return op.num_operands() > 0 ? Evaluate(op.operand(0), depth) : std::nullopt;
  if (op.Is<ops::Concat>()) return FromConcat(op, depth);
  if (op.Is<ops::Gather>()) return FromGather(op, depth);
  if (op.Is<ops::Slice>()) return FromSlice(op, depth);
  if (op.Is<ops::Add>() || op.Is<ops::Sub>() || op.Is<ops::Mul>() || op.Is<ops::Div>())
    return FromArithmetic(op, depth);
  return std::nullopt;
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
  const auto indices = ConstantInts(op.operand(1));
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
  const auto start = ConstantInts(op.operand(1)), end = ConstantInts(op.operand(2));
  if (!data || !start || !end || start->size() != 1 || end->size() != 1) return std::nullopt;
  if (op.HasOperand(4) && ConstantInts(op.operand(4)) != Ints{1}) return std::nullopt;
  const auto size = static_cast<int64_t>(data->size());
  const auto clamp = [size](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const int64_t from = clamp(start->front()), to = std::max(from, clamp(end->front()));
  return ShapeValue(data->begin() + from, data->begin() + to);
}

std::optional<ShapeValue> Evaluator::FromArithmetic(Operation op, int depth) {
  if (op.num_operands() < 2) return std::nullopt;
  const auto x = Evaluate(op.operand(0), depth), y = Evaluate(op.operand(1), depth);
  if (!x || !y || (x->size() != y->size() && x->size() != 1 && y->size() != 1)) return std::nullopt;
  ShapeValue result(x->size() == 1 ? y->size() : x->size());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = Apply(op, (*x)[x->size() == 1 ? 0 : i], (*y)[y->size() == 1 ? 0 : i]);
  return result;
}

ShapeEntry Evaluator::Apply(Operation op, ShapeEntry x, ShapeEntry y) {
  const bool one = y.is_number && y.value == 1, zero = y.is_number && y.value == 0;
  if (op.Is<ops::Mul>()) {
    if (one) return x;
    if (x.is_number && x.value == 1) return y;
  }
  if ((op.Is<ops::Div>() && one) || ((op.Is<ops::Add>() || op.Is<ops::Sub>()) && zero)) return x;
  if (!x.is_number || !y.is_number) return {};
  int64_t value = 0;
  bool overflow = false;
  if (op.Is<ops::Add>()) {
    overflow = __builtin_add_overflow(x.value, y.value, &value);
  } else if (op.Is<ops::Sub>()) {
    overflow = __builtin_sub_overflow(x.value, y.value, &value);
  } else if (op.Is<ops::Mul>()) {
    overflow = __builtin_mul_overflow(x.value, y.value, &value);
  } else {
    overflow = y.value == 0 || (x.value == INT64_MIN && y.value == -1);
    if (!overflow) value = x.value / y.value;
  }
  return overflow ? ShapeEntry() : ShapeEntry::Number(value);
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
    // symbol * p over q
    int64_t p = 1, symbol = 0;
    size_t symbols = 0;
    for (int64_t d : data) {
      if (IsStaticDim(d)) {
        p *= d;  // ProductOf has checked it
      } else {
        symbol = d;
        ++symbols;
      }
    }
    if (symbols == 1 && IsStaticDim(*need) && p == *need) *dim = symbol;
  }
  return true;
}

}  // namespace

std::optional<ShapeValue> EvaluateShapeValue(Value value) { return Evaluator().Evaluate(value); }

std::optional<ShapeValue> ShapeOperand(const InferContext& c, size_t i) {
  if (!c.Ranked(i) || c.operand_type(i).rank() > 1) return std::nullopt;
  return EvaluateShapeValue(c.operand(i));
}

std::optional<Ints> KnownInts(const InferContext& c, size_t i) {
  const auto value = ShapeOperand(c, i);
  if (!value) return std::nullopt;
  Ints ints;
  for (const ShapeEntry& e : *value) {
    if (!e.is_number) return std::nullopt;
    ints.push_back(e.value);
  }
  return ints;
}

bool ReshapeDims(InferContext& c, const Dims& data, const ShapeValue& target, bool allow_zero,
                 Dims* result) {
  Shape dims, others;
  std::optional<size_t> computed;
  bool zero = false;
  for (size_t i = 0; i < target.size(); ++i) {
    int64_t dim = target[i].value;
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
