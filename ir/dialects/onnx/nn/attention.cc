#include "ir/dialects/onnx/nn/attention.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/nn/heads.h"

namespace weft::ir::ops {
namespace {

// Columns of each head; fails when they cannot be shared out.
bool SplitHeads(InferContext& c, size_t i, int64_t columns, int64_t heads, int64_t* depth) {
  *depth = kUnknownDim;
  if (!IsStaticDim(columns)) return true;
  if (columns % heads != 0)
    return c.Fail(fmt::format("{} has {} columns for {} heads", OperandName(c, i), columns, heads));
  *depth = columns / heads;
  return true;
}

// Operand i as [B, heads, S, depth], unknown where its shape is. `heads` counts where it has rank 3.
bool HeadedDims(InferContext& c, size_t i, const std::optional<int64_t>& heads,
                std::string_view attribute, Shape* dims) {
  dims->assign(4, kUnknownDim);
  if (!CheckRank(c, i, 3, 4)) return false;
  const Dims actual = DimsOf(c, i);
  if (!actual) return true;
  if (actual->size() == 4) {
    *dims = *actual;
    return true;
  }
  if (!heads)
    return c.Fail(fmt::format("{} has rank 3 but there is no {}", OperandName(c, i), attribute));
  if (*heads < 1 || *heads > kMaxHeads) return c.Fail(fmt::format("{} is {}", attribute, *heads));
  *dims = {(*actual)[0], *heads, (*actual)[1], kUnknownDim};
  return SplitHeads(c, i, (*actual)[2], *heads, &(*dims)[3]);
}

bool CheckGroups(InferContext& c, int64_t q_heads, int64_t kv_heads) {
  if (!IsStaticDim(q_heads) || !IsStaticDim(kv_heads)) return true;
  if (kv_heads > 0 && q_heads % kv_heads == 0) return true;
  return c.Fail(fmt::format("q has {} heads, no multiple of the {} of k", q_heads, kv_heads));
}

constexpr size_t kMask = 3, kPastKey = 4, kPastValue = 5, kLengths = 6;  // operands of Attention

// Sum of two sizes; unknown when one is not known, unless the other is 0.
bool AddDims(InferContext& c, int64_t a, int64_t b, int64_t* sum) {
  const int64_t dims[] = {a, b};
  const auto total = SumOf(dims);
  if (!total) return c.Fail("the keys are too many");
  *sum = *total;
  return true;
}

// The mask broadcasts to scores [B, heads, S, keys], but its last dimension may be smaller.
bool CheckMask(InferContext& c, Shape scores) {
  const DataType dtype = DtypeOf(c, kMask);
  if (dtype != DataType::kBool && !CheckNumber(c, kMask)) return false;
  if (!CheckRank(c, kMask, 1, 4)) return false;
  const Dims mask = DimsOf(c, kMask);
  if (!mask) return true;
  const int64_t columns = mask->back(), keys = scores.back();
  if (IsStaticDim(columns) && IsStaticDim(keys) && columns > keys)
    return c.Fail(fmt::format("attn_mask has {} columns for {} keys", columns, keys));
  scores.back() = columns;
  return CheckBroadcastsTo(c, kMask, scores);
}

bool CheckAttentionAttrs(InferContext& c) {
  const auto attrs = c.attrs_of<Attention>();
  if (attrs.qk_matmul_output_mode < 0 || attrs.qk_matmul_output_mode > 3)
    return c.Fail(fmt::format("qk_matmul_output_mode is {}", attrs.qk_matmul_output_mode));
  if (!(attrs.softcap >= 0)) return c.Fail(fmt::format("softcap is {}", attrs.softcap));
  constexpr int64_t kFloats[] = {1, 10, 11, 16};  // f32, f16, f64, bf16 as ONNX counts them
  const auto precision = attrs.softmax_precision;
  if (precision && std::count(std::begin(kFloats), std::end(kFloats), *precision) == 0)
    return c.Fail(fmt::format("softmax_precision is {}, no float type", *precision));
  return true;
}

bool CheckAttentionTypes(InferContext& c) {
  DataType key, value;
  if (!SameDtype(c, {0, 1, kPastKey}, &key) || !SameDtype(c, {2, kPastValue}, &value)) return false;
  if (!CheckFloat(c, 0) || !CheckFloat(c, 1) || !CheckFloat(c, 2)) return false;
  if (c.HasOperand(kPastKey) != c.HasOperand(kPastValue))
    return c.Fail("has only one of past_key and past_value");
  if (c.HasOperand(kLengths) && c.HasOperand(kPastKey))
    return c.Fail("has nonpad_kv_seqlen together with past_key");
  return CheckDtype(c, kLengths, DataType::kI64) && CheckRank(c, kLengths, 1) &&
         CheckRank(c, kPastKey, 4) && CheckRank(c, kPastValue, 4);
}

bool SameRanks(InferContext& c) {
  for (size_t i : {1, 2}) {
    if (!c.Ranked(0) || !c.Ranked(i) || c.operand_type(0).rank() == c.operand_type(i).rank())
      continue;
    return c.Fail(fmt::format("q has rank {} but {} has rank {}", c.operand_type(0).rank(),
                              OperandName(c, i), c.operand_type(i).rank()));
  }
  return true;
}

}  // namespace

bool Attention::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<Attention>();
  Shape q, k, v, past_k, past_v;
  if (!CheckTensors(c) || !CheckAttentionAttrs(c) || !CheckAttentionTypes(c) || !SameRanks(c) ||
      !HeadedDims(c, 0, attrs.q_num_heads, "q_num_heads", &q) ||
      !HeadedDims(c, 1, attrs.kv_num_heads, "kv_num_heads", &k) ||
      !HeadedDims(c, 2, attrs.kv_num_heads, "kv_num_heads", &v) ||
      !HeadedDims(c, kPastKey, {}, "", &past_k) || !HeadedDims(c, kPastValue, {}, "", &past_v))
    return false;
  AgreedDim batch("batches"), heads("heads"), keys("keys"), past("keys"), depth("columns"),
      v_depth("columns");
  if (!batch.Add(c, 0, q[0]) || !depth.Add(c, 0, q[3])) return false;
  if (!batch.Add(c, 1, k[0]) || !heads.Add(c, 1, k[1]) || !keys.Add(c, 1, k[2]) ||
      !depth.Add(c, 1, k[3]))
    return false;
  if (!batch.Add(c, 2, v[0]) || !heads.Add(c, 2, v[1]) || !keys.Add(c, 2, v[2]) ||
      !v_depth.Add(c, 2, v[3]))
    return false;
  for (const auto& [i, dims, columns] :
       {std::tuple(kPastKey, &past_k, &depth), std::tuple(kPastValue, &past_v, &v_depth)})
    if (!batch.Add(c, i, (*dims)[0]) || !heads.Add(c, i, (*dims)[1]) ||
        !past.Add(c, i, (*dims)[2]) || !columns->Add(c, i, (*dims)[3]))
      return false;
  if (c.Ranked(kLengths) && !batch.Add(c, kLengths, c.operand_type(kLengths).dim(0))) return false;
  int64_t total = keys.dim();
  if (c.HasOperand(kPastKey) && !AddDims(c, past.dim(), keys.dim(), &total)) return false;
  const Shape scores = {batch.dim(), q[1], q[2], total};
  if (!CheckGroups(c, q[1], heads.dim()) || !CheckMask(c, scores)) return false;
  Dims y;
  if (c.Ranked(0)) y = Shape{batch.dim(), q[1], q[2], v_depth.dim()};
  if (y && c.operand_type(0).rank() == 3) {
    const int64_t columns[] = {q[1], v_depth.dim()};
    const auto product = ProductOf(columns);
    if (!product) return c.Fail("the result is too large");
    y = Shape{batch.dim(), q[2], *product};
  }
  return SetTensor(c, 0, DtypeOf(c, 0), y) &&
         SetTensor(c, 1, DtypeOf(c, 1), Shape{batch.dim(), heads.dim(), total, depth.dim()}) &&
         SetTensor(c, 2, DtypeOf(c, 2), Shape{batch.dim(), heads.dim(), total, v_depth.dim()}) &&
         SetTensor(c, 3, DtypeOf(c, 0), scores);
}

bool RotaryEmbedding::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<RotaryEmbedding>();
  DataType dtype;
  Shape x;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2}, &dtype) || !CheckFloat(c, 0) ||
      !CheckDtype(c, 3, DataType::kI64) || !HeadedDims(c, 0, attrs.num_heads, "num_heads", &x))
    return false;
  int64_t turned = attrs.rotary_embedding_dim == 0 ? x[3] : attrs.rotary_embedding_dim;
  if (IsStaticDim(turned) && (turned < 0 || turned % 2 != 0))
    return c.Fail(fmt::format("{} columns of a head are no pairs", turned));
  if (IsStaticDim(x[3]) && IsStaticDim(turned) && turned > x[3])
    return c.Fail(
        fmt::format("rotary_embedding_dim is {} but a head has {} columns", turned, x[3]));
  if (attrs.rotary_embedding_dim < 0)
    return c.Fail(fmt::format("rotary_embedding_dim is {}", attrs.rotary_embedding_dim));
  const int64_t pairs = IsStaticDim(turned) ? turned / 2 : kUnknownDim;
  const bool positions = c.HasOperand(3);
  const Shape cache = positions ? Shape{kUnknownDim, pairs} : Shape{x[0], x[2], pairs};
  const Shape ids = {x[0], x[2]};
  for (size_t i : {1, 2})
    if (!CheckRank(c, i, cache.size()) || !CheckShape(c, i, cache)) return false;
  if (c.Ranked(1) && c.Ranked(2) && !CheckShape(c, 2, *DimsOf(c, 1))) return false;
  return CheckShape(c, 3, ids) && SetTensor(c, 0, DtypeOf(c, 0), DimsOf(c, 0));
}

namespace {

constexpr size_t kState = 3, kDecay = 4, kBeta = 5;  // operands of LinearAttention

// Operand i is there exactly when `wanted`.
bool CheckGiven(InferContext& c, size_t i, bool wanted) {
  if (c.HasOperand(i) == wanted) return true;
  const size_t rule = static_cast<size_t>(c.attrs_of<LinearAttention>().update_rule);
  return c.Fail(fmt::format("update_rule {} {} {}", EnumNames(UpdateRule())[rule],
                            wanted ? "needs" : "has no use for", OperandName(c, i)));
}

// Operand i is [B, T, one of two numbers of columns].
bool CheckGate(InferContext& c, size_t i, const Shape& tokens, int64_t a, int64_t b) {
  if (!CheckRank(c, i, 3)) return false;
  const Dims dims = DimsOf(c, i);
  if (!dims) return true;
  const Shape expected = {tokens[0], tokens[1], MergeDim((*dims)[2], a) ? a : b};
  return CheckShape(c, i, expected);
}

}  // namespace

bool LinearAttention::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<LinearAttention>();
  DataType dtype;
  if (attrs.kv_num_heads < 1) return c.Fail(fmt::format("kv_num_heads is {}", attrs.kv_num_heads));
  if (attrs.q_num_heads < 1) return c.Fail(fmt::format("q_num_heads is {}", attrs.q_num_heads));
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, kDecay, kBeta}, &dtype) || !CheckFloat(c, 0) ||
      !CheckFloat(c, kState) || !CheckGiven(c, kDecay, IsGated(attrs.update_rule)) ||
      !CheckGiven(c, kBeta, IsDelta(attrs.update_rule)))
    return false;
  for (size_t i : {0, 1, 2})
    if (!CheckRank(c, i, 3)) return false;
  Shape q, k, v;
  if (!HeadedDims(c, 0, attrs.q_num_heads, "q_num_heads", &q) ||
      !HeadedDims(c, 1, attrs.kv_num_heads, "kv_num_heads", &k) ||
      !HeadedDims(c, 2, attrs.kv_num_heads, "kv_num_heads", &v) ||
      !CheckGroups(c, attrs.q_num_heads, attrs.kv_num_heads))
    return false;
  for (const int64_t heads : {attrs.q_num_heads, attrs.kv_num_heads})
    if (heads < 1) return c.Fail(fmt::format("has {} heads", heads));
  AgreedDim batch("batches"), tokens("tokens"), depth("columns");
  if (!batch.Add(c, 0, q[0]) || !batch.Add(c, 1, k[0]) || !batch.Add(c, 2, v[0]) ||
      !tokens.Add(c, 0, q[2]) || !tokens.Add(c, 1, k[2]) || !tokens.Add(c, 2, v[2]) ||
      !depth.Add(c, 0, q[3]) || !depth.Add(c, 1, k[3]))
    return false;
  const int64_t heads = attrs.kv_num_heads;
  const int64_t key_columns[] = {heads, depth.dim()}, y_columns[] = {attrs.q_num_heads, v[3]};
  const auto key_width = ProductOf(key_columns), y_width = ProductOf(y_columns);
  if (!key_width || !y_width) return c.Fail("the result is too large");
  const Shape rows = {batch.dim(), tokens.dim()};
  if (!CheckGate(c, kDecay, rows, heads, *key_width) || !CheckGate(c, kBeta, rows, heads, 1))
    return false;
  const Shape state = {batch.dim(), heads, depth.dim(), v[3]};
  return CheckShape(c, kState, state) &&
         SetTensor(c, 0, dtype, Shape{batch.dim(), tokens.dim(), *y_width}) &&
         SetTensor(c, 1, c.HasOperand(kState) ? DtypeOf(c, kState) : dtype, state);
}

bool CausalConvWithState::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckFloat(c, 0) ||
      !CheckRank(c, 0, 3) || !CheckRank(c, 1, 3))
    return false;
  const Shape x = DimsOf(c, 0).value_or(Shape(3, kUnknownDim));
  const int64_t taps = DimsOf(c, 1).value_or(Shape(3, kUnknownDim))[2];
  if (taps == 0) return c.Fail("weight has no elements");
  const Shape weight = {x[1], 1, taps};
  const Shape state = {x[0], x[1], IsStaticDim(taps) ? taps - 1 : kUnknownDim};
  return CheckShape(c, 1, weight) && CheckShape(c, 2, {&x[1], 1}) && CheckShape(c, 3, state) &&
         SetTensor(c, 0, dtype, x) && SetTensor(c, 1, dtype, state);
}

void LoadAttentionOps(IrContext& context) {
  AddOps<Attention, RotaryEmbedding, LinearAttention, CausalConvWithState>(context);
}

}  // namespace weft::ir::ops
