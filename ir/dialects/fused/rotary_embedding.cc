#include "ir/dialects/fused/rotary_embedding.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/agreed.h"

namespace weft::ir::fused {
namespace {

// Operand i holds the cosines or the sines for an x of shape `dims`, whose columns are known.
bool AgreeOnAngles(InferContext& c, size_t i, Shape& dims) {
  if (!c.Ranked(i)) return true;
  const int64_t columns = dims.back(), given = DimsOf(c, i)->back();
  Shape to = dims;
  if (given == columns / 2) {
    to.back() = given;
  } else if (!MergeDim(c, given, columns)) {
    return c.Fail(fmt::format("{} has shape {}, whose last dimension is not {} or half of it",
                              OperandName(c, i), ToString(*DimsOf(c, i)), columns));
  }
  if (!AgreeOnBroadcast(c, i, to)) return false;
  std::copy(to.begin(), to.end() - 1, dims.begin());
  return true;
}

// The first columns of all pairs of x, and the second ones.
struct Pairs {
  Value first, second;
};
Pairs PairsOf(Builder& b, Value x, bool interleaved) {
  const auto last = static_cast<int64_t>(x.type().rank()) - 1;
  const int64_t half = x.type().dims().back() / 2;
  if (!interleaved) {
    const Operation split =
        b.Create<ops::Split>({x, b.ConstantInts({half, half})}, {.axis = last}, 2);
    return {split.result(0), split.result(1)};
  }
  const auto from = [&](int64_t start) {
    return b.Make<ops::Slice>({x, b.ConstantInts({start}),
                               b.ConstantInts({std::numeric_limits<int64_t>::max()}),
                               b.ConstantInts({last}), b.ConstantInts({2})});
  };
  return {from(0), from(1)};
}

Value JoinPairs(Builder& b, const Pairs& pairs, Value x, bool interleaved) {
  const auto rank = static_cast<int64_t>(x.type().rank());
  if (!interleaved) return b.Make<ops::Concat>({pairs.first, pairs.second}, {.axis = rank - 1});
  const Value stacked = b.Make<ops::Concat>(
      {ops::UnsqueezeAt(b, pairs.first, {rank}), ops::UnsqueezeAt(b, pairs.second, {rank})},
      {.axis = rank});
  Ints dims(static_cast<size_t>(rank), 0);  // as they are
  dims.back() = x.type().dims().back();
  return b.Make<ops::Reshape>({stacked, b.ConstantInts(dims)});
}

}  // namespace

bool RotaryEmbedding::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0)) return false;
  for (size_t i = 0; i < 3; ++i)
    if (!CheckRank(c, i, 1, SIZE_MAX)) return false;
  Dims dims = DimsOf(c, 0);
  if (!dims || !IsStaticDim(dims->back())) return SetTensor(c, 0, dtype, dims);
  if (dims->back() % 2 != 0) return c.Fail(fmt::format("{} columns are no pairs", dims->back()));
  return AgreeOnAngles(c, 1, *dims) && AgreeOnAngles(c, 2, *dims) && SetTensor(c, 0, dtype, dims);
}

std::vector<Value> RotaryEmbedding::Decompose(Builder& b, std::span<const Value> operands,
                                              const Attrs<Plain>& attrs) {
  const Value x = operands[0], cos = operands[1], sin = operands[2];
  for (const Value v : operands)
    if (!v.type().HasRank()) return {};
  const int64_t columns = x.type().dims().back();
  if (!IsStaticDim(columns)) return {};
  const Pairs pairs = PairsOf(b, x, attrs.interleaved);
  const auto times = [&](Value v, Value w) { return b.Make<ops::Mul>({v, w}); };
  const auto have = [&](int64_t count) {
    return cos.type().dims().back() == count && sin.type().dims().back() == count;
  };
  if (have(columns)) {
    const Pairs partners = {b.Make<ops::Neg>({pairs.second}), pairs.first};
    return {b.Make<ops::Add>(
        {times(x, cos), times(JoinPairs(b, partners, x, attrs.interleaved), sin)})};
  }
  if (!have(columns / 2)) return {};
  const Pairs turned = {b.Make<ops::Sub>({times(pairs.first, cos), times(pairs.second, sin)}),
                        b.Make<ops::Add>({times(pairs.second, cos), times(pairs.first, sin)})};
  return {JoinPairs(b, turned, x, attrs.interleaved)};
}

}  // namespace weft::ir::fused
