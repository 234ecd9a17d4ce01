// The attentions of ONNX Runtime. Sizes: B batches, S queries, T new keys, P past keys, D columns of a
// head.
#pragma once

#include "ir/dialects/microsoft/op_info.h"

namespace weft::ir::microsoft {

// softmax(scale * q . k^T + masks) . v, where q, k and v are x . weights + bias: x is [B, S, C], weights
// [C, columns of q, k and v]. mask_index is i32: [B, keys] or [B, S, keys], 0 for what takes no part,
// or [B], the number of keys, or [2 B], their ends and then their beginnings. past and present are
// [2, B, heads, keys, D], keys and values.
struct Attention {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.Attention",
      .operands = {"x", "weights", Optional("bias"), Optional("mask_index"), Optional("past"),
                   Optional("attention_bias"), Optional("past_sequence_length")},
      .results = {"out", Optional("present")},
      .onnx = "Attention",
      .onnx_domain = kDomain,
      .doc = "projections of one tensor, and attention over them"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> do_rotary{};
    Slot<float> mask_filter_value{};
    Slot<int64_t> num_heads{};
    Slot<std::optional<int64_t>> past_present_share_buffer{};
    Slot<std::optional<Ints>> qkv_hidden_sizes{};
    Slot<std::optional<int64_t>> rotary_embedding_dim{};
    Slot<std::optional<float>> scale{};  // 1 / sqrt(D)
    Slot<int64_t> unidirectional{};
    static constexpr auto Fields() {
      return std::tuple(Field{"do_rotary", &Attrs::do_rotary},
                        Field{"mask_filter_value", &Attrs::mask_filter_value, -10000.0f},
                        Field{"num_heads", &Attrs::num_heads},
                        Field{"past_present_share_buffer", &Attrs::past_present_share_buffer},
                        Field{"qkv_hidden_sizes", &Attrs::qkv_hidden_sizes},
                        Field{"rotary_embedding_dim", &Attrs::rotary_embedding_dim},
                        Field{"scale", &Attrs::scale},
                        Field{"unidirectional", &Attrs::unidirectional, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// query is [B, S, heads * D], key and value [B, T, heads * D] or [B, heads, T, D]. query alone is [B, S,
// heads, 3, D], all three; key alone [B, T, heads, 2, D]. bias is that of the projections.
// key_padding_mask is like mask_index above.
struct MultiHeadAttention {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.MultiHeadAttention",
      .operands = {"query", Optional("key"), Optional("value"), Optional("bias"),
                   Optional("key_padding_mask"), Optional("attention_bias"), Optional("past_key"),
                   Optional("past_value"), Optional("past_sequence_length"),
                   Optional("cache_indirection")},
      .results = {"out", Optional("present_key"), Optional("present_value"), Optional("qk")},
      .onnx = "MultiHeadAttention",
      .onnx_domain = kDomain,
      .doc = "attention over projections"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> mask_filter_value{};
    Slot<int64_t> num_heads{};
    Slot<std::optional<float>> scale{};
    Slot<int64_t> unidirectional{};
    static constexpr auto Fields() {
      return std::tuple(Field{"mask_filter_value", &Attrs::mask_filter_value, -10000.0f},
                        Field{"num_heads", &Attrs::num_heads}, Field{"scale", &Attrs::scale},
                        Field{"unidirectional", &Attrs::unidirectional, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// Causal attention where every key head serves num_heads / kv_num_heads heads of the query, which is
// [B, S, num_heads * D], or holds keys and values too: then key and value are not given. Of batch b,
// the first seqlens_k[b] + 1 - S keys are those of past_key, and k follows them; the caches have
// max(P, total_sequence_length) places, zero where there are no keys. head_sink [num_heads], or 0 with
// smooth_softmax, is the score of one more key whose value is zero.
struct GroupQueryAttention {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.GroupQueryAttention",
      .operands = {"query", Optional("key"), Optional("value"), Optional("past_key"),
                   Optional("past_value"), "seqlens_k", "total_sequence_length",
                   Optional("cos_cache"), Optional("sin_cache"), Optional("position_ids"),
                   Optional("attention_bias"), Optional("head_sink")},
      .results = {"out", Optional("present_key"), Optional("present_value"), Optional("output_qk")},
      .onnx = "GroupQueryAttention",
      .onnx_domain = kDomain,
      .doc = "causal attention with shared heads, a cache and rotary embedding",
      .data = ~OverOperands(6)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> do_rotary{};
    Slot<std::optional<std::string>> k_quant_type{};
    Slot<std::optional<int64_t>> kv_cache_bit_width{};
    Slot<int64_t> kv_num_heads{};
    Slot<int64_t> local_window_size{};  // keys that a query sees; -1: all
    Slot<int64_t> num_heads{};
    Slot<std::optional<int64_t>> qk_output{};
    Slot<int64_t> rotary_interleaved{};
    Slot<std::optional<float>> scale{};
    Slot<std::optional<int64_t>> smooth_softmax{};
    Slot<std::optional<float>> softcap{};
    Slot<std::optional<std::string>> v_quant_type{};
    static constexpr auto Fields() {
      return std::tuple(
          Field{"do_rotary", &Attrs::do_rotary, int64_t{0}},
          Field{"k_quant_type", &Attrs::k_quant_type},
          Field{"kv_cache_bit_width", &Attrs::kv_cache_bit_width},
          Field{"kv_num_heads", &Attrs::kv_num_heads},
          Field{"local_window_size", &Attrs::local_window_size, int64_t{-1}},
          Field{"num_heads", &Attrs::num_heads}, Field{"qk_output", &Attrs::qk_output},
          Field{"rotary_interleaved", &Attrs::rotary_interleaved, int64_t{0}},
          Field{"scale", &Attrs::scale}, Field{"smooth_softmax", &Attrs::smooth_softmax},
          Field{"softcap", &Attrs::softcap}, Field{"v_quant_type", &Attrs::v_quant_type});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// x is [B, heads, S, D] or [B, S, heads * D]; the caches are [positions, pairs]. position_ids is [B, S],
// or [1], the first of S in a row.
struct RotaryEmbedding {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.RotaryEmbedding",
      .operands = {"x", "position_ids", "cos_cache", "sin_cache"},
      .onnx = "RotaryEmbedding",
      .onnx_domain = kDomain,
      .doc = "rotates pairs of columns by angles that depend on the position",
      .data = OverOperands(0, 2, 3)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> interleaved{};
    Slot<std::optional<int64_t>> is_packed_batching{};
    Slot<int64_t> num_heads{};
    Slot<int64_t> rotary_embedding_dim{};
    Slot<std::optional<float>> scale{};
    static constexpr auto Fields() {
      return std::tuple(Field{"interleaved", &Attrs::interleaved, int64_t{0}},
                        Field{"is_packed_batching", &Attrs::is_packed_batching},
                        Field{"num_heads", &Attrs::num_heads, int64_t{0}},
                        Field{"rotary_embedding_dim", &Attrs::rotary_embedding_dim, int64_t{0}},
                        Field{"scale", &Attrs::scale});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadAttentionOps(IrContext& context);

}  // namespace weft::ir::microsoft
