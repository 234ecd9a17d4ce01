// The reference bodies of the attentions. What keeps a key out is added to the scores, and a row without
// any key is what softmax makes of it, as in ONNX Runtime; so rules find the attention that they fuse.
#include <cmath>
#include <limits>

#include "ir/analysis/constant.h"
#include "ir/dialects/microsoft/attention.h"
#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/indexing.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/attention.h"
#include "ir/dialects/onnx/nn/heads.h"
#include "ir/dialects/onnx/nn/normalization.h"

namespace weft::ir::microsoft {
namespace {

using ops::DimOf;
using ops::OperandOrNull;
using ops::UnsqueezeAt;

bool AllTyped(std::span<const Value> operands) {
  for (const Value v : operands)
    if (v && (!v.type().HasRank() || ops::ElementTypeOf(v) == DataType::kNull)) return false;
  return true;
}

// Part i of `count` equal ones of x along an axis of that size.
Value PartOf(Builder& b, Value x, int64_t i, int64_t axis) {
  return b.Make<ops::Gather>({x, b.ConstantScalar(DataType::kI64, double(i))}, {.axis = axis});
}

// Columns begin..end-1 of the last dimension.
Value Columns(Builder& b, Value x, int64_t begin, int64_t end) {
  return ops::SliceOf(b, x, begin, end, -1);
}

// [heads * D] as [heads, 1, D].
Value PerHead(Builder& b, Value bias, int64_t heads, int64_t depth) {
  return ops::ReshapeTo(b, bias, {b.ConstantInts({heads, 1, depth})});
}

constexpr double kNever = -std::numeric_limits<double>::infinity();

// One attention: q, k and v are [B, heads, S, D], where the heads of k and v may be fewer.
struct Core {
  Builder& b;
  Value q{}, k{}, v{}, past_k{}, past_v{};
  Value mask{};  // is added to the scores
  Value seen{};  // how many of the keys take part; null: all
  Value sink{};  // [heads], of a key that every query sees and that has no value
  std::optional<float> scale{}, softcap{};

  // The merged result, the keys, the values; the first `num_results` of them. Empty where too little
  // is known.
  std::vector<Value> Build(size_t num_results) const {
    const int64_t heads = q.type().dim(1), shared = k.type().dim(1), depth = q.type().dim(3);
    const float factor = scale.value_or(0);
    if (!IsStaticDim(heads) || !IsStaticDim(shared) || (factor == 0 && !IsStaticDim(depth)))
      return {};
    const auto joined = [&](Value past, Value x) {
      return past ? b.Make<ops::Concat>({past, x}, {.axis = 2}) : x;
    };
    const auto attended = [&](Value x) {
      if (seen) x = ops::SliceOf(b, x, b.ConstantInts({0}), seen, 2);
      return ops::RepeatHeads(b, x, DimOf(b, q, 1), heads / shared);
    };
    const Value keys = joined(past_k, k), values = joined(past_v, v);
    const Value turned = b.Make<ops::Transpose>({attended(keys)}, {.perm = {0, 1, 3, 2}});
    Value scores = b.Make<ops::MatMul>({q, turned});
    scores = ops::Scaled(b, scores, factor == 0 ? 1 / std::sqrt(double(depth)) : double{factor});
    if (const double cap = softcap.value_or(0); cap != 0)
      scores = ops::Scaled(b, b.Make<ops::Tanh>({ops::Scaled(b, scores, 1 / cap)}), cap);
    if (mask) scores = b.Make<ops::Add>({scores, mask});
    const Value y = b.Make<ops::MatMul>({Weights(scores), attended(values)});
    std::vector<Value> results = {ops::MergeHeads(b, y), keys, values};
    results.resize(num_results);
    return results;
  }

 private:
  Value Weights(Value scores) const {
    if (!sink) return b.Make<ops::Softmax>({scores}, {.axis = -1});
    const Value one = b.ConstantInts({1});
    const Value rows =
        ops::JoinDims(b, {DimOf(b, scores, 0), DimOf(b, q, 1), DimOf(b, scores, 2), one});
    const Value column = b.Make<ops::Expand>({UnsqueezeAt(b, sink, {1, 2}), rows});
    const Value all = b.Make<ops::Concat>({scores, column}, {.axis = 3});
    return Columns(b, b.Make<ops::Softmax>({all}, {.axis = -1}), 0, -1);
  }
};

// Zero where a mask_index keeps a key, else `filter`: broadcasts to [B, heads, S, keys]. Null for
// forms that are not known.
Value MaskOf(Builder& b, Value index, Value keys, int64_t batch, DataType dtype, float filter) {
  const Value zero = b.ConstantScalar(DataType::kI32, 0);
  const Value none = b.ConstantScalar(dtype, 0), out = b.ConstantScalar(dtype, filter);
  const size_t rank = index.type().rank();
  if (rank == 4) return {};
  if (rank > 1) {
    const Value mask = b.Make<ops::Where>({b.Make<ops::Equal>({index, zero}), out, none});
    return UnsqueezeAt(b, mask, rank == 2 ? Ints{1, 2} : Ints{1});
  }
  const int64_t size = index.type().dim(0);
  if (!IsStaticDim(size) || !IsStaticDim(batch) || (size != batch && size != 2 * batch)) return {};
  const Value at = ops::CastTo(b, ops::CountTo(b, keys), DataType::kI32);
  const auto limits = [&](int64_t begin) {
    const Value part = ops::SliceOf(b, index, begin, begin + batch, 0);
    return UnsqueezeAt(b, part, {1, 2, 3});
  };
  Value keep = b.Make<ops::Less>({at, limits(0)});
  if (size == 2 * batch && batch > 0)
    keep = b.Make<ops::And>({keep, b.Make<ops::GreaterOrEqual>({at, limits(batch)})});
  return b.Make<ops::Where>({keep, none, out});
}

// Nothing where `keep`, else what no softmax sees.
Value Hidden(Builder& b, Value keep, DataType dtype) {
  return b.Make<ops::Where>({keep, b.ConstantScalar(dtype, 0), b.ConstantScalar(dtype, kNever)});
}

// Of a query: none of the keys that come later.
Value CausalMask(Builder& b, Value q, Value past, Value keys) {
  Value row = ops::CountTo(b, DimOf(b, q, 2));
  if (past) row = b.Make<ops::Add>({row, DimOf(b, past, 2)});
  const Value keep = b.Make<ops::LessOrEqual>({ops::CountTo(b, keys), UnsqueezeAt(b, row, {1})});
  return Hidden(b, keep, ops::ElementTypeOf(q));
}

Value SumOfGiven(Builder& b, Value x, Value y) {
  if (!x || !y) return x ? x : y;
  return b.Make<ops::Add>({x, y});
}

// How many keys there are, in a tensor of one element.
Value CountKeys(Builder& b, Value k, Value past) {
  const Value keys = DimOf(b, k, 2);
  return past ? b.Make<ops::Add>({keys, DimOf(b, past, 2)}) : keys;
}

// The masks of an Attention or MultiHeadAttention; false where a form is not known.
template <class Attrs>
bool AddMasks(Value index, Value bias, const Attrs& attrs, Core* core) {
  Builder& b = core->b;
  const Value keys = CountKeys(b, core->k, core->past_k);
  if (index) {
    core->mask = MaskOf(b, index, keys, core->q.type().dim(0), ops::ElementTypeOf(core->q),
                        attrs.mask_filter_value);
    if (!core->mask) return false;
  }
  core->mask = SumOfGiven(b, core->mask, bias);
  if (attrs.unidirectional != 0)
    core->mask = SumOfGiven(b, core->mask, CausalMask(b, core->q, core->past_k, keys));
  return true;
}

}  // namespace

std::vector<Value> Attention::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs, size_t num_results) {
  const Value index = OperandOrNull(operands, 3), past = OperandOrNull(operands, 4);
  if (!AllTyped(operands) || OperandOrNull(operands, 6) || attrs.do_rotary.value_or(0) != 0 ||
      attrs.past_present_share_buffer.value_or(0) != 0)
    return {};
  const int64_t all = operands[1].type().dim(1);
  Ints sizes = attrs.qkv_hidden_sizes.value_or(Ints());
  if (sizes.empty() && IsStaticDim(all)) sizes.assign(3, all / 3);
  if (sizes.empty()) return {};
  Value projected = b.Make<ops::MatMul>({operands[0], operands[1]});
  if (const Value bias = OperandOrNull(operands, 2))
    projected = b.Make<ops::Add>({projected, bias});
  Core core{.b = b, .scale = attrs.scale};
  int64_t begin = 0;
  Value* const parts[] = {&core.q, &core.k, &core.v};
  for (size_t i = 0; i < 3; begin += sizes[i++])
    *parts[i] = ops::SplitHeads(b, Columns(b, projected, begin, begin + sizes[i]), attrs.num_heads);
  if (past) {
    core.past_k = PartOf(b, past, 0, 0);
    core.past_v = PartOf(b, past, 1, 0);
  }
  if (!AddMasks(index, OperandOrNull(operands, 5), attrs, &core)) return {};
  std::vector<Value> results = core.Build(num_results > 1 ? 3 : 1);
  if (num_results == 1 || results.empty()) return results;
  const Value present = b.Make<ops::Concat>(
      {UnsqueezeAt(b, results[1], {0}), UnsqueezeAt(b, results[2], {0})}, {.axis = 0});
  return {results[0], present};
}

namespace {

// q, k and v as [B, heads, S, D], without bias.
void UnpackHeads(Builder& b, std::span<const Value> operands, int64_t heads, Core* core) {
  const Value key = OperandOrNull(operands, 1), value = OperandOrNull(operands, 2);
  const auto part = [&](Value x, int64_t i) {  // of [B, S, heads, parts, D]
    return b.Make<ops::Transpose>({PartOf(b, x, i, 3)}, {.perm = {0, 2, 1, 3}});
  };
  core->q = key ? ops::SplitHeads(b, operands[0], heads) : part(operands[0], 0);
  if (key && value) {
    core->k = ops::SplitHeads(b, key, heads);
    core->v = ops::SplitHeads(b, value, heads);
  } else {
    core->k = key ? part(key, 0) : part(operands[0], 1);
    core->v = key ? part(key, 1) : part(operands[0], 2);
  }
}

}  // namespace

std::vector<Value> MultiHeadAttention::Decompose(Builder& b, std::span<const Value> operands,
                                                 const Attrs<Plain>& attrs, size_t num_results) {
  const Value bias = OperandOrNull(operands, 3), index = OperandOrNull(operands, 4);
  if (!AllTyped(operands) || OperandOrNull(operands, 8) || OperandOrNull(operands, 9) ||
      num_results > 3)
    return {};
  Core core{.b = b, .scale = attrs.scale};
  UnpackHeads(b, operands, attrs.num_heads, &core);
  if (bias) {
    // Keys and values that have heads already are projected, and only q takes a bias.
    int64_t begin = 0, all = 0;
    for (const Value x : {core.q, core.k, core.v}) {
      if (!IsStaticDim(x.type().dim(3))) return {};
      all += attrs.num_heads * x.type().dim(3);
    }
    if (IsStaticDim(bias.type().dim(0)) && bias.type().dim(0) != all) return {};
    for (Value* x : {&core.q, &core.k, &core.v}) {
      const int64_t depth = x->type().dim(3), columns = attrs.num_heads * depth;
      const size_t at = x == &core.q ? 0 : x == &core.k ? 1 : 2;
      const Value from = OperandOrNull(operands, at);
      if (!from || from.type().rank() != 4) {
        const Value part = Columns(b, bias, begin, begin + columns);
        *x = b.Make<ops::Add>({*x, PerHead(b, part, attrs.num_heads, depth)});
      }
      begin += columns;
    }
  }
  core.past_k = OperandOrNull(operands, 6);
  core.past_v = OperandOrNull(operands, 7);
  if (!AddMasks(index, OperandOrNull(operands, 5), attrs, &core)) return {};
  return core.Build(num_results);
}

namespace {

// Of a GroupQueryAttention: sizes and places, as i64.
struct Places {
  Builder& b;
  Value queries;     // how many
  Value first{};     // [B], of the queries' keys
  Value before{};    // [B, 1], the same: how many there are of the past
  Value total{};     // keys in use, of the longest batch
  Value capacity{};  // places of a cache

  // The larger of two sizes; the first where there is no other.
  Value Larger(Value x, Value y) const {
    if (!y) return x;
    const auto a = ConstantInts(x), c = ConstantInts(y);
    if (a && c) return b.ConstantInts({std::max(a->front(), c->front())});
    return b.Make<ops::Max>({x, y});
  }

  // The cache with x [B, heads, S, D] in its places, and zeros after it; null where it is known not to fit.
  Value Write(Value past, Value x) const {
    if (!past && ConstantInts(capacity) == Ints{x.type().dim(2)}) return x;
    const Value added = past ? b.Make<ops::Sub>({capacity, DimOf(b, past, 2)}) : capacity;
    const Value shape = ops::JoinDims(b, {DimOf(b, x, 0), DimOf(b, x, 1), added, DimOf(b, x, 3)});
    const Value zero = b.ConstantScalar(ops::ElementTypeOf(x), 0);
    const Value zeros = b.Make<ops::Expand>({zero, shape});
    const Value places = past ? b.Make<ops::Concat>({past, zeros}, {.axis = 2}) : zeros;
    const int64_t held = places.type().dim(2), rows = x.type().dim(2);
    if (IsStaticDim(held) && IsStaticDim(rows) && rows > held) return {};
    const Value written = b.Make<ops::TensorScatter>({places, x, first}, {.axis = 2});
    if (!past) return written;
    const Value offset = b.Make<ops::Sub>({ops::CountTo(b, capacity), before});  // [B, places]
    const Value is_used = UnsqueezeAt(b, b.Make<ops::Less>({offset, queries}), {1, 3});
    return b.Make<ops::Where>({is_used, written, zero});
  }
  // [B, S] of the queries.
  Value OfQueries() const { return b.Make<ops::Add>({ops::CountTo(b, queries), before}); }
  // Whether a query sees a key: [B, 1, S, total].
  Value Visible(int64_t window) const {
    const Value query = UnsqueezeAt(b, OfQueries(), {1, 3});
    const Value key = ops::CountTo(b, total);
    const Value causal = b.Make<ops::LessOrEqual>({key, query});
    if (window < 0) return causal;
    const Value size = b.ConstantScalar(DataType::kI64, static_cast<double>(window));
    return b.Make<ops::And>({causal, b.Make<ops::Greater>({key, b.Make<ops::Sub>({query, size})})});
  }
};

// As a tensor of one element.
Value TotalOf(Builder& b, Value given) {
  if (const auto known = ConstantInts(given); known && known->size() == 1)
    return b.ConstantInts(*known);
  return ops::ReshapeTo(b, ops::CastTo(b, given, DataType::kI64), {b.ConstantInts({1})});
}

// Of each head, or zeros for a smooth softmax, which adds 1 to the sum of exponentials.
Value SinkOf(Builder& b, Value given, const GroupQueryAttention::Attrs<Plain>& attrs,
             DataType dtype) {
  if (given || attrs.smooth_softmax.value_or(0) <= 0) return given;
  return b.Make<ops::Expand>({b.ConstantScalar(dtype, 0), b.ConstantInts({attrs.num_heads})});
}

bool IsQuantised(const std::optional<std::string>& type) { return type && *type != "NONE"; }

}  // namespace

std::vector<Value> GroupQueryAttention::Decompose(Builder& b, std::span<const Value> operands,
                                                  const Attrs<Plain>& attrs, size_t num_results) {
  const Value past_k = OperandOrNull(operands, 3), past_v = OperandOrNull(operands, 4);
  const DataType dtype = ops::ElementTypeOf(operands[0]);
  if (!AllTyped(operands) || num_results > 3 || IsQuantised(attrs.k_quant_type) ||
      IsQuantised(attrs.v_quant_type))
    return {};
  if (past_k && (ops::ElementTypeOf(past_k) != dtype || ops::ElementTypeOf(past_v) != dtype))
    return {};
  Core core{.b = b, .scale = attrs.scale, .softcap = attrs.softcap};
  if (const Value key = OperandOrNull(operands, 1)) {
    core.q = ops::SplitHeads(b, operands[0], attrs.num_heads);
    core.k = ops::SplitHeads(b, key, attrs.kv_num_heads);
    core.v = ops::SplitHeads(b, operands[2], attrs.kv_num_heads);
  } else {
    const int64_t heads = attrs.num_heads, kv_heads = attrs.kv_num_heads;
    const Value all = ops::SplitHeads(b, operands[0], heads + 2 * kv_heads);
    const auto part = [&](int64_t begin, int64_t end) {
      return ops::SliceOf(b, all, begin, end, 1);
    };
    core.q = part(0, heads);
    core.k = part(heads, heads + kv_heads);
    core.v = part(heads + kv_heads, heads + 2 * kv_heads);
  }
  Places places{.b = b, .queries = DimOf(b, core.q, 2), .total = TotalOf(b, operands[6])};
  places.capacity = places.Larger(places.total, past_k ? DimOf(b, past_k, 2) : Value());
  const Value one = b.ConstantScalar(DataType::kI64, 1), zero = b.ConstantScalar(DataType::kI64, 0);
  const Value used = b.Make<ops::Add>({ops::CastTo(b, operands[5], DataType::kI64), one});
  places.first = b.Make<ops::Max>({b.Make<ops::Sub>({used, places.queries}), zero});
  places.before = UnsqueezeAt(b, places.first, {1});
  if (attrs.do_rotary != 0) {
    const Value given = OperandOrNull(operands, 9);
    const Value ids = given ? given : places.OfQueries();
    const int64_t pairs = operands[7].type().dim(1);
    if (!IsStaticDim(pairs) || pairs == 0) return {};
    for (Value* x : {&core.q, &core.k})
      *x = b.Make<ops::RotaryEmbedding>(
          {*x, operands[7], operands[8], ids},
          {.interleaved = attrs.rotary_interleaved, .rotary_embedding_dim = 2 * pairs});
  }
  core.k = places.Write(past_k, core.k);
  core.v = places.Write(past_v, core.v);
  if (!core.k || !core.v) return {};
  const Value visible = places.Visible(attrs.local_window_size), bias = OperandOrNull(operands, 10);
  core.mask = bias ? b.Make<ops::Where>({visible, bias, ops::ScalarLike(b, bias, kNever)})
                   : Hidden(b, visible, dtype);
  const auto seen = ConstantInts(places.total);
  if (past_k && (!seen || ConstantInts(places.capacity) != seen)) core.seen = places.total;
  core.sink = SinkOf(b, OperandOrNull(operands, 11), attrs, dtype);
  return core.Build(num_results);
}

std::vector<Value> RotaryEmbedding::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  const Value x = operands[0];
  if (!AllTyped(operands) || attrs.is_packed_batching.value_or(0) != 0 ||
      attrs.scale.value_or(1) != 1)
    return {};
  const int64_t pairs = operands[2].type().dim(1);
  int64_t heads = attrs.num_heads;
  if (!IsStaticDim(pairs) || pairs == 0) return {};
  const bool merged = x.type().rank() == 3;
  if (merged && heads == 0) {
    if (!IsStaticDim(x.type().dim(2))) return {};
    heads = x.type().dim(2) / (2 * pairs);
    if (heads == 0) return {};
  }
  if (!IsStaticDim(x.type().dim(merged ? 2 : 3))) return {};
  Value ids = operands[1];
  if (ids.type().rank() == 1) {
    const Value sequence = DimOf(b, x, merged ? 1 : 2);
    const Value row = b.Make<ops::Add>({ops::CountTo(b, sequence), ids});
    ids = b.Make<ops::Expand>({row, ops::JoinDims(b, {DimOf(b, x, 0), sequence})});
  }
  ops::RotaryEmbedding::Attrs<BuilderSlot> same{.interleaved = attrs.interleaved,
                                                .rotary_embedding_dim = 2 * pairs};
  if (merged) same.num_heads = heads;
  return {b.Make<ops::RotaryEmbedding>({x, operands[2], operands[3], ids}, same)};
}

}  // namespace weft::ir::microsoft
