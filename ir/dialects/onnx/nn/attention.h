// Attention, and what stands next to it in transformers and in models with a recurrent state.
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// softmax(scale * q . k^T + mask) . v. Operands are [B, heads, sequence, depth], or
// [B, sequence, heads * depth] with the numbers of heads as attributes. Every kv head serves
// q_num_heads / kv_num_heads heads of q in a row. The keys are past_key and k joined; a mask that is
// shorter than they are leaves out the rest. A bool mask says what takes part, a number is added.
struct Attention {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Attention",
      .operands = {"q", "k", "v", Optional("attn_mask"), Optional("past_key"),
                   Optional("past_value"), Optional("nonpad_kv_seqlen")},
      .results = {"y", Optional("present_key"), Optional("present_value"),
                  Optional("qk_matmul_output")},
      .onnx = "Attention",
      .since = 24,
      .doc = "scaled dot-product attention with a cache of keys and values",
      .data = OverOperands(0, 1, 2, 4, 5)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> is_causal{};
    Slot<std::optional<int64_t>> kv_num_heads{};
    Slot<std::optional<int64_t>> q_num_heads{};
    Slot<int64_t> qk_matmul_output_mode{};
    Slot<std::optional<float>> scale{};  // 1 / sqrt(depth)
    Slot<float> softcap{};               // s becomes softcap * tanh(s / softcap) unless it is 0
    Slot<std::optional<int64_t>> softmax_precision{};  // ONNX's number of a float type
    static constexpr auto Fields() {
      return std::tuple(Field{"is_causal", &Attrs::is_causal, int64_t{0}},
                        Field{"kv_num_heads", &Attrs::kv_num_heads},
                        Field{"q_num_heads", &Attrs::q_num_heads},
                        Field{"qk_matmul_output_mode", &Attrs::qk_matmul_output_mode, int64_t{0}},
                        Field{"scale", &Attrs::scale}, Field{"softcap", &Attrs::softcap, 0.0f},
                        Field{"softmax_precision", &Attrs::softmax_precision});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// Turns pairs of the first rotary_embedding_dim columns (0: all) of every head of x, which is
// [B, heads, S, depth] or [B, S, heads * depth]. A pair is two neighbours when interleaved, else one
// column of either half. The caches are [B, S, pairs], or [positions, pairs] that position_ids [B, S]
// choose from.
struct RotaryEmbedding {
  static constexpr OpInfo kInfo = {
      .name = "onnx.RotaryEmbedding",
      .operands = {"x", "cos_cache", "sin_cache", Optional("position_ids")},
      .onnx = "RotaryEmbedding",
      .since = 23,
      .doc = "rotates pairs of columns by angles that depend on the position",
      .data = OverOperands(0, 1, 2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> interleaved{};
    Slot<std::optional<int64_t>> num_heads{};
    Slot<int64_t> rotary_embedding_dim{};
    static constexpr auto Fields() {
      return std::tuple(Field{"interleaved", &Attrs::interleaved, int64_t{0}},
                        Field{"num_heads", &Attrs::num_heads},
                        Field{"rotary_embedding_dim", &Attrs::rotary_embedding_dim, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

enum class UpdateRule : uint8_t { kLinear, kGated, kDelta, kGatedDelta };
constexpr std::array<std::string_view, 4> EnumNames(UpdateRule) {
  return {"linear", "gated", "delta", "gated_delta"};
}
constexpr bool IsGated(UpdateRule rule) {
  return rule == UpdateRule::kGated || rule == UpdateRule::kGatedDelta;
}
constexpr bool IsDelta(UpdateRule rule) {
  return rule == UpdateRule::kDelta || rule == UpdateRule::kGatedDelta;
}

// A state [depth, v depth] per kv head, zero or past_state at first. For each token, with k, v, the
// decay g and the rate beta of that token:
//   gated:  state *= exp(g)
//   delta:  v = beta * (v - state^T . k)
//   state += k v^T;  y = scale * state^T . q
// query is [B, T, q_num_heads * depth], key and value likewise for kv_num_heads; decay has kv_num_heads
// columns or that many times depth, beta kv_num_heads or one. A scale of 0 is 1 / sqrt(depth).
// Without a reference body: it would be a loop, and bodies have no regions, whose result types inference
// could only tell after they are built.
struct LinearAttention {
  static constexpr OpInfo kInfo = {
      .name = "onnx.LinearAttention",
      .operands = {"query", "key", "value", Optional("past_state"), Optional("decay"),
                   Optional("beta")},
      .results = {"y", "present_state"},
      .onnx = "LinearAttention",
      .since = 27,
      .doc = "attention without softmax, as a recurrence over a matrix"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> chunk_size{};  // a hint
    Slot<int64_t> kv_num_heads{};
    Slot<int64_t> q_num_heads{};
    Slot<float> scale{};
    Slot<UpdateRule> update_rule{};
    static constexpr auto Fields() {
      return std::tuple(Field{"chunk_size", &Attrs::chunk_size, int64_t{64}},
                        Field{"kv_num_heads", &Attrs::kv_num_heads},
                        Field{"q_num_heads", &Attrs::q_num_heads},
                        Field{"scale", &Attrs::scale, 0.0f},
                        Field{"update_rule", &Attrs::update_rule, UpdateRule::kGatedDelta});
    }
  };
  static bool Infer(InferContext& c);
};

enum class CausalActivation : uint8_t { kNone, kSilu, kSwish };
constexpr std::array<std::string_view, 3> EnumNames(CausalActivation) {
  return {"none", "silu", "swish"};
}

// x is [B, C, L], weight [C, 1, k]. The k - 1 elements before x are past_state or zeros; present_state
// is the last k - 1 of both.
struct CausalConvWithState {
  static constexpr OpInfo kInfo = {
      .name = "onnx.CausalConvWithState",
      .operands = {"x", "weight", Optional("bias"), Optional("past_state")},
      .results = {"y", "present_state"},
      .onnx = "CausalConvWithState",
      .since = 27,
      .doc = "convolution of each channel with what came before, in pieces of a sequence"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<CausalActivation> activation{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation", &Attrs::activation, CausalActivation::kNone});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadAttentionOps(IrContext& context);

}  // namespace weft::ir::ops
