// The reference bodies of Attention, RotaryEmbedding and CausalConvWithState.
#include <cmath>
#include <limits>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/math.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"
#include "ir/dialects/onnx/nn/attention.h"
#include "ir/dialects/onnx/nn/conv.h"
#include "ir/dialects/onnx/nn/heads.h"
#include "ir/dialects/onnx/nn/normalization.h"

namespace weft::ir::ops {

Value SplitHeads(Builder& b, Value x, std::optional<int64_t> heads) {
  if (x.type().rank() == 4) return x;
  const int64_t columns = x.type().dim(2);
  const Value count = b.ConstantInts({*heads});
  Value depth = b.ConstantInts({IsStaticDim(columns) ? columns / *heads : -1});
  if (!IsStaticDim(columns) && (x.type().dim(0) == 0 || x.type().dim(1) == 0))
    depth = b.Make<Div>({DimOf(b, x, 2), count});  // nothing follows from no elements
  const Value split = ReshapeTo(b, x, {DimOf(b, x, 0), DimOf(b, x, 1), count, depth});
  return b.Make<Transpose>({split}, {.perm = {0, 2, 1, 3}});
}

Value MergeHeads(Builder& b, Value x) {
  const int64_t heads = x.type().dim(1), depth = x.type().dim(3);
  const bool known = IsStaticDim(heads) && IsStaticDim(depth);
  const Value swapped = b.Make<Transpose>({x}, {.perm = {0, 2, 1, 3}});
  Value columns = b.ConstantInts({known ? heads * depth : -1});
  if (!known && (x.type().dim(0) == 0 || x.type().dim(2) == 0))
    columns = b.Make<Mul>({DimOf(b, x, 1), DimOf(b, x, 3)});
  return ReshapeTo(b, swapped, {DimOf(b, swapped, 0), DimOf(b, swapped, 1), columns});
}

Value RepeatHeads(Builder& b, Value x, Value heads, int64_t times) {
  return times == 1 ? x : RepeatHeads(b, x, heads, b.ConstantInts({times}));
}

Value RepeatHeads(Builder& b, Value x, Value heads, Value times) {
  const Value one = b.ConstantInts({1});
  const Value shape = JoinDims(b, {one, one, times, one, one});
  const Value repeated = b.Make<Expand>({UnsqueezeAt(b, x, {2}), shape});
  return ReshapeTo(b, repeated, {DimOf(b, x, 0), heads, DimOf(b, x, 2), DimOf(b, x, 3)});
}

namespace {

bool HasRank(Value x) { return x.type().HasRank(); }

struct Scores {
  Builder& b;
  Value raw;      // of every query and key
  Value queries;  // how many
  Value keys;

  Value Never() const { return ScalarLike(b, raw, -std::numeric_limits<double>::infinity()); }
  Value Where(Value keep, Value x) const { return b.Make<ops::Where>({keep, x, Never()}); }
  // Of the key that stands `before` places after the first for the first query, none later.
  Value Causal(Value before) const {
    const Value rows = UnsqueezeAt(b, CountTo(b, queries), {1});
    return b.Make<LessOrEqual>({CountTo(b, keys), b.Make<Add>({rows, before})});
  }
  // The mask, which has one for each of the first keys: nothing for the others.
  Value Complete(Value mask) const {
    const size_t rank = mask.type().rank();
    const Value columns = DimOf(b, mask, rank - 1);
    if (IsStaticDim(mask.type().dims().back()) && mask.type().dims().back() == raw.type().dim(3))
      return mask;
    const Value zeros = b.ConstantInts(Ints(2 * rank - 1, 0));
    const Value pads = b.Make<Concat>({zeros, b.Make<Sub>({keys, columns})}, {.axis = 0});
    const bool is_bool = ElementTypeOf(mask) == DataType::kBool;
    const Value fill = is_bool ? b.ConstantScalar(DataType::kBool, 0) : Never();
    return b.Make<Pad>({mask, pads, fill});
  }
};

// A row in which nothing takes part is all zero.
Value SoftmaxOfSome(Builder& b, Value x, bool may_be_none) {
  const Value y = b.Make<Softmax>({x}, {.axis = -1});
  if (!may_be_none) return y;
  return b.Make<Where>({b.Make<IsNaN>({y}), ScalarLike(b, y, 0), y});
}

// The scores with all that keeps keys out.
Value Masked(const Scores& scores, Value x, std::span<const Value> operands, bool causal) {
  Builder& b = scores.b;
  const Value mask = OperandOrNull(operands, 3), past = OperandOrNull(operands, 4),
              lengths = OperandOrNull(operands, 6);
  if (mask) {
    const bool is_bool = ElementTypeOf(mask) == DataType::kBool;
    const Value full = scores.Complete(is_bool ? mask : CastTo(b, mask, ElementTypeOf(x)));
    x = is_bool ? scores.Where(full, x) : b.Make<Add>({x, full});
  }
  Value before = b.ConstantInts({0});
  if (past) before = DimOf(b, past, 2);
  if (lengths) {
    const Value used = UnsqueezeAt(b, lengths, {1, 2, 3});
    before = b.Make<Sub>({used, scores.queries});
    x = scores.Where(b.Make<Less>({CountTo(b, scores.keys), used}), x);
  }
  if (!causal) return x;
  const Value none = ScalarLike(b, x, 0);
  return b.Make<Add>({x, b.Make<ops::Where>({scores.Causal(before), none, scores.Never()})});
}

}  // namespace

std::vector<Value> Attention::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs, size_t num_results) {
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] && (!HasRank(operands[i]) || ElementTypeOf(operands[i]) == DataType::kNull))
      return {};
  const Value q = SplitHeads(b, operands[0], attrs.q_num_heads);
  Value k = SplitHeads(b, operands[1], attrs.kv_num_heads);
  Value v = SplitHeads(b, operands[2], attrs.kv_num_heads);
  const int64_t heads = q.type().dim(1), shared = k.type().dim(1), depth = q.type().dim(3);
  if (!IsStaticDim(heads) || !IsStaticDim(shared) || shared == 0) return {};
  if (!attrs.scale && !IsStaticDim(depth)) return {};
  if (const Value past = OperandOrNull(operands, 4)) k = b.Make<Concat>({past, k}, {.axis = 2});
  if (const Value past = OperandOrNull(operands, 5)) v = b.Make<Concat>({past, v}, {.axis = 2});

  const DataType dtype = ElementTypeOf(q);
  const double scale = attrs.scale ? double{*attrs.scale} : 1 / std::sqrt(double(depth));
  const Value all = DimOf(b, q, 1);
  const Value keys =
      b.Make<Transpose>({RepeatHeads(b, k, all, heads / shared)}, {.perm = {0, 1, 3, 2}});
  const Value raw = Scaled(b, b.Make<MatMul>({q, keys}), scale);
  const Scores scores{b, raw, DimOf(b, q, 2), DimOf(b, k, 2)};
  Value stages[4] = {raw, raw, {}, {}};
  if (attrs.softcap != 0)
    stages[1] = Scaled(b, b.Make<Tanh>({Scaled(b, raw, 1 / double{attrs.softcap})}), attrs.softcap);
  stages[2] = Masked(scores, stages[1], operands, attrs.is_causal != 0);
  const auto precision = static_cast<DataType>(attrs.softmax_precision.value_or(int64_t(dtype)));
  // Every query sees the first key, unless something else keeps that out.
  const bool may_be_none = OperandOrNull(operands, 3) || OperandOrNull(operands, 6);
  stages[3] = CastTo(b, SoftmaxOfSome(b, CastTo(b, stages[2], precision), may_be_none), dtype);
  const Value values = CastTo(b, RepeatHeads(b, v, all, heads / shared), dtype);
  const Value y = b.Make<MatMul>({stages[3], values});
  std::vector<Value> results = {operands[0].type().rank() == 3 ? MergeHeads(b, y) : y, k, v,
                                stages[attrs.qk_matmul_output_mode]};
  results.resize(num_results);
  return results;
}

std::vector<Value> RotaryEmbedding::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  for (const Value v : operands)
    if (v && !HasRank(v)) return {};
  const Value x = SplitHeads(b, operands[0], attrs.num_heads);
  const int64_t depth = x.type().dim(3);
  if (!IsStaticDim(depth)) return {};
  const int64_t turned = attrs.rotary_embedding_dim == 0 ? depth : attrs.rotary_embedding_dim;
  const Value begin = b.ConstantInts({0}), end = b.ConstantInts({turned}),
              half = b.ConstantInts({turned / 2}), last = b.ConstantInts({3});
  const auto pick = [&](Value first, Value past, int64_t step) {
    return b.Make<Slice>({x, first, past, last, b.ConstantInts({step})});
  };
  const bool mixed = attrs.interleaved != 0;
  const Value real = mixed ? pick(begin, end, 2) : pick(begin, half, 1);
  const Value imaginary = mixed ? pick(b.ConstantInts({1}), end, 2) : pick(half, end, 1);
  const auto angles = [&](Value cache) {  // [B, 1, S, pairs]
    const Value ids = OperandOrNull(operands, 3);
    return UnsqueezeAt(b, ids ? b.Make<Gather>({cache, ids}, {.axis = 0}) : cache, {1});
  };
  const Value cos = angles(operands[1]), sin = angles(operands[2]);
  std::vector<Value> parts = {
      b.Make<Sub>({b.Make<Mul>({cos, real}), b.Make<Mul>({sin, imaginary})}),
      b.Make<Add>({b.Make<Mul>({sin, real}), b.Make<Mul>({cos, imaginary})})};
  Value y;
  if (mixed) {
    for (Value& part : parts) part = UnsqueezeAt(b, part, {4});
    y = ReshapeTo(b, b.Make<Concat>(parts, {.axis = 4}),
                  {DimOf(b, x, 0), DimOf(b, x, 1), DimOf(b, x, 2), end});
  } else {
    y = b.Make<Concat>(parts, {.axis = 3});
  }
  if (turned < depth)
    y = b.Make<Concat>({y, SliceOf(b, x, end, b.ConstantInts({depth}), 3)}, {.axis = 3});
  return {operands[0].type().rank() == 3 ? MergeHeads(b, y) : y};
}

std::vector<Value> CausalConvWithState::Decompose(Builder& b, std::span<const Value> operands,
                                                  const Attrs<Plain>& attrs) {
  const Value weight = operands[1];
  Value x = operands[0];
  if (!HasRank(x) || !HasRank(weight) || ElementTypeOf(x) == DataType::kNull) return {};
  const int64_t channels = weight.type().dim(0), taps = weight.type().dim(2);
  if (!IsStaticDim(channels) || !IsStaticDim(taps)) return {};
  const Value past = OperandOrNull(operands, 3), before = b.ConstantInts({taps - 1});
  const Value length = DimOf(b, x, 2);
  if (past) {
    x = b.Make<Concat>({past, x}, {.axis = 2});
  } else {
    x = b.Make<Pad>({x, b.ConstantInts({0, 0, taps - 1, 0, 0, 0}), ScalarLike(b, x, 0)});
  }
  std::vector<Value> inputs = {x, weight};
  if (const Value bias = OperandOrNull(operands, 2)) inputs.push_back(bias);
  Value y = b.Make<Conv>(inputs, {.group = channels});
  if (attrs.activation != CausalActivation::kNone) y = b.Make<Mul>({y, b.Make<Sigmoid>({y})});
  const Value end = b.Make<Add>({length, before});
  return {y, SliceOf(b, x, length, end, 2)};
}

}  // namespace weft::ir::ops
