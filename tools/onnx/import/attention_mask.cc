#include "tools/onnx/import/attention_mask.h"

#include "ir/dialects/onnx.h"
#include "tools/onnx/attention_keys.h"

namespace weft::onnx {
namespace {

using ir::Builder;
using ir::Value;

constexpr size_t kKey = 1, kMask = 3, kPastKey = 4;  // operands of Attention

Value Operand(const NodeDraft& node, size_t i) {
  return i < node.operands.size() ? node.operands[i] : Value();
}

// As one i64[1].
absl::StatusOr<Value> LengthAtRunTime(Builder& b, Value keys) {
  if (const int64_t length = AttentionKeys::Length(keys); ir::IsStaticDim(length))
    return b.ConstantInts({length});
  return TryMake<ir::ops::Shape>(b, {keys}, {.end = -1, .start = -2});
}

}  // namespace

absl::Status BroadcastAttentionMask(Builder& b, NodeDraft* node) {
  const Value mask = Operand(*node, kMask), key = Operand(*node, kKey),
              past = Operand(*node, kPastKey);
  if (!mask || !key || !mask.type().IsTensor()) return absl::OkStatus();
  const ir::Type type = mask.type();
  if (type.HasRank() && type.rank() == 0) return absl::OkStatus();  // which inference refuses
  const int64_t columns = AttentionKeys::Columns(mask);
  if (ir::IsStaticDim(columns) && columns != 1) return absl::OkStatus();
  const AttentionKeys all{.key = key, .past = past};
  if (all.AreCoveredBy(mask)) return absl::OkStatus();
  Value keys;
  if (const int64_t count = all.Count().ToDim(); ir::IsStaticDim(count)) {
    keys = b.ConstantInts({count});
  } else {
    WEFT_ASSIGN_OR_RETURN(keys, LengthAtRunTime(b, key));
    if (past) {
      WEFT_ASSIGN_OR_RETURN(const Value before, LengthAtRunTime(b, past));
      WEFT_ASSIGN_OR_RETURN(keys, TryMake<ir::ops::Add>(b, {before, keys}));
    }
  }
  WEFT_ASSIGN_OR_RETURN(node->operands[kMask], TryMake<ir::ops::Expand>(b, {mask, keys}));
  return absl::OkStatus();
}

}  // namespace weft::onnx
