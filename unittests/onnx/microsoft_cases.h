// Operators of ONNX Runtime with operands, whose results standard/microsoft.tsv holds.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ir/dialects/microsoft.h"
#include "unittests/kernels/run_op.h"

namespace weft::onnx::microsoft_cases {

namespace ms = ir::microsoft;
using kernels::Bool;
using kernels::F32;
using kernels::I32;
using kernels::I64;
using kernels::Operand;
using kernels::Random;
using kernels::Tensor;

struct Case {
  std::string name;
  std::vector<Operand> operands;
  // Adds the op; its results.
  std::function<std::vector<ir::Value>(ir::Builder&, const std::vector<ir::Value>&)> add;
};

template <class O>
Case Of(std::string name, std::vector<Operand> operands,
        const typename O::template Attrs<ir::BuilderSlot>& attrs = {}, size_t num_results = 1) {
  return {std::move(name), std::move(operands), [=](ir::Builder& b, const auto& values) {
            return b.Create<O>(values, attrs, static_cast<int>(num_results)).results().vec();
          }};
}

inline Tensor Bytes(ir::Shape dims, uint32_t seed) {
  Tensor t = *Tensor::Create(ir::DataType::kU8, std::move(dims));
  for (uint8_t& byte : t.values<uint8_t>())
    byte = static_cast<uint8_t>((seed = seed * 1664525 + 1013904223) >> 24);
  return t;
}
// The group of each of n columns, in no order.
inline std::vector<int32_t> Groups(int32_t n, int32_t count) {
  std::vector<int32_t> groups;
  for (int32_t i = 0; i < n; ++i) groups.push_back((i * 7 + i / 5) % count);
  return groups;
}
inline Operand Fixed(Tensor t) { return {std::move(t), true}; }

inline std::vector<Case> SmallCases() {
  const auto x = [] { return Random({2, 3, 8}, 1); };
  const auto v = [](uint64_t seed) { return Random({8}, seed); };
  return {
      Of<ms::Gelu>("gelu", {x()}),
      Of<ms::BiasGelu>("bias_gelu", {x(), v(2)}),
      Of<ms::FastGelu>("fast_gelu", {x()}),
      Of<ms::FastGelu>("fast_gelu_bias", {x(), v(2)}),
      Of<ms::QuickGelu>("quick_gelu", {x()}, {.alpha = 1.5f}),
      Of<ms::SimplifiedLayerNormalization>("simplified_layer_norm", {x(), v(2)},
                                           {.epsilon = 0.01f}),
      Of<ms::SkipLayerNormalization>(
          "skip_layer_norm", {x(), Random({2, 3, 8}, 5), v(2), v(3), v(4)}, {.epsilon = 0.01f}),
      Of<ms::SkipLayerNormalization>("skip_layer_norm_broadcast", {x(), Random({3, 8}, 5), v(2)}),
      Of<ms::SkipSimplifiedLayerNormalization>(
          "skip_simplified", {x(), Random({2, 3, 8}, 5), v(2), v(4)}, {.epsilon = 0.01f}),
      Of<ms::EmbedLayerNormalization>(
          "embed_layer_norm",
          {I32({2, 3}, {1, 0, 4, 2, 2, 3}), I32({2, 3}, {0, 1, 1, 0, 0, 1}), Random({5, 8}, 1),
           Random({6, 8}, 2), Random({2, 8}, 3), v(4), v(5), I32({2, 3}, {1, 1, 0, 1, 1, 1})},
          {.epsilon = 0.01f}, 2),
      Of<ms::FusedMatMul>("fused_matmul", {Random({2, 4, 3}, 1), Random({2, 5, 4}, 2)},
                          {.alpha = 0.5f, .transA = 1, .transB = 1}),
      Of<ms::FusedMatMul>("fused_matmul_batch", {Random({3, 2, 4}, 1), Random({2, 4, 5}, 2)},
                          {.transBatchA = 1}),
      Of<ms::FusedGemm>("fused_gemm_relu", {Random({3, 4}, 1), Random({5, 4}, 2), Random({5}, 3)},
                        {.activation = ms::GemmActivation::kRelu, .alpha = 0.5f, .transB = 1}),
      Of<ms::FusedGemm>("fused_gemm_sigmoid", {Random({3, 4}, 1), Random({4, 5}, 2)},
                        {.activation = ms::GemmActivation::kSigmoid}),
      Of<ms::FusedGemm>(
          "fused_gemm_leaky", {Random({3, 4}, 1), Random({4, 5}, 2), Random({3, 5}, 3)},
          {.activation = ms::GemmActivation::kLeakyRelu, .activation_alpha = 0.25f, .beta = 2.0f}),
      Of<ms::FusedGemm>("fused_gemm_hard_sigmoid", {Random({3, 4}, 1), Random({4, 5}, 2)},
                        {.activation = ms::GemmActivation::kHardSigmoid,
                         .activation_alpha = 0.5f,
                         .activation_beta = 0.25f}),
      Of<ms::FusedConv>("fused_conv_relu",
                        {Random({1, 2, 5, 5}, 1), Random({3, 2, 3, 3}, 2), Random({3}, 3)},
                        {.activation = ms::ConvActivation::kRelu, .pads = ir::Ints{1, 1, 1, 1}}),
      Of<ms::FusedConv>("fused_conv_sum",
                        {Random({1, 2, 5, 5}, 1), Random({3, 2, 3, 3}, 2), Random({3}, 3),
                         Random({1, 3, 3, 3}, 4)},
                        {.activation = ms::ConvActivation::kRelu}),
      Of<ms::FusedConv>(
          "fused_conv_leaky", {Random({1, 2, 5, 5}, 1), Random({3, 2, 3, 3}, 2), Random({3}, 3)},
          {.activation = ms::ConvActivation::kLeakyRelu, .activation_params = ir::Floats{0.25f}}),
      Of<ms::MatMulNBits>("nbits_4",
                          {Random({3, 40}, 1), Fixed(Bytes({5, 3, 8}, 2)), Fixed(Random({15}, 3))},
                          {.K = 40, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_zero_points",
                          {Random({2, 3, 48}, 1), Fixed(Bytes({5, 3, 8}, 2)),
                           Fixed(Random({15}, 3)), Fixed(Bytes({10}, 4))},
                          {.K = 48, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_float_zero_points",
                          {Random({3, 32}, 1), Fixed(Bytes({5, 2, 8}, 2)), Fixed(Random({10}, 3)),
                           Fixed(Random({10}, 4))},
                          {.K = 32, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_8",
                          {Random({3, 32}, 1), Fixed(Bytes({5, 2, 16}, 2)), Fixed(Random({10}, 3)),
                           Fixed(Bytes({10}, 4))},
                          {.K = 32, .N = 5, .bits = 8, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_groups",
                          {Random({3, 48}, 1), Fixed(Bytes({5, 3, 8}, 2)), Fixed(Random({15}, 3)),
                           Fixed(Random({15}, 4)), Fixed(I32({48}, Groups(48, 3)))},
                          {.K = 48, .N = 5, .block_size = 16}),
      Of<ms::MatMulNBits>("nbits_4_groups_filled_up",
                          {Random({3, 40}, 1), Fixed(Bytes({5, 3, 8}, 2)), Fixed(Random({15}, 3)),
                           Operand(), Fixed(I32({48}, Groups(48, 3)))},
                          {.K = 40, .N = 5, .block_size = 16}),
      Of<ms::RotaryEmbedding>("rotary", {Random({2, 2, 3, 8}, 1), I64({2, 3}, {0, 1, 2, 4, 5, 6}),
                                         Random({7, 4}, 2), Random({7, 4}, 3)}),
      Of<ms::RotaryEmbedding>(
          "rotary_merged",
          {Random({2, 3, 16}, 1), I64({1}, {3}), Random({7, 4}, 2), Random({7, 4}, 3)},
          {.interleaved = 1}),
      Of<ms::RotaryEmbedding>("rotary_part",
                              {Random({2, 3, 16}, 1), I64({2, 3}, {0, 1, 2, 4, 5, 6}),
                               Random({7, 2}, 2), Random({7, 2}, 3)},
                              {.num_heads = 2, .rotary_embedding_dim = 4}),
  };
}

inline std::vector<Case> QuantizedCases() {
  const auto scale = [](float number) { return F32({}, {number}); };
  const auto zero = [](uint8_t number) {
    return kernels::MakeTensor(ir::DataType::kU8, {}, std::vector<uint8_t>{number});
  };
  const auto i8 = [](ir::Shape dims, const std::vector<int8_t>& values) {
    return kernels::MakeTensor(ir::DataType::kI8, std::move(dims), values);
  };
  const Operand a = Bytes({2, 3, 8}, 1), b = Bytes({3, 8}, 2);
  const Operand c = i8({5}, {-128, -3, 0, 17, 127});
  return {
      Of<ms::QLinearAdd>("qlinear_add", {a, scale(0.02f), zero(131), b, scale(0.013f), zero(29),
                                         scale(0.021f), zero(117)}),
      Of<ms::QLinearAdd>("qlinear_add_signed", {c, scale(0.02f), i8({}, {7}), c, scale(0.013f),
                                                i8({}, {-90}), scale(0.023f)}),
      Of<ms::QGemm>("qgemm", {Bytes({3, 8}, 1), scale(0.02f), zero(131), Bytes({8, 5}, 2),
                              scale(0.013f), zero(120), Operand(), scale(0.5f), zero(117)}),
      Of<ms::QGemm>("qgemm_transposed",
                    {Bytes({8, 3}, 1), scale(0.02f), zero(131), Bytes({5, 8}, 2),
                     F32({5}, {0.01f, 0.02f, 0.03f, 0.04f, 0.05f}), Bytes({5}, 3),
                     I32({5}, {100, -2000, 0, 30, 4000})},
                    {.alpha = 0.5f, .transA = 1, .transB = 1}),
      Of<ms::MatMulIntegerToFloat>("matmul_integer_to_float",
                                   {Bytes({2, 3, 8}, 1), Bytes({8, 5}, 2), scale(0.02f),
                                    scale(0.013f), zero(131), zero(120)}),
      Of<ms::MatMulIntegerToFloat>(
          "matmul_integer_to_float_columns",
          {Bytes({3, 5}, 1), i8({5, 2}, {-128, 3, 0, -17, 127, 1, 64, -9, 5, 88}), scale(0.02f),
           F32({2}, {0.01f, 0.03f}), Operand(), i8({2}, {-3, 7}), F32({2}, {0.5f, -0.25f})}),
      Of<ms::DynamicQuantizeMatMul>("dynamic_quantize_matmul",
                                    {Random({2, 3, 8}, 1), Bytes({8, 5}, 2), scale(0.013f)}),
      Of<ms::DynamicQuantizeMatMul>(
          "dynamic_quantize_matmul_columns",
          {Random({3, 5}, 1), i8({5, 2}, {-128, 3, 0, -17, 127, 1, 64, -9, 5, 88}),
           F32({2}, {0.01f, 0.03f}), i8({2}, {-3, 7}), F32({2}, {0.5f, -0.25f})}),
      Of<ms::QLinearConcat>("qlinear_concat",
                            {scale(0.021f), zero(117), Bytes({2, 3, 4}, 1), scale(0.02f), zero(131),
                             Bytes({2, 5, 4}, 2), scale(0.013f), zero(29), Bytes({2, 1, 4}, 3),
                             scale(0.021f), zero(117)},
                            {.axis = 1}),
      Of<ms::QLinearConcat>(
          "qlinear_concat_signed",
          {scale(0.023f), i8({}, {-90}), c, scale(0.02f), i8({}, {7}), c, scale(0.5f), i8({}, {0})},
          {.axis = -1}),
      Of<ms::QLinearGlobalAveragePool>(
          "qlinear_global_average_pool",
          {Bytes({2, 3, 4, 5}, 1), scale(0.02f), zero(131), scale(0.013f), zero(29)}),
      Of<ms::QLinearGlobalAveragePool>(
          "qlinear_global_average_pool_channels_last",
          {Bytes({2, 4, 5, 3}, 1), scale(0.02f), zero(131), scale(0.013f), zero(29)},
          {.channels_last = 1}),
      Of<ms::QLinearMul>("qlinear_mul", {a, scale(0.02f), zero(131), b, scale(0.013f), zero(29),
                                         scale(0.021f), zero(117)}),
      Of<ms::QLinearMul>("qlinear_mul_signed", {c, scale(0.02f), i8({}, {7}), c, scale(0.013f),
                                                i8({}, {-90}), scale(0.023f)}),
  };
}

inline std::vector<Case> AttentionCases() {
  const auto x = [] { return Random({2, 3, 6}, 1); };
  const auto w = [] { return Random({6, 24}, 2); };
  const auto b = [] { return Random({24}, 3); };
  const auto rows = [](int64_t n, uint64_t seed) { return Random({2, n, 8}, seed); };
  const auto past = [](int64_t n, uint64_t seed) { return Random({2, 2, n, 4}, seed); };
  return {
      Of<ms::Attention>("attention", {x(), w(), b()}, {.num_heads = 2}),
      Of<ms::Attention>("attention_causal", {x(), w(), b()}, {.num_heads = 2, .unidirectional = 1}),
      Of<ms::Attention>("attention_mask_rows", {x(), w(), b(), I32({2, 3}, {1, 1, 0, 1, 0, 1})},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_mask_lengths", {x(), w(), b(), I32({2}, {2, 3})},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_mask_ends", {x(), w(), b(), I32({4}, {2, 3, 0, 1})},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_past", {x(), w(), b(), Operand(), Random({2, 2, 2, 4, 4}, 4)},
                        {.num_heads = 2, .scale = 0.25f, .unidirectional = 1}, 2),
      Of<ms::Attention>("attention_bias",
                        {x(), w(), b(), Operand(), Operand(), Random({1, 2, 3, 3}, 5)},
                        {.num_heads = 2}),
      Of<ms::Attention>("attention_sizes", {x(), Random({6, 20}, 2), Random({20}, 3)},
                        {.num_heads = 2, .qkv_hidden_sizes = ir::Ints{8, 8, 4}}),
      Of<ms::MultiHeadAttention>("mha", {rows(3, 1), rows(5, 2), rows(5, 3)}, {.num_heads = 2}),
      Of<ms::MultiHeadAttention>(
          "mha_bias_mask",
          {rows(3, 1), rows(5, 2), rows(5, 3), b(), I32({2, 5}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 0}),
           Random({1, 2, 3, 5}, 5)},
          {.num_heads = 2}),
      Of<ms::MultiHeadAttention>("mha_heads", {rows(3, 1), past(5, 2), past(5, 3)},
                                 {.num_heads = 2, .scale = 0.75f}),
      Of<ms::MultiHeadAttention>("mha_past",
                                 {rows(1, 1), rows(1, 2), rows(1, 3), Operand(), Operand(),
                                  Operand(), past(4, 4), past(4, 5)},
                                 {.num_heads = 2, .unidirectional = 1}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_prompt",
          {Random({2, 3, 32}, 1), Random({2, 3, 16}, 2), Random({2, 3, 16}, 3), Operand(),
           Operand(), I32({2}, {2, 2}), Fixed(I32({}, {3}))},
          {.kv_num_heads = 2, .num_heads = 4}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_decode",
          {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2), Random({2, 1, 32}, 3),
           Random({2, 2, 4, 16}, 4), Random({2, 2, 4, 16}, 5), I32({2}, {4, 4}),
           Fixed(I32({}, {5})), Random({9, 8}, 6), Random({9, 8}, 7)},
          {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4}, 3),
      Of<ms::GroupQueryAttention>("gqa_buffer",  // of more places than are used
                                  {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2),
                                   Random({2, 1, 32}, 3), Random({2, 2, 6, 16}, 4),
                                   Random({2, 2, 6, 16}, 5), I32({2}, {4, 2}), Fixed(I32({}, {5}))},
                                  {.kv_num_heads = 2, .num_heads = 4}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_window",
          {Random({1, 6, 32}, 1), Random({1, 6, 16}, 2), Random({1, 6, 16}, 3), Operand(),
           Operand(), I32({1}, {5}), Fixed(I32({}, {6}))},
          {.kv_num_heads = 2, .local_window_size = 2, .num_heads = 4, .softcap = 5.0f}),
      Of<ms::GroupQueryAttention>(
          "gqa_packed",
          {Random({1, 3, 128}, 1), Operand(), Operand(), Operand(), Operand(), I32({1}, {2}),
           Fixed(I32({}, {3})), Random({9, 8}, 6), Random({9, 8}, 7)},
          {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4, .rotary_interleaved = 1}),
      Of<ms::GroupQueryAttention>(
          "gqa_smooth",
          {Random({2, 3, 32}, 1), Random({2, 3, 16}, 2), Random({2, 3, 16}, 3), Operand(),
           Operand(), I32({2}, {2, 2}), Fixed(I32({}, {3}))},
          {.kv_num_heads = 2, .num_heads = 4, .smooth_softmax = 1}, 3),
      Of<ms::GroupQueryAttention>(
          "gqa_sinks",
          {Random({1, 6, 32}, 1), Random({1, 6, 16}, 2), Random({1, 6, 16}, 3), Operand(),
           Operand(), I32({1}, {5}), Fixed(I32({}, {6})), Operand(), Operand(), Operand(),
           Operand(), Random({4}, 8)},
          {.kv_num_heads = 2, .local_window_size = 2, .num_heads = 4, .softcap = 5.0f}),
      Of<ms::GroupQueryAttention>(
          "gqa_sinks_decode",
          {Random({2, 1, 64}, 1), Random({2, 1, 32}, 2), Random({2, 1, 32}, 3),
           Random({2, 2, 6, 16}, 4), Random({2, 2, 6, 16}, 5), I32({2}, {4, 2}),
           Fixed(I32({}, {5})), Random({9, 8}, 6), Random({9, 8}, 7), Operand(), Operand(),
           Random({4}, 8)},
          {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4, .smooth_softmax = 1}, 3),
  };
}

inline std::vector<Case> AllCases() {
  std::vector<Case> all = SmallCases();
  for (Case& c : QuantizedCases()) all.push_back(std::move(c));
  for (Case& c : AttentionCases()) all.push_back(std::move(c));
  return all;
}

}  // namespace weft::onnx::microsoft_cases
