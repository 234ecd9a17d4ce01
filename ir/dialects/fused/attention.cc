#include "ir/dialects/fused/attention.h"

#include <fmt/format.h>

#include <optional>

#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/nn/heads.h"

namespace weft::ir::fused {
namespace {

Value SwapHeadsAndSequence(Builder& b, Value x) {
  return b.Make<ops::Transpose>({x}, {.perm = {0, 2, 1, 3}});
}

struct Agreed {  // a dimension that several operands have
  std::string_view name;
  bool body_broadcasts = false;  // so that only this op demands one size
  int64_t dim = kUnknownDim;
  size_t from = 0;
  bool seen = false;
};

std::string SizeText(int64_t dim) {
  return IsStaticDim(dim) ? std::to_string(dim) : ToString({&dim, 1});
}

bool Agree(InferContext& c, Agreed* agreed, size_t operand, int64_t dim) {
  const bool must_prove = agreed->body_broadcasts && agreed->seen;
  const auto merged = must_prove ? MergeDim(c, agreed->dim, dim) : MergeDim(agreed->dim, dim);
  if (!merged)
    return c.Fail(fmt::format("{} has {} {} but {} has {}", OperandName(c, agreed->from),
                              SizeText(agreed->dim), agreed->name, OperandName(c, operand),
                              SizeText(dim)));
  agreed->seen = true;
  if (agreed->dim == kUnknownDim) agreed->from = operand;
  agreed->dim = *merged;
  return true;
}

// Heads of k and v may serve several of q each.
bool CheckHeads(InferContext& c, int64_t q, int64_t k) {
  if (IsStaticDim(q) && IsStaticDim(k)) {
    if (q == k || (k > 0 && q % k == 0)) return true;
  } else if (MergeDim(c, q, k)) {
    return true;
  }
  return c.Fail(fmt::format("{} has {} heads, {}a multiple of the {} of {}", OperandName(c, 0),
                            SizeText(q), c.must_prove() ? "not provably " : "not ", SizeText(k),
                            OperandName(c, 1)));
}

// The heads of the scores, as q or what is added to them or masks them says.
int64_t HeadsOf(std::span<const Value> operands, size_t heads_at) {
  const int64_t of_q =
      operands[0].type().HasRank() ? operands[0].type().dim(heads_at) : kUnknownDim;
  if (IsStaticDim(of_q)) return of_q;
  for (const size_t i : {3, 4}) {
    const Value mask = OperandOrNull(operands, i);
    if (!mask || !mask.type().HasRank() || mask.type().rank() < 3) continue;
    const int64_t heads = mask.type().dim(mask.type().rank() - 3);
    if (IsStaticDim(heads) && heads != 1) return heads;
  }
  return of_q;
}

// How many of the heads each of x serves; nothing where only the run knows. What is not known at all is taken to be as
// many, as it is where a product was matched.
std::optional<int64_t> Sharing(Value x, int64_t heads, size_t heads_at) {
  const int64_t from = x.type().HasRank() ? x.type().dim(heads_at) : kUnknownDim;
  if (heads == from || heads == kUnknownDim || from == kUnknownDim || from == 0) return 1;
  if (!IsStaticDim(heads) || !IsStaticDim(from)) return std::nullopt;
  return heads / from;
}

// x, [B, n, S, D], with as many heads: those of q, of this shape too, where only the run knows them.
Value WithHeads(Builder& b, Value x, Value q, int64_t heads, std::optional<int64_t> times) {
  const Value count = IsStaticDim(heads) ? b.ConstantInts({heads}) : ops::DimOf(b, q, 1);
  if (times) return ops::RepeatHeads(b, x, count, *times);
  return ops::RepeatHeads(b, x, count, b.Make<ops::Div>({count, ops::DimOf(b, x, 1)}));
}

}  // namespace

bool Attention::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckFloat(c, 0) ||
      !CheckDtype(c, 4, DataType::kBool))
    return false;
  for (size_t i = 0; i < 3; ++i)
    if (!CheckRank(c, i, 4)) return false;
  const bool bshd = c.attrs_of<Attention>().layout == AttentionLayout::kBshd;
  const size_t heads_at = bshd ? 2 : 1, sequence_at = bshd ? 1 : 2;
  const Shape unknown(4, kUnknownDim);
  const Shape q = DimsOf(c, 0).value_or(unknown), k = DimsOf(c, 1).value_or(unknown),
              v = DimsOf(c, 2).value_or(unknown);
  Agreed batch{"batches", true}, heads{"heads", true}, keys{"keys"}, depth{"columns"};
  if (!Agree(c, &batch, 0, q[0]) || !Agree(c, &batch, 1, k[0]) || !Agree(c, &batch, 2, v[0]) ||
      !Agree(c, &heads, 1, k[heads_at]) || !Agree(c, &heads, 2, v[heads_at]) ||
      !CheckHeads(c, q[heads_at], heads.dim) || !Agree(c, &keys, 1, k[sequence_at]) ||
      !Agree(c, &keys, 2, v[sequence_at]) || !Agree(c, &depth, 0, q[3]) ||
      !Agree(c, &depth, 1, k[3]))
    return false;
  Shape scores = {batch.dim, q[heads_at], q[sequence_at], keys.dim};
  if (!AgreeOnBroadcast(c, 3, scores) || !AgreeOnBroadcast(c, 4, scores) ||
      !CheckHeads(c, scores[1], heads.dim))
    return false;
  Shape dims = {scores[0], scores[1], scores[2], v[3]};
  if (bshd) std::swap(dims[1], dims[2]);
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> Attention::Decompose(Builder& b, std::span<const Value> operands,
                                        const Attrs<Plain>& attrs) {
  Value q = operands[0], k = operands[1], v = operands[2];
  const bool bshd = attrs.layout == AttentionLayout::kBshd;
  const size_t heads_at = bshd ? 2 : 1;
  const int64_t heads = HeadsOf(operands, heads_at);
  const auto k_times = Sharing(k, heads, heads_at), v_times = Sharing(v, heads, heads_at);
  const bool swaps_k = bshd && k_times == 1;  // in one step with the transposition
  if (bshd) {
    q = SwapHeadsAndSequence(b, q);
    v = SwapHeadsAndSequence(b, v);
    if (!swaps_k) k = SwapHeadsAndSequence(b, k);
  }
  if (k_times != 1) k = WithHeads(b, k, q, heads, k_times);
  if (v_times != 1) v = WithHeads(b, v, q, heads, v_times);
  k = b.Make<ops::Transpose>({k}, {.perm = swaps_k ? Ints{0, 2, 3, 1} : Ints{0, 1, 3, 2}});
  Value scores = b.Make<ops::MatMul>({q, k});
  scores = b.Make<ops::Mul>({scores, b.ConstantScalar(q.type().dtype(), attrs.scale)});
  if (const Value keep = OperandOrNull(operands, 4))
    scores = b.Make<ops::Where>({keep, scores, b.ConstantScalar(q.type().dtype(), attrs.fill)});
  scores = AddIfGiven(b, scores, operands, 3);
  Value weights = b.Make<ops::Softmax>({scores}, {.axis = -1});
  if (attrs.zero_nan) {
    const Value zero = b.ConstantScalar(q.type().dtype(), 0);
    weights = b.Make<ops::Where>({b.Make<ops::IsNaN>({weights}), zero, weights});
  }
  const Value out = b.Make<ops::MatMul>({weights, v});
  return {bshd ? SwapHeadsAndSequence(b, out) : out};
}

}  // namespace weft::ir::fused
