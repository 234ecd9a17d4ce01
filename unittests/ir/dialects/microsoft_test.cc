#include "ir/dialects/microsoft.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

namespace ms = microsoft;

class Microsoft : public InferTest {
 protected:
  Value I32(const Shape& dims) { return X(dims, DataType::kI32); }
  Value Total(int64_t n) { return Scalar(static_cast<double>(n), DataType::kI32); }
};

TEST_F(Microsoft, GelusAddTheirBiasFirst) {
  EXPECT_EQ(Run<ms::Gelu>({X({n, 8})}), "tensor<Nx8xf32>");
  EXPECT_EQ(Run<ms::BiasGelu>({X({n, 8}), X({8})}), "tensor<Nx8xf32>");
  EXPECT_EQ(Run<ms::FastGelu>({X({n, 8})}), "tensor<Nx8xf32>");
  EXPECT_EQ(Run<ms::BiasGelu>({X({2, 8}), X({7})}),
            "com.microsoft.BiasGelu: x [2,8] and bias [7] do not broadcast");
  EXPECT_EQ(Run<ms::QuickGelu>({X({2}, DataType::kI64)}),
            "com.microsoft.QuickGelu: x is i64 but must be a float");
}

TEST_F(Microsoft, NormalizationsOfSumsGiveTheSumToo) {
  const Value x = X({n, 3, 8}), gamma = X({8});
  EXPECT_EQ(Run<ms::SkipLayerNormalization>({x, X({3, 8}), gamma}, {}, 4),
            "tensor<Nx3x8xf32>, tensor<Nx3x1xf32>, tensor<Nx3x1xf32>, tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ms::SkipSimplifiedLayerNormalization>({x, x, gamma, gamma}), "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ms::SkipLayerNormalization>({x, x, X({7})}),
            "com.microsoft.SkipLayerNormalization: gamma is [7] but must be [8]");
  EXPECT_EQ(Run<ms::SkipLayerNormalization>({x, X({2, 8}), gamma}),
            "com.microsoft.SkipLayerNormalization: skip [2,8] does not broadcast to [\"N\",3,8]");
  EXPECT_EQ(Run<ms::SimplifiedLayerNormalization>({x, gamma}, {}, 2),
            "tensor<Nx3x8xf32>, tensor<Nx3x1xf32>");
  EXPECT_EQ(Run<ms::SimplifiedLayerNormalization>({x, gamma}, {.axis = 3}),
            "onnx.SimplifiedLayerNormalization: axis 3 is out of range for rank 3");
}

TEST_F(Microsoft, EmbeddingsHaveOneWidth) {
  const Value ids = I32({n, 5}), words = X({9, 8}), scale = X({8});
  EXPECT_EQ(Run<ms::EmbedLayerNormalization>({ids, ids, words, X({7, 8}), X({2, 8}), scale, scale},
                                             {}, 2),
            "tensor<Nx5x8xf32>, tensor<Nxi32>");
  EXPECT_EQ(Run<ms::EmbedLayerNormalization>({ids, ids, words, X({7, 8}), Value(), scale, scale}),
            "com.microsoft.EmbedLayerNormalization: has only one of segment_ids and "
            "segment_embedding");
  EXPECT_EQ(
      Run<ms::EmbedLayerNormalization>({ids, Value(), words, X({7, 6}), Value(), scale, scale}),
      "com.microsoft.EmbedLayerNormalization: word_embedding has 8 columns but position_embedding "
      "has 6");
}

// As ONNX Runtime takes them: for each row of ids, or one row for all.
TEST_F(Microsoft, EmbeddingsHavePositionsOfEachIdOrOfOneRow) {
  const Value ids = I32({n, 5}), words = X({9, 8}), scale = X({8});
  const auto with = [&](Value positions) {
    return Run<ms::EmbedLayerNormalization>(
        {ids, Value(), words, X({7, 8}), Value(), scale, scale, Value(), positions}, {}, 2);
  };
  EXPECT_EQ(with(I32({n, 5})), "tensor<Nx5x8xf32>, tensor<Nxi32>");
  EXPECT_EQ(with(I32({1, 5})), "tensor<Nx5x8xf32>, tensor<Nxi32>");
  EXPECT_EQ(with(I32({5})),
            "com.microsoft.EmbedLayerNormalization: position_ids has rank 1 but must have 2");
  EXPECT_EQ(with(I32({n, 1})),
            "com.microsoft.EmbedLayerNormalization: position_ids is [\"N\",1] but must be "
            "[\"N\",5]");
}

TEST_F(Microsoft, FusedMatMulTransposesFirst) {
  EXPECT_EQ(Run<ms::FusedMatMul>({X({n, 4, 3}), X({n, 5, 4})}, {.transA = 1, .transB = 1}),
            "tensor<Nx3x5xf32>");
  EXPECT_EQ(Run<ms::FusedMatMul>({X({3, 2, 4}), X({2, 4, 5})}, {.transBatchA = 1}),
            "tensor<2x3x5xf32>");
  EXPECT_NE(Run<ms::FusedMatMul>({X({2, 3}), X({2, 3})}).find("has 3 columns"), std::string::npos);
}

TEST_F(Microsoft, FusedConvIsAConvolution) {
  const Value x = X({1, 2, 5, 5}), w = X({3, 2, 3, 3});
  EXPECT_EQ(Run<ms::FusedConv>({x, w, X({3}), X({1, 3, 3, 3})}), "tensor<1x3x3x3xf32>");
  EXPECT_EQ(Run<ms::FusedConv>({x, w, Value(), X({3, 3})}),
            "com.microsoft.FusedConv: z is [3,3] but must be [1,3,3,3]");
  EXPECT_EQ(Run<ms::FusedConv>({x, w}, {.activation = ms::ConvActivation::kClip}),
            "com.microsoft.FusedConv: the activation takes 2 activation_params but has 0");
  EXPECT_EQ(Run<ms::FusedConv>({X({1, 4, 5, 5}), w}),
            "com.microsoft.FusedConv: x has 4 channels but w reads 2 in each of 1 groups");
}

TEST_F(Microsoft, WeightsOfFewBitsFillTheirBlocks) {
  const auto run = [&](Value b, Value scales, Value zeros, int64_t bits) {
    return Run<ms::MatMulNBits>({X({n, 40}), b, scales, zeros},
                                {.K = 40, .N = 5, .bits = bits, .block_size = 16});
  };
  const DataType u8 = DataType::kU8;
  EXPECT_EQ(run(X({5, 3, 8}, u8), X({15}), Value(), 4), "tensor<Nx5xf32>");
  EXPECT_EQ(run(X({5, 3, 8}, u8), X({5, 3}), X({10}, u8), 4), "tensor<Nx5xf32>");
  EXPECT_EQ(run(X({5, 3, 16}, u8), X({15}), X({15}), 8), "tensor<Nx5xf32>");
  EXPECT_EQ(run(X({5, 3, 8}, u8), X({15}), Value(), 8),
            "com.microsoft.MatMulNBits: b is [5,3,8] but must have 240 elements");
  EXPECT_EQ(run(X({5, 3, 8}, u8), X({15}), X({15}, u8), 4),
            "com.microsoft.MatMulNBits: zero_points is [15] but must have 10 elements");
  EXPECT_EQ(run(X({5, 3, 8}, u8), X({15}), Value(), 3),
            "com.microsoft.MatMulNBits: bits is 3 but must be 2, 4 or 8");
  EXPECT_EQ(Run<ms::MatMulNBits>({X({2, 40}), X({5}, u8), X({5})},
                                 {.K = INT32_MAX, .N = INT32_MAX, .block_size = 16}),
            "com.microsoft.MatMulNBits: 2147483647 times 2147483647 weights are too many");
  const std::vector<int32_t> groups(16, 2);
  const Value g_idx = b.Constant(context.DenseAttrOf(context.TensorType(DataType::kI32, {16}),
                                                     std::span<const int32_t>(groups)));
  EXPECT_EQ(Run<ms::MatMulNBits>({X({2, 16}), X({5, 1, 8}, u8), X({5}), Value(), g_idx},
                                 {.K = 16, .N = 5, .block_size = 16}),
            "com.microsoft.MatMulNBits: g_idx 2 is out of range for 1 blocks");
}

TEST_F(Microsoft, QuantizedNumbersHaveOneByteType) {
  const DataType u8 = DataType::kU8, i8 = DataType::kI8;
  const Value a = X({n, 4}, u8), scale = X({}), zero = X({}, u8);
  const auto run = [&](Value b, Value b_scale, Value b_zero, Value y_zero) {
    return Run<ms::QLinearAdd>({a, scale, zero, b, b_scale, b_zero, scale, y_zero});
  };
  EXPECT_EQ(run(X({4}, u8), X({1}), zero, zero), "tensor<Nx4xu8>");
  EXPECT_EQ(run(a, scale, Value(), Value()), "tensor<Nx4xu8>");
  EXPECT_EQ(run(X({4}, i8), scale, Value(), Value()),
            "com.microsoft.QLinearAdd: a is u8 but b is i8");
  EXPECT_EQ(run(a, scale, zero, X({}, i8)),
            "com.microsoft.QLinearAdd: a is u8 but y_zero_point is i8");
  EXPECT_EQ(run(a, X({4}), zero, zero), "com.microsoft.QLinearAdd: b_scale is [4], not a scalar");
  EXPECT_EQ(run(X({3}, u8), scale, zero, zero),
            "com.microsoft.QLinearAdd: a [\"N\",4] and b [3] do not broadcast");
  EXPECT_EQ(Run<ms::QLinearMul>({X({4}), scale, Value(), X({4}), scale, Value(), scale}),
            "com.microsoft.QLinearMul: a is f32 but must be i8 or u8");
}

TEST_F(Microsoft, QGemmRoundsWhereItIsToldHow) {
  const DataType u8 = DataType::kU8, i8 = DataType::kI8;
  const Value a = X({n, 4}, u8), b = X({3, 4}, i8), scale = X({}), zero = X({}, u8);
  const auto run = [&](Value b_scale, Value c, Value y_scale, Value y_zero) {
    return Run<ms::QGemm>({a, scale, zero, b, b_scale, X({3}, i8), c, y_scale, y_zero},
                          {.transB = 1});
  };
  EXPECT_EQ(run(X({3}), I32({3}), Value(), Value()), "tensor<Nx3xf32>");
  EXPECT_EQ(run(scale, Value(), scale, X({1}, i8)), "tensor<Nx3xi8>");
  EXPECT_EQ(run(scale, Value(), scale, Value()),
            "com.microsoft.QGemm: has only one of y_scale and y_zero_point");
  EXPECT_EQ(run(X({4}), Value(), scale, zero),
            "com.microsoft.QGemm: b_scale has 4 entries but there are 3 columns");
  EXPECT_EQ(run(scale, X({3}), scale, zero), "com.microsoft.QGemm: c is f32 but must be i32");
  EXPECT_EQ(Run<ms::QGemm>({a, scale, zero, b, scale, X({}, i8)}),
            "com.microsoft.QGemm: a has 4 columns but b has 3 rows");
}

TEST_F(Microsoft, ProductsOfQuantizedNumbersAreFloats) {
  const DataType u8 = DataType::kU8, i8 = DataType::kI8;
  const Value a = X({n, 7, 4}, u8), b = X({4, 3}, i8), scale = X({}), none;
  const auto run = [&](Value b_scale, Value a_zero, Value b_zero, Value bias) {
    return Run<ms::MatMulIntegerToFloat>({a, b, scale, b_scale, a_zero, b_zero, bias});
  };
  EXPECT_EQ(run(X({3}), X({}, u8), X({3}, i8), X({3})), "tensor<Nx7x3xf32>");
  EXPECT_EQ(run(scale, none, none, none), "tensor<Nx7x3xf32>");
  EXPECT_EQ(run(X({4}), none, none, none),
            "com.microsoft.MatMulIntegerToFloat: b_scale has 4 entries but there are 3 columns");
  EXPECT_EQ(run(scale, X({}, i8), none, none),
            "com.microsoft.MatMulIntegerToFloat: a is u8 but a_zero_point is i8");
  EXPECT_EQ(
      run(scale, none, X({2}, i8), none),
      "com.microsoft.MatMulIntegerToFloat: b_zero_point has 2 entries but there are 3 columns");
  EXPECT_EQ(run(scale, none, none, X({4})),
            "com.microsoft.MatMulIntegerToFloat: bias is [4] but must be [3]");
  EXPECT_EQ(Run<ms::DynamicQuantizeMatMul>({X({n, 4}), b, X({3}), none, X({3})}),
            "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ms::DynamicQuantizeMatMul>({X({n, 5}), b, scale}),
            "com.microsoft.DynamicQuantizeMatMul: x has 5 columns but y has 4 rows");
  EXPECT_EQ(Run<ms::DynamicQuantizeMatMul>({X({n, 4}, u8), b, scale}),
            "com.microsoft.DynamicQuantizeMatMul: a is u8 but must be f32");
}

TEST_F(Microsoft, QuantizedMeansKeepChannels) {
  const DataType u8 = DataType::kU8;
  const Value x = X({n, 3, 4, 5}, u8), scale = X({}), zero = X({}, u8);
  EXPECT_EQ(Run<ms::QLinearGlobalAveragePool>({x, scale, zero, scale, zero}), "tensor<Nx3x1x1xu8>");
  EXPECT_EQ(Run<ms::QLinearGlobalAveragePool>({x, scale, Value(), scale}, {.channels_last = 1}),
            "tensor<Nx1x1x5xu8>");
  EXPECT_EQ(Run<ms::QLinearGlobalAveragePool>({x, scale, zero, X({1, 1}), zero}),
            "com.microsoft.QLinearGlobalAveragePool: y_scale has rank 2 but must have 0 to 1");
  EXPECT_EQ(Run<ms::QLinearGlobalAveragePool>({X({2, 3}, u8), scale, zero, scale, zero}),
            "com.microsoft.QLinearGlobalAveragePool: x has rank 2 but must have 3 or more");
}

TEST_F(Microsoft, AttentionProjectsFirst) {
  const Value x = X({n, 3, 6}), w = X({6, 24}), bias = X({24});
  EXPECT_EQ(Run<ms::Attention>({x, w, bias, Value(), X({2, n, 2, 5, 4})}, {.num_heads = 2}, 2),
            "tensor<Nx3x8xf32>, tensor<2xNx2x8x4xf32>");
  EXPECT_EQ(
      Run<ms::Attention>({x, X({6, 20})}, {.num_heads = 2, .qkv_hidden_sizes = Ints{8, 8, 4}}),
      "tensor<Nx3x4xf32>");
  EXPECT_EQ(Run<ms::Attention>({x, w}, {.num_heads = 3}),
            "com.microsoft.Attention: weights has 8 columns for 3 heads");
  EXPECT_EQ(Run<ms::Attention>({x, X({5, 24})}, {.num_heads = 2}),
            "com.microsoft.Attention: weights is [5,24] but must be [6,24]");
  EXPECT_EQ(Run<ms::Attention>({x, w, bias, I32({n, 4})}, {.num_heads = 2}),
            "com.microsoft.Attention: mask_index [\"N\",4] does not broadcast to [\"N\",3]");
}

TEST_F(Microsoft, MultiHeadAttentionTakesManyForms) {
  const Value q = X({n, 3, 8}), k = X({n, 5, 8}), v = X({n, 5, 4});
  EXPECT_EQ(Run<ms::MultiHeadAttention>({q, k, v}, {.num_heads = 2}, 3),
            "tensor<Nx3x4xf32>, tensor<Nx2x5x4xf32>, tensor<Nx2x5x2xf32>");
  EXPECT_EQ(Run<ms::MultiHeadAttention>({X({n, 3, 2, 3, 4})}, {.num_heads = 2}),
            "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ms::MultiHeadAttention>({q, X({n, 5, 2, 2, 4})}, {.num_heads = 2}),
            "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ms::MultiHeadAttention>({q, X({n, 2, 5, 4}), X({n, 2, 5, 4})}, {.num_heads = 2}),
            "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ms::MultiHeadAttention>({q, k, X({n, 4, 8})}, {.num_heads = 2}),
            "com.microsoft.MultiHeadAttention: key has 5 keys but value has 4");
  EXPECT_EQ(Run<ms::MultiHeadAttention>({q, k, v, X({24})}, {.num_heads = 2}),
            "com.microsoft.MultiHeadAttention: bias is [24] but must be [20]");
  EXPECT_EQ(Run<ms::MultiHeadAttention>({q, k, v}, {.num_heads = 0}),
            "com.microsoft.MultiHeadAttention: num_heads is 0");
}

TEST_F(Microsoft, AnAttentionBiasHasANumberForEachQueryAndKey) {
  const Value q = X({2, 3, 8}), k = X({2, 5, 8});
  const auto run = [&](Value bias) {
    return Run<ms::MultiHeadAttention>({q, k, k, {}, {}, bias}, {.num_heads = 2});
  };
  for (const Value bias : {X({1, 1, 3, 5}), X({2, 2, 3, 5})})
    EXPECT_EQ(run(bias), "tensor<2x3x8xf32>");
  EXPECT_EQ(run(X({1, 1, 1, 5})),
            "com.microsoft.MultiHeadAttention: attention_bias is [1,1,1,5] but must be [?,?,3,5]");
}

TEST_F(Microsoft, CachesOfGroupQueryAttentionHoldAllKeys) {
  const Value q = X({2, 1, 64}), k = X({2, 1, 32}), lengths = I32({2});
  const auto run = [&](Value past, Value total, size_t results) {
    return Run<ms::GroupQueryAttention>({q, k, k, past, past, lengths, total},
                                        {.kv_num_heads = 2, .num_heads = 4}, results);
  };
  EXPECT_EQ(run(X({2, 2, 4, 16}), Total(5), 2), "tensor<2x1x64xf32>, tensor<2x2x5x16xf32>");
  EXPECT_EQ(run(X({2, 2, 9, 16}), Total(5), 2), "tensor<2x1x64xf32>, tensor<2x2x9x16xf32>");
  EXPECT_EQ(run(Value(), I32({}), 2), "tensor<2x1x64xf32>, tensor<2x2x-1x16xf32>");
  EXPECT_EQ(run(X({2, 3, 4, 16}), Total(5), 1),
            "com.microsoft.GroupQueryAttention: past_key is [2,3,4,16] but must be [2,2,?,16]");
  EXPECT_EQ(run(Value(), Total(0), 1),
            "com.microsoft.GroupQueryAttention: total_sequence_length is 0");
  EXPECT_EQ(Run<ms::GroupQueryAttention>({q, k, k, Value(), Value(), lengths, Total(1)},
                                         {.do_rotary = 1, .kv_num_heads = 2, .num_heads = 4}),
            "com.microsoft.GroupQueryAttention: do_rotary needs cos_cache and sin_cache");
}

TEST_F(Microsoft, RotaryEmbeddingTurnsPairs) {
  const Value x = X({n, 2, 3, 8}), ids = X({n, 3}, DataType::kI64), cache = X({7, 4});
  EXPECT_EQ(Run<ms::RotaryEmbedding>({x, ids, cache, cache}), "tensor<Nx2x3x8xf32>");
  EXPECT_EQ(Run<ms::RotaryEmbedding>({x, I({3}), cache, cache}), "tensor<Nx2x3x8xf32>");
  EXPECT_EQ(Run<ms::RotaryEmbedding>({x, ids, X({7, 3}), X({7, 3})}),
            "com.microsoft.RotaryEmbedding: cos_cache has 3 pairs for [\"N\",2,3,8]");
  EXPECT_EQ(
      Run<ms::RotaryEmbedding>({X({n, 3, 16}), ids, cache, cache}, {.rotary_embedding_dim = 8}),
      "com.microsoft.RotaryEmbedding: rotary_embedding_dim needs num_heads");
}

TEST_F(Microsoft, QLinearConcatHasThreeOperandsForEachInput) {
  const DataType u8 = DataType::kU8;
  const Value scale = X({}), zero = X({}, u8), a = X({n, 3}, u8), b = X({n, 5}, u8);
  const auto run = [&](std::vector<Value> operands) {
    return Run<ms::QLinearConcat>(std::move(operands), {.axis = 1});
  };
  EXPECT_EQ(run({scale, zero, a, scale, zero, b, scale, zero}), "tensor<Nx8xu8>");
  EXPECT_EQ(run({scale, zero, a, scale, zero, b, scale}),
            "com.microsoft.QLinearConcat: wants the integers, the scale and the zero point of each "
            "input");
  EXPECT_EQ(run({scale, zero, a, scale, Value()}),
            "com.microsoft.QLinearConcat: operand 4 is not given");
  EXPECT_EQ(run({scale, zero, a, X({3}), zero}),
            "com.microsoft.QLinearConcat: inputs[1] is [3], not a scalar");
  EXPECT_EQ(run({scale, zero, X({n, 3}, DataType::kI8), scale, zero}),
            "com.microsoft.QLinearConcat: y_zero_point is u8 but inputs[0] is i8");
}

}  // namespace
}  // namespace weft::ir
