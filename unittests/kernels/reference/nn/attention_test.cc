// Attention and its relatives against numbers worked out by hand.
#include "ir/dialects/onnx/nn/attention.h"

#include <cmath>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;
using Attrs = ops::Attention::Attrs<ir::BuilderSlot>;

// Scores ln 1, ln 2, ln 3, so that the weights are 1 : 2 : 3; the values are 6, 12, 18.
Operand Query() { return F32({1, 1, 1, 1}, {1}); }
Operand Keys() { return F32({1, 1, 3, 1}, {0, std::log(2.0f), std::log(3.0f)}); }
Operand Values() { return F32({1, 1, 3, 1}, {6, 12, 18}); }
float Attend(std::vector<Operand> more, Attrs attrs = {}) {
  std::vector<Operand> operands = {Query(), Keys(), Values()};
  operands.insert(operands.end(), more.begin(), more.end());
  return RunOp<ops::Attention>(operands, attrs, {DataType::kF32, {1, 1, 1, 1}}).values<float>()[0];
}

TEST(ReferenceAttention, WeighsValuesBySoftmaxOfScores) {
  EXPECT_NEAR(Attend({}), (6 + 24 + 54) / 6.0, 1e-5);
  EXPECT_NEAR(Attend({}, {.scale = 2.0f}), (6 + 48 + 162) / 14.0, 1e-5);
  const double a = std::exp(0.5 * std::tanh(std::log(2.0) / 0.5)),
               b = std::exp(0.5 * std::tanh(std::log(3.0) / 0.5));
  EXPECT_NEAR(Attend({}, {.softcap = 0.5f}), (6 + 12 * a + 18 * b) / (1 + a + b), 1e-5);
}

TEST(ReferenceAttention, LeavesOutWhatMasksExclude) {
  EXPECT_NEAR(Attend({Bool({1, 3}, {1, 0, 1})}), (6 + 54) / 4.0, 1e-5);
  EXPECT_NEAR(Attend({F32({1, 3}, {0, 0, std::log(2.0f)})}), (6 + 24 + 108) / 9.0, 1e-5);
  EXPECT_NEAR(Attend({Bool({1, 2}, {1, 1})}), (6 + 24) / 3.0, 1e-5);
  EXPECT_NEAR(Attend({{}, {}, {}, I64({1}, {2})}), (6 + 24) / 3.0, 1e-5);
  EXPECT_NEAR(Attend({}, {.is_causal = 1}), 6, 1e-5);
  EXPECT_EQ(Attend({Bool({1, 3}, {0, 0, 0})}), 0);
}

TEST(ReferenceAttention, CausalQueriesComeAfterThePastAndEndWithTheKeysInUse) {
  const Operand past_k = F32({1, 1, 1, 1}, {std::log(3.0f)}), past_v = F32({1, 1, 1, 1}, {2});
  EXPECT_NEAR(Attend({{}, past_k, past_v}, {.is_causal = 1}), (6 + 6) / 4.0, 1e-5);
  EXPECT_NEAR(Attend({{}, {}, {}, I64({1}, {2})}, {.is_causal = 1}), (6 + 24) / 3.0, 1e-5);
}

TEST(ReferenceAttention, ReturnsTheCacheAndTheScoresOfEachStage) {
  const auto stage = [](int64_t mode) {
    const auto results =
        TryRunOp<ops::Attention>({Query(), Keys(), Values(), Bool({1, 4}, {0, 1, 1, 1}),
                                  F32({1, 1, 1, 1}, {5}), F32({1, 1, 1, 1}, {2})},
                                 {.qk_matmul_output_mode = mode, .softcap = 1.0f},
                                 {{DataType::kF32, {1, 1, 1, 1}},
                                  {DataType::kF32, {1, 1, 4, 1}},
                                  {DataType::kF32, {1, 1, 4, 1}},
                                  {DataType::kF32, {1, 1, 1, 4}}});
    EXPECT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(ValuesOf<float>((*results)[1]), (F{5, 0, std::log(2.0f), std::log(3.0f)}));
    EXPECT_EQ(ValuesOf<float>((*results)[2]), (F{2, 6, 12, 18}));
    return ValuesOf<float>((*results)[3]);
  };
  EXPECT_EQ(stage(0)[0], 5);
  EXPECT_FLOAT_EQ(stage(1)[0], std::tanh(5.0f));
  EXPECT_EQ(stage(2)[0], -INFINITY);
  EXPECT_EQ(stage(3)[0], 0);
  EXPECT_FLOAT_EQ(stage(3)[1], 1 / (1 + std::exp(0.6f) + std::exp(0.8f)));
}

TEST(ReferenceAttention, SharesHeadsOfKeysAndReadsPackedColumns) {
  // Four heads of one column; keys have two heads. With equal scores y is the mean of the values.
  const Tensor y =
      RunOp<ops::Attention>({F32({1, 1, 4}, {0, 0, 0, 0}), F32({1, 2, 2}, {1, 2, 3, 4}),
                             F32({1, 2, 2}, {10, 20, 30, 60})},
                            {.kv_num_heads = 2, .q_num_heads = 4}, {DataType::kF32, {1, 1, 4}});
  ExpectNear(y, F32({1, 1, 4}, {20, 20, 40, 40}));
}

TEST(ReferenceRotaryEmbedding, TurnsHalvesOrNeighbours) {
  // A quarter turn at position 1: (a, b) becomes (-b, a). The last two columns stay.
  const Operand cos = F32({2, 2}, {1, 1, 0, 0}), sin = F32({2, 2}, {0, 0, 1, 1});
  const auto turn = [&](int64_t interleaved, int64_t position) {
    return ValuesOf<float>(RunOp<ops::RotaryEmbedding>(
        {F32({1, 1, 1, 6}, {1, 2, 3, 4, 5, 6}), cos, sin, I64({1, 1}, {position})},
        {.interleaved = interleaved, .rotary_embedding_dim = 4}, {DataType::kF32, {1, 1, 1, 6}}));
  };
  EXPECT_EQ(turn(0, 1), (F{-3, -4, 1, 2, 5, 6}));
  EXPECT_EQ(turn(1, 1), (F{-2, 1, -4, 3, 5, 6}));
  EXPECT_EQ(turn(0, 0), (F{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(turn(0, -1), turn(0, 1));
}

TEST(ReferenceRotaryEmbedding, RefusesAPositionThatTheCacheLacks) {
  for (const int64_t position : {2, -3}) {
    const auto y = TryRunOp<ops::RotaryEmbedding>({F32({1, 1, 1, 2}, {1, 2}), F32({2, 1}, {1, 0}),
                                                   F32({2, 1}, {0, 1}), I64({1, 1}, {position})},
                                                  {}, {{DataType::kF32, {1, 1, 1, 2}}});
    EXPECT_EQ(y.status().message(),
              "onnx.RotaryEmbedding: position " + std::to_string(position) + " is not one of 2");
  }
}

TEST(ReferenceLinearAttention, FollowsEachRule) {
  // One head of size one, two tokens: q = 1 and 2, k = 1 and 3, v = 5 and 7, state 2 at first.
  const auto run = [](ops::UpdateRule rule, Operand decay, Operand beta) {
    const auto results = TryRunOp<ops::LinearAttention>(
        {F32({1, 2, 1}, {1, 2}), F32({1, 2, 1}, {1, 3}), F32({1, 2, 1}, {5, 7}),
         F32({1, 1, 1, 1}, {2}), decay, beta},
        {.kv_num_heads = 1, .q_num_heads = 1, .scale = 10.0f, .update_rule = rule},
        {{DataType::kF32, {1, 2, 1}}, {DataType::kF32, {1, 1, 1, 1}}});
    EXPECT_TRUE(results.ok()) << results.status();
    const F y = ValuesOf<float>((*results)[0]);
    EXPECT_FLOAT_EQ((*results)[1].values<float>()[0] * 20, y[1]);
    return y;
  };
  const Operand half = F32({1, 2, 1}, {std::log(0.5f), std::log(0.5f)});
  const Operand rate = F32({1, 2, 1}, {1, 0.5});
  EXPECT_EQ(run(ops::UpdateRule::kLinear, {}, {}), (F{70, 560}));  // 2 + 5, 7 + 21
  const F gated = run(ops::UpdateRule::kGated, half, {});          // 1 + 5, 3 + 21
  EXPECT_NEAR(gated[0], 60, 1e-4);
  EXPECT_NEAR(gated[1], 480, 1e-3);
  EXPECT_EQ(run(ops::UpdateRule::kDelta, {}, rate), (F{50, -140}));  // 2 + 3, 5 + 3 / 2 (7 - 15)
  const F both = run(ops::UpdateRule::kGatedDelta, half, rate);      // 1 + 4, 2.5 + 3 / 2 (7 - 7.5)
  EXPECT_NEAR(both[0], 50, 1e-4);
  EXPECT_NEAR(both[1], 35, 1e-4);
}

TEST(ReferenceCausalConvWithState, ContinuesWhereThePieceBeforeEnded) {
  const Operand w = F32({1, 1, 3}, {100, 10, 1}), bias = F32({1}, {0.5});
  const auto first = TryRunOp<ops::CausalConvWithState>(
      {F32({1, 1, 1}, {1}), w, bias}, {},
      {{DataType::kF32, {1, 1, 1}}, {DataType::kF32, {1, 1, 2}}});
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_EQ(ValuesOf<float>((*first)[0]), (F{1.5}));
  EXPECT_EQ(ValuesOf<float>((*first)[1]), (F{0, 1}));
  const auto second = TryRunOp<ops::CausalConvWithState>(
      {F32({1, 1, 2}, {2, 3}), w, bias, F32({1, 1, 2}, {0, 1})}, {},
      {{DataType::kF32, {1, 1, 2}}, {DataType::kF32, {1, 1, 2}}});
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(ValuesOf<float>((*second)[0]), (F{12.5, 123.5}));
  EXPECT_EQ(ValuesOf<float>((*second)[1]), (F{2, 3}));
}

}  // namespace
}  // namespace weft::kernels
