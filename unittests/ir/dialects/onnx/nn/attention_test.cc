#include "ir/dialects/onnx/nn/attention.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxAttention = InferTest;

TEST_F(OnnxAttention, JoinsThePastAndKeepsTheHeadsOfTheQueries) {
  const Value q = X({n, 4, 3, 8}), k = X({n, 2, 5, 8}), v = X({n, 2, 5, 6});
  EXPECT_EQ(Run<ops::Attention>({q, k, v}), "tensor<Nx4x3x6xf32>");
  EXPECT_EQ(Run<ops::Attention>({q, k, v, {}, X({n, 2, 7, 8}), X({n, 2, 7, 6})}, {}, 4),
            "tensor<Nx4x3x6xf32>, tensor<Nx2x12x8xf32>, tensor<Nx2x12x6xf32>, "
            "tensor<Nx4x3x12xf32>");
  EXPECT_EQ(Run<ops::Attention>({q, k, X({n, 2, 5, 6}, DataType::kF16)}, {}, 3),
            "tensor<Nx4x3x6xf32>, tensor<Nx2x5x8xf32>, tensor<Nx2x5x6xf16>");
  EXPECT_EQ(Run<ops::Attention>({Unranked(), k, v}), "tensor<*xf32>");
}

TEST_F(OnnxAttention, TakesHeadsPackedIntoColumns) {
  const ops::Attention::Attrs<BuilderSlot> heads = {.kv_num_heads = 2, .q_num_heads = 4};
  const Value q = X({1, 3, 32}), k = X({1, m, 16}), v = X({1, m, 12});
  EXPECT_EQ(Run<ops::Attention>({q, k, v}, heads, 4),
            "tensor<1x3x24xf32>, tensor<1x2xMx8xf32>, tensor<1x2xMx6xf32>, tensor<1x4x3xMxf32>");
  EXPECT_EQ(Run<ops::Attention>({q, k, v}, {.kv_num_heads = 2}),
            "onnx.Attention: q has rank 3 but there is no q_num_heads");
  EXPECT_EQ(Run<ops::Attention>({q, k, v}, {.kv_num_heads = 0, .q_num_heads = 4}),
            "onnx.Attention: kv_num_heads is 0");
  EXPECT_EQ(Run<ops::RotaryEmbedding>({X({1, 3, kUnknownDim}), X({1, 3, 2}), X({1, 3, 2})},
                                      {.num_heads = INT64_MAX}),
            "onnx.RotaryEmbedding: num_heads is 9223372036854775807");
  EXPECT_EQ(Run<ops::Attention>({q, k, v}, {.kv_num_heads = 2, .q_num_heads = 5}),
            "onnx.Attention: q has 32 columns for 5 heads");
  EXPECT_EQ(Run<ops::Attention>({q, X({1, 2, 5, 8}), v}, heads),
            "onnx.Attention: q has rank 3 but k has rank 4");
}

TEST_F(OnnxAttention, MasksMayBeShorterThanTheKeys) {
  const Value q = X({2, 4, 3, 8}), k = X({2, 4, 5, 8});
  const auto mask = [&](Shape dims, DataType dtype) {
    return Run<ops::Attention>({q, k, k, X(dims, dtype)});
  };
  EXPECT_EQ(mask({3, 4}, DataType::kBool), "tensor<2x4x3x8xf32>");
  EXPECT_EQ(mask({2, 1, 1, 5}, DataType::kF32), "tensor<2x4x3x8xf32>");
  EXPECT_EQ(mask({3, 6}, DataType::kBool), "onnx.Attention: attn_mask has 6 columns for 5 keys");
  EXPECT_EQ(mask({2, 5}, DataType::kBool),
            "onnx.Attention: attn_mask [2,5] does not broadcast to [2,4,3,5]");
  EXPECT_EQ(mask({}, DataType::kBool), "onnx.Attention: attn_mask has rank 0 but must have 1 to 4");
}

TEST_F(OnnxAttention, NamesWhatDoesNotFit) {
  const Value q = X({2, 4, 3, 8}), k = X({2, 2, 5, 8}), lengths = X({2}, DataType::kI64);
  EXPECT_EQ(Run<ops::Attention>({q, k, X({2, 2, 6, 8})}),
            "onnx.Attention: k has 5 keys but v has 6");
  EXPECT_EQ(Run<ops::Attention>({q, X({2, 2, 5, 7}), k}),
            "onnx.Attention: q has 8 columns but k has 7");
  EXPECT_EQ(Run<ops::Attention>({q, X({2, 3, 5, 8}), X({2, 3, 5, 8})}),
            "onnx.Attention: q has 4 heads, no multiple of the 3 of k");
  EXPECT_EQ(Run<ops::Attention>({q, k, k, {}, k}),
            "onnx.Attention: has only one of past_key and past_value");
  EXPECT_EQ(Run<ops::Attention>({q, k, k, {}, k, k, lengths}),
            "onnx.Attention: has nonpad_kv_seqlen together with past_key");
  EXPECT_EQ(Run<ops::Attention>({q, k, k, {}, {}, {}, X({3}, DataType::kI64)}),
            "onnx.Attention: q has 2 batches but nonpad_kv_seqlen has 3");
  EXPECT_EQ(Run<ops::Attention>({q, k, k}, {.qk_matmul_output_mode = 4}),
            "onnx.Attention: qk_matmul_output_mode is 4");
  EXPECT_EQ(Run<ops::Attention>({q, k, k}, {.softcap = -1.0f}), "onnx.Attention: softcap is -1");
  EXPECT_EQ(Run<ops::Attention>({q, k, k}, {.softmax_precision = 7}),
            "onnx.Attention: softmax_precision is 7, no float type");
}

TEST_F(OnnxAttention, RotaryEmbeddingTurnsPairsOfColumns) {
  const Value x = X({2, 4, 3, 8}), cache = X({50, 4}), ids = X({2, 3}, DataType::kI64);
  EXPECT_EQ(Run<ops::RotaryEmbedding>({x, cache, cache, ids}), "tensor<2x4x3x8xf32>");
  EXPECT_EQ(Run<ops::RotaryEmbedding>({X({2, 3, 32}), X({2, 3, 2}), X({2, 3, 2})},
                                      {.num_heads = 4, .rotary_embedding_dim = 4}),
            "tensor<2x3x32xf32>");
  EXPECT_EQ(Run<ops::RotaryEmbedding>({x, cache, cache}),
            "onnx.RotaryEmbedding: cos_cache has rank 2 but must have 3");
  EXPECT_EQ(Run<ops::RotaryEmbedding>({x, cache, X({49, 4}), ids}),
            "onnx.RotaryEmbedding: sin_cache is [49,4] but must be [50,4]");
  EXPECT_EQ(Run<ops::RotaryEmbedding>({x, cache, cache, ids}, {.rotary_embedding_dim = 3}),
            "onnx.RotaryEmbedding: 3 columns of a head are no pairs");
  EXPECT_EQ(Run<ops::RotaryEmbedding>({x, cache, cache, ids}, {.rotary_embedding_dim = 10}),
            "onnx.RotaryEmbedding: rotary_embedding_dim is 10 but a head has 8 columns");
}

TEST_F(OnnxAttention, LinearAttentionReturnsItsState) {
  const ops::LinearAttention::Attrs<BuilderSlot> gated = {.kv_num_heads = 2, .q_num_heads = 4};
  const Value q = X({1, n, 32}), k = X({1, n, 16}), v = X({1, n, 6});
  const Value decay = X({1, n, 2}), beta = X({1, n, 1});
  EXPECT_EQ(Run<ops::LinearAttention>({q, k, v, {}, decay, beta}, gated, 2),
            "tensor<1xNx12xf32>, tensor<1x2x8x3xf32>");
  EXPECT_EQ(Run<ops::LinearAttention>(
                {q, k, v, X({1, 2, 8, 3}, DataType::kF64)},
                {.kv_num_heads = 2, .q_num_heads = 4, .update_rule = ops::UpdateRule::kLinear}, 2),
            "tensor<1xNx12xf32>, tensor<1x2x8x3xf64>");
  EXPECT_EQ(Run<ops::LinearAttention>({q, k, v, {}, decay}, gated, 2),
            "onnx.LinearAttention: update_rule gated_delta needs beta");
  EXPECT_EQ(Run<ops::LinearAttention>(
                {q, k, v, {}, decay},
                {.kv_num_heads = 2, .q_num_heads = 4, .update_rule = ops::UpdateRule::kLinear}, 2),
            "onnx.LinearAttention: update_rule linear has no use for decay");
  EXPECT_EQ(Run<ops::LinearAttention>({q, k, v, {}, X({1, n, 3}), beta}, gated, 2),
            "onnx.LinearAttention: decay is [1,\"N\",3] but must be [1,\"N\",16]");
}

TEST_F(OnnxAttention, CausalConvWithStateKeepsWhatTheNextPieceNeeds) {
  const Value x = X({2, 3, n}), w = X({3, 1, 4});
  EXPECT_EQ(Run<ops::CausalConvWithState>({x, w, X({3})}, {}, 2),
            "tensor<2x3xNxf32>, tensor<2x3x3xf32>");
  EXPECT_EQ(Run<ops::CausalConvWithState>({x, X({3, 2, 4})}, {}, 2),
            "onnx.CausalConvWithState: weight is [3,2,4] but must be [3,1,4]");
  EXPECT_EQ(Run<ops::CausalConvWithState>({x, w, {}, X({2, 3, 4})}, {}, 2),
            "onnx.CausalConvWithState: past_state is [2,3,4] but must be [2,3,3]");
  EXPECT_EQ(Run<ops::CausalConvWithState>({x, X({3, 1, 0})}, {}, 2),
            "onnx.CausalConvWithState: weight has no elements");
}

}  // namespace
}  // namespace weft::ir
