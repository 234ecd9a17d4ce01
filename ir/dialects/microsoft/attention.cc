#include "ir/dialects/microsoft/attention.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/nn/heads.h"

namespace weft::ir::microsoft {
namespace {

using ops::kMaxHeads;

bool CheckHeads(InferContext& c, std::string_view name, int64_t heads) {
  return (heads >= 1 && heads <= kMaxHeads) || c.Fail(fmt::format("{} is {}", name, heads));
}

// A number of columns, shared out between heads.
bool Share(InferContext& c, size_t i, int64_t columns, int64_t heads, int64_t* depth) {
  *depth = kUnknownDim;
  if (!IsStaticDim(columns)) return true;
  if (columns % heads != 0)
    return c.Fail(fmt::format("{} has {} columns for {} heads", OperandName(c, i), columns, heads));
  *depth = columns / heads;
  return true;
}

// Operand i as [B, heads, S, D]; unknown where it is.
bool Headed(InferContext& c, size_t i, int64_t heads, Shape* dims) {
  dims->assign(4, kUnknownDim);
  if (!CheckRank(c, i, 3, 4)) return false;
  const Dims given = DimsOf(c, i);
  if (!given) return true;
  if (given->size() == 3) {
    *dims = {(*given)[0], heads, (*given)[1], kUnknownDim};
    return Share(c, i, (*given)[2], heads, &(*dims)[3]);
  }
  *dims = *given;
  const auto merged = MergeDim((*given)[1], heads);
  if (!merged)
    return c.Fail(fmt::format("{} has {} heads, not {}", OperandName(c, i), (*given)[1], heads));
  (*dims)[1] = *merged;
  return true;
}

// Operand i, [B, S, heads, parts, D], as each of its parts.
bool Packed(InferContext& c, size_t i, int64_t heads, int64_t parts, Shape* dims) {
  dims->assign(4, kUnknownDim);
  const Shape expected = {kUnknownDim, kUnknownDim, heads, parts, kUnknownDim};
  if (!CheckRank(c, i, 5) || !CheckShape(c, i, expected)) return false;
  if (const Dims given = DimsOf(c, i)) *dims = {(*given)[0], heads, (*given)[1], (*given)[4]};
  return true;
}

bool IsRank(const InferContext& c, size_t i, size_t rank) {
  return c.Ranked(i) && c.operand_type(i).rank() == rank;
}

// What the attentions have in common: [B, heads, S, D] of each, and the number of keys in all.
struct Sizes {
  Shape q, k, v;
  int64_t past = 0, total = kUnknownDim;
};

bool Agree(InferContext& c, Sizes* s, std::array<size_t, 3> operands) {
  AgreedDim batch("batches"), depth("columns"), keys("keys");
  const auto& [q, k, v] = operands;
  if (!batch.Add(c, q, s->q[0]) || !depth.Add(c, q, s->q[3]) || !batch.Add(c, k, s->k[0]) ||
      !depth.Add(c, k, s->k[3]) || !keys.Add(c, k, s->k[2]) || !batch.Add(c, v, s->v[0]) ||
      !keys.Add(c, v, s->v[2]))
    return false;
  for (Shape* dims : {&s->q, &s->k, &s->v}) (*dims)[0] = batch.dim();
  s->q[3] = s->k[3] = depth.dim();
  s->k[2] = s->v[2] = keys.dim();
  const int64_t both[] = {s->past, keys.dim()};
  const auto total = SumOf(both);
  if (!total) return c.Fail("the keys are too many");
  s->total = *total;
  return true;
}

// [B, S, heads * D of v]
bool SetMerged(InferContext& c, DataType dtype, const Sizes& s) {
  const int64_t columns[] = {s.q[1], s.v[3]};
  const auto product = ProductOf(columns);
  if (!product) return c.Fail("the result is too large");
  return SetTensor(c, 0, dtype, Shape{s.q[0], s.q[2], *product});
}

// Operand i broadcasts to these dimensions of the scores, and says what is not known of them.
bool AgreeOnScores(InferContext& c, size_t i, std::initializer_list<size_t> at, Shape* scores) {
  Shape dims;
  for (const size_t d : at) dims.push_back((*scores)[d]);
  if (!CheckBroadcastsTo(c, i, dims)) return false;
  const Shape given = DimsOf(c, i).value_or(Shape());
  for (size_t n = 1; n <= given.size(); ++n) {
    int64_t& dim = (*scores)[at.begin()[at.size() - n]];
    const int64_t other = given[given.size() - n];
    if (!IsStaticDim(dim) && IsStaticDim(other) && other != 1) dim = other;
  }
  return true;
}

// A mask of the forms that mask_index has; scores is [B, heads, S, keys].
bool CheckMaskIndex(InferContext& c, size_t i, Shape* scores) {
  if (!CheckDtype(c, i, DataType::kI32) || !CheckRank(c, i, 1, 4)) return false;
  if (IsRank(c, i, 2)) return AgreeOnScores(c, i, {0, 3}, scores);
  return !IsRank(c, i, 3) || AgreeOnScores(c, i, {0, 2, 3}, scores);
}

// One for each query and key: ONNX Runtime broadcasts batches and heads only.
bool CheckScoreBias(InferContext& c, size_t i, Shape* scores) {
  const int64_t shape[] = {kUnknownDim, kUnknownDim, (*scores)[2], (*scores)[3]};
  return CheckRank(c, i, 4) && CheckShape(c, i, shape) &&
         (!c.Ranked(i) || AgreeOnScores(c, i, {0, 1, 2, 3}, scores));
}

// Operand i is a vector of `parts` in a row.
bool CheckBias(InferContext& c, size_t i, std::span<const int64_t> parts) {
  const auto size = SumOf(parts);
  if (!size) return c.Fail("the columns are too many");
  return CheckRank(c, i, 1) && CheckShape(c, i, {&*size, 1});
}

// Columns of q, k and v.
bool SplitColumns(InferContext& c, const Attention::Attrs<Plain>& attrs, Shape* columns) {
  columns->assign(3, kUnknownDim);
  if (attrs.qkv_hidden_sizes && !attrs.qkv_hidden_sizes->empty()) {
    const Ints& sizes = *attrs.qkv_hidden_sizes;
    for (int64_t size : sizes)
      if (size < 1 || size > INT32_MAX) return c.Fail(fmt::format("a hidden size is {}", size));
    if (sizes.size() != 3 || sizes[0] != sizes[1])
      return c.Fail(fmt::format("qkv_hidden_sizes is {}", IntsText(sizes)));
    *columns = sizes;
    return true;
  }
  const Dims weights = DimsOf(c, 1);
  if (!weights || !IsStaticDim((*weights)[1])) return true;
  if ((*weights)[1] % 3 != 0)
    return c.Fail(fmt::format("weights has {} columns for q, k and v", (*weights)[1]));
  columns->assign(3, (*weights)[1] / 3);
  return true;
}

}  // namespace

bool Attention::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Attention>();
  DataType dtype;
  Shape columns;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 4, 5}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3) || !CheckRank(c, 1, 2) || !CheckRank(c, 4, 5))
    return false;
  if (!c.attrs().Get("num_heads")) return c.Unknown();
  if (!CheckHeads(c, "num_heads", attrs.num_heads) || !SplitColumns(c, attrs, &columns) ||
      !CheckBias(c, 2, columns))
    return false;
  const Shape x = DimsOf(c, 0).value_or(Shape(3, kUnknownDim));
  const auto all = SumOf(columns);
  if (!all) return c.Fail("the columns are too many");
  const Shape weights = {x[2], *all};
  if (!CheckShape(c, 1, weights)) return false;
  Sizes s;
  for (Shape* dims : {&s.q, &s.k, &s.v}) *dims = {x[0], attrs.num_heads, x[1], kUnknownDim};
  if (!Share(c, 1, columns[0], attrs.num_heads, &s.q[3]) ||
      !Share(c, 1, columns[2], attrs.num_heads, &s.v[3]))
    return false;
  s.k[3] = s.q[3];
  Shape past = {2, s.q[0], attrs.num_heads, kUnknownDim, s.q[3]};
  if (!CheckShape(c, 4, past)) return false;
  if (c.HasOperand(4)) s.past = DimsOf(c, 4).value_or(past)[3];
  if (c.HasOperand(4) && IsStaticDim(s.q[3]) && IsStaticDim(s.v[3]) && s.q[3] != s.v[3])
    return c.Fail("has a past, but keys and values of different sizes");
  AgreedDim batch("batches");
  if (!batch.Add(c, 0, s.q[0]) || (c.Ranked(4) && !batch.Add(c, 4, c.operand_type(4).dim(1))))
    return false;
  s.q[0] = batch.dim();
  if (!Agree(c, &s, {0, 0, 0})) return false;
  Shape scores = {s.q[0], attrs.num_heads, s.q[2], s.total};
  if (!CheckMaskIndex(c, 3, &scores) || !CheckScoreBias(c, 5, &scores)) return false;
  past[3] = s.total;
  return SetMerged(c, dtype, s) && SetTensor(c, 1, dtype, past);
}

bool MultiHeadAttention::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MultiHeadAttention>();
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3, 5, 6, 7}, &dtype) || !CheckFloat(c, 0))
    return false;
  if (!c.attrs().Get("num_heads")) return c.Unknown();
  if (!CheckHeads(c, "num_heads", attrs.num_heads)) return false;
  if (c.HasOperand(6) != c.HasOperand(7)) return c.Fail("has only one of past_key and past_value");
  Sizes s;
  const bool q_only = !c.HasOperand(1), kv = !q_only && !c.HasOperand(2);
  if (q_only && c.HasOperand(2)) return c.Fail("has a value but no key");
  if (q_only ? !Packed(c, 0, attrs.num_heads, 3, &s.q) : !Headed(c, 0, attrs.num_heads, &s.q))
    return false;
  s.k = s.v = s.q;
  if (kv && !Packed(c, 1, attrs.num_heads, 2, &s.k)) return false;
  if (kv) s.v = s.k;
  if (!q_only && !kv &&
      (!Headed(c, 1, attrs.num_heads, &s.k) || !Headed(c, 2, attrs.num_heads, &s.v)))
    return false;
  Shape past[2];
  for (size_t i : {0, 1}) {
    const Shape& like = i == 0 ? s.k : s.v;
    past[i] = {like[0], attrs.num_heads, kUnknownDim, like[3]};
    if (!CheckRank(c, 6 + i, 4) || !CheckShape(c, 6 + i, past[i])) return false;
  }
  AgreedDim before("keys");
  for (size_t i : {6, 7})
    if (c.HasOperand(i) && !before.Add(c, i, DimsOf(c, i).value_or(past[0])[2])) return false;
  if (c.HasOperand(6)) s.past = before.dim();
  AgreedDim batch("batches"), k_depth("columns"), v_depth("columns");
  const size_t k_at = q_only ? 0 : 1, v_at = q_only ? 0 : kv ? 1 : 2;
  if (!batch.Add(c, 0, s.q[0]) || !batch.Add(c, k_at, s.k[0]) || !batch.Add(c, v_at, s.v[0]) ||
      !k_depth.Add(c, k_at, s.k[3]) || !v_depth.Add(c, v_at, s.v[3]))
    return false;
  for (const auto& [i, depth, dims] :
       {std::tuple(6, &k_depth, &s.k), std::tuple(7, &v_depth, &s.v)}) {
    const auto at = static_cast<size_t>(i);
    if (!c.Ranked(at)) continue;
    if (!batch.Add(c, at, c.operand_type(at).dim(0)) ||
        !depth->Add(c, at, c.operand_type(at).dim(3)))
      return false;
    (*dims)[3] = depth->dim();
  }
  s.q[0] = batch.dim();
  if (!Agree(c, &s, {0, k_at, v_at})) return false;
  int64_t parts[3];
  const Shape* sizes[] = {&s.q, &s.k, &s.v};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t columns[] = {attrs.num_heads, (*sizes[i])[3]};
    const auto product = ProductOf(columns);
    if (!product) return c.Fail("the columns are too many");
    parts[i] = *product;
  }
  Shape scores = {s.q[0], attrs.num_heads, s.q[2], s.total};
  if (!CheckBias(c, 3, parts) || !CheckMaskIndex(c, 4, &scores) || !CheckScoreBias(c, 5, &scores))
    return false;
  for (size_t i : {0, 1}) {
    past[i] = {s.q[0], attrs.num_heads, s.total, (i == 0 ? s.k : s.v)[3]};
    SetTensor(c, 1 + i, dtype, past[i]);
  }
  return SetMerged(c, dtype, s) && SetTensor(c, 3, dtype, scores);
}

namespace {

// query, key and value of a GroupQueryAttention.
bool QuerySizes(InferContext& c, const GroupQueryAttention::Attrs<Plain>& attrs, Sizes* s) {
  if (c.HasOperand(1) != c.HasOperand(2)) return c.Fail("has only one of key and value");
  if (c.HasOperand(1))
    return Headed(c, 0, attrs.num_heads, &s->q) && Headed(c, 1, attrs.kv_num_heads, &s->k) &&
           Headed(c, 2, attrs.kv_num_heads, &s->v);
  if (!Headed(c, 0, attrs.num_heads + 2 * attrs.kv_num_heads, &s->q)) return false;
  s->k = s->v = s->q;
  s->q[1] = attrs.num_heads;
  s->k[1] = s->v[1] = attrs.kv_num_heads;
  return true;
}

// Batches and columns of the operands of a GroupQueryAttention: key and value have the same heads.
bool AgreeOnPast(InferContext& c, Sizes* s) {
  AgreedDim batch("batches"), depth("columns");
  const size_t v_at = c.HasOperand(2) ? 2 : 0;
  if (!batch.Add(c, 0, s->q[0]) || !depth.Add(c, 0, s->q[3]) || !depth.Add(c, v_at, s->v[3]))
    return false;
  for (size_t i : {3, 4})
    if (c.Ranked(i) &&
        (!batch.Add(c, i, c.operand_type(i).dim(0)) || !depth.Add(c, i, c.operand_type(i).dim(3))))
      return false;
  if (!CheckRank(c, 5, 1) || !CheckRank(c, 9, 2)) return false;
  for (size_t i : {5, 9})
    if (c.Ranked(i) && !batch.Add(c, i, c.operand_type(i).dim(0))) return false;
  s->q[0] = s->k[0] = s->v[0] = batch.dim();
  s->q[3] = s->k[3] = s->v[3] = depth.dim();
  return true;
}

bool CheckCaches(InferContext& c, const GroupQueryAttention::Attrs<Plain>& attrs, const Sizes& s) {
  const int64_t pairs = IsStaticDim(s.q[3]) ? s.q[3] / 2 : kUnknownDim;
  for (size_t i : {7, 8}) {
    const Dims cache = DimsOf(c, i);
    if (!CheckRank(c, i, 2)) return false;
    if (cache && IsStaticDim(pairs) && IsStaticDim((*cache)[1]) && (*cache)[1] > pairs)
      return c.Fail(
          fmt::format("{} has {} pairs for {} columns", OperandName(c, i), (*cache)[1], s.q[3]));
  }
  if (c.Ranked(7) && c.Ranked(8) && !CheckShape(c, 8, *DimsOf(c, 7))) return false;
  if (attrs.do_rotary != 0 && !(c.HasOperand(7) && c.HasOperand(8)))
    return c.Fail("do_rotary needs cos_cache and sin_cache");
  return CheckDtype(c, 9, DataType::kI64) && CheckRank(c, 9, 2);
}

}  // namespace

bool GroupQueryAttention::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<GroupQueryAttention>();
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 7, 8, 10, 11}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3) || !CheckRank(c, 1, 3, 4) || !CheckRank(c, 2, 3, 4) ||
      !CheckDtype(c, 5, DataType::kI32) || !CheckDtype(c, 6, DataType::kI32) || !CheckScalar(c, 6))
    return false;
  if (!c.attrs().Get("num_heads") || !c.attrs().Get("kv_num_heads")) return c.Unknown();
  Sizes s;
  if (!CheckHeads(c, "num_heads", attrs.num_heads) ||
      !CheckHeads(c, "kv_num_heads", attrs.kv_num_heads) || !QuerySizes(c, attrs, &s) ||
      !Agree(c, &s, {0, size_t{c.HasOperand(1)}, size_t{c.HasOperand(2) ? 2u : 0u}}))
    return false;
  if (attrs.num_heads % attrs.kv_num_heads != 0)
    return c.Fail(
        fmt::format("{} heads are no multiple of {}", attrs.num_heads, attrs.kv_num_heads));
  if (attrs.local_window_size < -1 || attrs.local_window_size == 0)
    return c.Fail(fmt::format("local_window_size is {}", attrs.local_window_size));
  if (c.HasOperand(3) != c.HasOperand(4)) return c.Fail("has only one of past_key and past_value");
  Shape past = {s.q[0], attrs.kv_num_heads, kUnknownDim, s.k[3]};
  AgreedDim places("places");
  for (size_t i : {3, 4}) {
    if (!CheckRank(c, i, 4) || !CheckShape(c, i, past)) return false;
    if (c.Ranked(i) && !places.Add(c, i, c.operand_type(i).dim(2))) return false;
  }
  if (!AgreeOnPast(c, &s)) return false;
  past[0] = s.q[0];
  past[3] = s.k[3];
  if (!CheckCaches(c, attrs, s)) return false;
  const auto value = KnownInts(c, 6);
  int64_t total = value && value->size() == 1 ? value->front() : kUnknownDim;
  if (value && (total < 1 || (IsStaticDim(s.q[2]) && total < s.q[2])))
    return c.Fail(fmt::format("total_sequence_length is {}", total));
  Shape scores = {s.q[0], attrs.num_heads, s.q[2], total};
  AgreedDim queries("queries");
  if (!queries.Add(c, 0, s.q[2]) || (c.Ranked(9) && !queries.Add(c, 9, c.operand_type(9).dim(1))))
    return false;
  scores[2] = queries.dim();
  const Shape sinks = {attrs.num_heads};
  if (!CheckScoreBias(c, 10, &scores) || !CheckShape(c, 11, sinks)) return false;
  if (c.HasOperand(3))
    total = IsStaticDim(total) && IsStaticDim(places.dim()) ? std::max(total, places.dim())
                                                            : kUnknownDim;
  past[2] = total;
  const DataType cache = c.HasOperand(3) ? DtypeOf(c, 3) : dtype;
  return SetMerged(c, dtype, s) && SetTensor(c, 1, cache, past) && SetTensor(c, 2, cache, past) &&
         SetTensor(c, 3, dtype, Shape{s.q[0], attrs.num_heads, s.q[2], kUnknownDim});
}

bool RotaryEmbedding::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<RotaryEmbedding>();
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2, 3}, &dtype) || !CheckFloat(c, 0) ||
      !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 0, 3, 4) || !CheckRank(c, 1, 1, 2) ||
      !CheckRank(c, 2, 2) || !CheckRank(c, 3, 2))
    return false;
  const int64_t turned = attrs.rotary_embedding_dim;
  if (attrs.num_heads < 0 || attrs.num_heads > kMaxHeads)
    return c.Fail(fmt::format("num_heads is {}", attrs.num_heads));
  if (turned < 0 || turned % 2 != 0 || turned > INT32_MAX)
    return c.Fail(fmt::format("rotary_embedding_dim is {}", turned));
  if (turned > 0 && attrs.num_heads == 0 && IsRank(c, 0, 3))
    return c.Fail("rotary_embedding_dim needs num_heads");
  if (c.Ranked(2) && c.Ranked(3) && !CheckShape(c, 3, *DimsOf(c, 2))) return false;
  const Dims x = DimsOf(c, 0);
  if (!x) return SetTensor(c, 0, dtype, x);
  const Dims cache = DimsOf(c, 2);
  int64_t depth = x->size() == 4 ? (*x)[3] : kUnknownDim;
  if (x->size() == 3 && attrs.num_heads > 0 && !Share(c, 0, (*x)[2], attrs.num_heads, &depth))
    return false;
  if (cache && IsStaticDim((*cache)[1])) {
    const auto columns = CheckedMul((*cache)[1], 2);
    const bool fits =
        columns && *columns > 0 && (turned == 0 || turned == *columns) &&
        (!IsStaticDim(depth) || (turned == 0 ? *columns == depth : *columns <= depth));
    const bool shares = attrs.num_heads > 0 || x->size() == 4 || !IsStaticDim((*x)[2]) ||
                        !columns || *columns == 0 || (*x)[2] % *columns == 0;
    if (!fits || !shares)
      return c.Fail(fmt::format("cos_cache has {} pairs for {}", (*cache)[1], ToString(*x)));
  }
  const Shape ids = {(*x)[0], (*x)[x->size() == 3 ? 1 : 2]};
  if (IsRank(c, 1, 2) ? !CheckShape(c, 1, ids) : !CheckScalar(c, 1)) return false;
  return SetTensor(c, 0, dtype, x);
}

void LoadAttentionOps(IrContext& context) {
  AddOps<Attention, MultiHeadAttention, GroupQueryAttention, RotaryEmbedding>(context);
}

}  // namespace weft::ir::microsoft
