// The reference kernels of recurrent layers against numbers worked out by hand: layers of one neuron.
#include "ir/dialects/onnx/nn/recurrent.h"

#include <cmath>

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;

using ops::RecurrentDirection;

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// h = x + h / 2 for the inputs 1, 2, 4.
F Linear(RecurrentDirection direction, Operand lengths = {}) {
  const int64_t n = direction == RecurrentDirection::kBidirectional ? 2 : 1;
  const F w(n, 1), r(n, 0.5);
  return ValuesOf<float>(RunOp<ops::RNN>(
      {F32({3, 1, 1}, {1, 2, 4}), F32({n, 1, 1}, w), F32({n, 1, 1}, r), {}, lengths},
      {.activation_alpha = F{1, 1},
       .activation_beta = F{0, 0},
       .activations = ir::Strings{"Affine", "Affine"},
       .direction = direction},
      {DataType::kF32, {3, n, 1, 1}}));
}

TEST(ReferenceRnn, WalksInEitherDirection) {
  EXPECT_EQ(Linear(RecurrentDirection::kForward), (F{1, 2.5, 5.25}));
  EXPECT_EQ(Linear(RecurrentDirection::kReverse), (F{3, 4, 4}));
  EXPECT_EQ(Linear(RecurrentDirection::kBidirectional), (F{1, 3, 2.5, 4, 5.25, 4}));
}

TEST(ReferenceRnn, StopsWhereASequenceEnds) {
  EXPECT_EQ(Linear(RecurrentDirection::kForward, I32({1}, {2})), (F{1, 2.5, 0}));
  EXPECT_EQ(Linear(RecurrentDirection::kReverse, I32({1}, {2})), (F{2, 2, 0}));
  const auto y = TryRunOp<ops::RNN>(
      {F32({1, 1, 1}, {1}), F32({1, 1, 1}, {1}), F32({1, 1, 1}, {1}), {}, I32({1}, {2})}, {},
      {{DataType::kF32, {1, 1, 1, 1}}});
  EXPECT_EQ(y.status().message(), "onnx.RNN: a sequence has 2 of 1 steps");
}

TEST(ReferenceRnn, ReadsBatchesFirstInLayoutOne) {
  // Two sequences of two steps; h = x + h.
  const auto results =
      TryRunOp<ops::RNN>({F32({2, 2, 1}, {1, 2, 10, 20}),
                          F32({1, 1, 1}, {1}),
                          F32({1, 1, 1}, {1}),
                          {},
                          {},
                          F32({2, 1, 1}, {100, 200})},
                         {.activations = ir::Strings{"Relu"}, .layout = 1},
                         {{DataType::kF32, {2, 2, 1, 1}}, {DataType::kF32, {2, 1, 1}}});
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_EQ(ValuesOf<float>((*results)[0]), (F{101, 103, 210, 230}));
  EXPECT_EQ(ValuesOf<float>((*results)[1]), (F{103, 230}));
}

TEST(ReferenceRnn, KnowsEveryActivation) {
  const auto f = [](const char* name, float x, F alpha = {}, F beta = {}) {
    return RunOp<ops::RNN>({F32({1, 1, 1}, {x}), F32({1, 1, 1}, {1}), F32({1, 1, 1}, {0})},
                           {.activation_alpha = alpha,
                            .activation_beta = beta,
                            .activations = ir::Strings{name}},
                           {DataType::kF32, {1, 1, 1, 1}})
        .values<float>()[0];
  };
  EXPECT_EQ(f("Relu", -2), 0);
  EXPECT_FLOAT_EQ(f("Tanh", 0.5), std::tanh(0.5f));
  EXPECT_FLOAT_EQ(f("Sigmoid", 2), Sigmoid(2));
  EXPECT_FLOAT_EQ(f("Affine", 2, {3}, {4}), 10);
  EXPECT_FLOAT_EQ(f("LeakyRelu", -2), -0.02f);
  EXPECT_FLOAT_EQ(f("LeakyRelu", -2, {0.5}), -1);
  EXPECT_EQ(f("ThresholdedRelu", 0.9f), 0);
  EXPECT_FLOAT_EQ(f("ScaledTanh", 1, {2}, {3}), 2 * std::tanh(3.0f));
  EXPECT_FLOAT_EQ(f("HardSigmoid", 1), 0.7f);
  EXPECT_FLOAT_EQ(f("Elu", -1, {2}), 2 * std::expm1(-1.0f));
  EXPECT_FLOAT_EQ(f("Softsign", -3), -0.75f);
  EXPECT_FLOAT_EQ(f("Softplus", 1), std::log1p(std::exp(1.0f)));
}

TEST(ReferenceRnn, ClipsWhatActivationsSee) {
  const Tensor y = RunOp<ops::RNN>(
      {F32({2, 1, 1}, {5, -5}), F32({1, 1, 1}, {1}), F32({1, 1, 1}, {0})},
      {.activations = ir::Strings{"Affine"}, .clip = 2.0f}, {DataType::kF32, {2, 1, 1, 1}});
  EXPECT_EQ(ValuesOf<float>(y), (F{2, -2}));
}

TEST(ReferenceRnn, LetsANanThrough) {
  const Tensor y =
      RunOp<ops::RNN>({F32({1, 1, 1}, {std::nanf("")}), F32({1, 1, 1}, {1}), F32({1, 1, 1}, {1})},
                      {}, {DataType::kF32, {1, 1, 1, 1}});
  EXPECT_TRUE(std::isnan(y.values<float>()[0]));
}

TEST(ReferenceGru, ResetsBeforeOrAfterTheMatrix) {
  // Gates z, r, h with biases 0.1, 0.2, 0.3 of x and 0.4, 0.5, 0.6 of h; x = 1 and h = 2.
  const auto step = [](int64_t linear_before_reset) {
    return RunOp<ops::GRU>({F32({1, 1, 1}, {1}),
                            F32({1, 3, 1}, {0.7f, 0.8f, 0.9f}),
                            F32({1, 3, 1}, {-0.3f, -0.2f, -0.1f}),
                            F32({1, 6}, {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f}),
                            {},
                            F32({1, 1, 1}, {2})},
                           {.linear_before_reset = linear_before_reset},
                           {DataType::kF32, {1, 1, 1, 1}})
        .values<float>()[0];
  };
  const double z = Sigmoid(0.7 + 0.1 - 0.6 + 0.4), r = Sigmoid(0.8 + 0.2 - 0.4 + 0.5);
  const double before = std::tanh(0.9 + 0.3 + r * (-0.2 + 0.6));
  const double after = std::tanh(0.9 + 0.3 + r * 2 * -0.1 + 0.6);
  EXPECT_NEAR(step(1), (1 - z) * before + z * 2, 1e-6);
  EXPECT_NEAR(step(0), (1 - z) * after + z * 2, 1e-6);
}

TEST(ReferenceLstm, KeepsACell) {
  // Gates i, o, f, c; x = 1, h = 2, the cell 3.
  const auto step = [](int64_t input_forget) {
    const auto results = TryRunOp<ops::LSTM>(
        {F32({1, 1, 1}, {1}),
         F32({1, 4, 1}, {0.1f, 0.2f, 0.3f, 0.4f}),
         F32({1, 4, 1}, {0.5f, -0.6f, 0.7f, -0.8f}),
         {},
         {},
         F32({1, 1, 1}, {2}),
         F32({1, 1, 1}, {3}),
         F32({1, 3}, {0.05f, 0.06f, -0.07f})},
        {.input_forget = input_forget},
        {{DataType::kF32, {1, 1, 1, 1}}, {DataType::kF32, {1, 1, 1}}, {DataType::kF32, {1, 1, 1}}});
    EXPECT_TRUE(results.ok()) << results.status();
    EXPECT_EQ(ValuesOf<float>((*results)[0]), ValuesOf<float>((*results)[1]));
    return std::pair((*results)[1].values<float>()[0], (*results)[2].values<float>()[0]);
  };
  const double i = Sigmoid(0.1 + 1 + 0.15), f = Sigmoid(0.3 + 1.4 - 0.21), g = std::tanh(0.4 - 1.6);
  const auto check = [&](int64_t input_forget, double forget) {
    const double c = forget * 3 + i * g, o = Sigmoid(0.2 - 1.2 + 0.06 * c);
    EXPECT_NEAR(step(input_forget).second, c, 1e-5);
    EXPECT_NEAR(step(input_forget).first, o * std::tanh(c), 1e-5);
  };
  check(0, f);
  check(1, 1 - i);
}

}  // namespace
}  // namespace weft::kernels
