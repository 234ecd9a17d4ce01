#include "tools/onnx/attention_keys.h"

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx.h"

namespace weft::onnx {
namespace {

using ir::Value;

int64_t DimFromEnd(Value value, size_t i) {
  const ir::Type type = value.type();
  return type && type.HasRank() && type.rank() >= i ? type.dim(type.rank() - i) : ir::kUnknownDim;
}

template <class O>
ir::Operation Made(Value value) {
  if (!value || value.IsBlockArgument() || !value.DefiningOp().Is<O>()) return {};
  return value.DefiningOp();
}

// Whether `value` is S of `keys` as an i64[1].
bool IsLength(Value value, Value keys) {
  const int64_t length = AttentionKeys::Length(keys);
  if (const auto known = ir::ConstantInts(value))
    return ir::IsStaticDim(length) && *known == ir::Ints{length};
  const ir::Operation shape = Made<ir::ops::Shape>(value);
  if (!shape || !(shape.operand(0) == keys)) return false;
  const auto attrs = shape.attrs_of<ir::ops::Shape>();
  return attrs.start == -2 && attrs.end == -1;
}

}  // namespace

int64_t AttentionKeys::Length(Value keys) { return DimFromEnd(keys, 2); }
int64_t AttentionKeys::Columns(Value mask) { return DimFromEnd(mask, 1); }

ir::DimExpr AttentionKeys::Count() const {
  const ir::DimExpr count = ir::DimExpr::OfDim(Length(key));
  return past ? count + ir::DimExpr::OfDim(Length(past)) : count;
}

bool AttentionKeys::AreCoveredBy(Value mask) const {
  if (ir::SameDim(Columns(mask), Count().ToDim())) return true;
  const ir::Operation expand = Made<ir::ops::Expand>(mask);
  if (!expand) return false;
  const Value shape = expand.operand(1);
  if (!past) return IsLength(shape, key);
  const ir::Operation sum = Made<ir::ops::Add>(shape);
  return sum && IsLength(sum.operand(0), past) && IsLength(sum.operand(1), key);
}

}  // namespace weft::onnx
