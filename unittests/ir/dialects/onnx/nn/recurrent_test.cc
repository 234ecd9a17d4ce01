#include "ir/dialects/onnx/nn/recurrent.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxRecurrent = InferTest;

TEST_F(OnnxRecurrent, ReturnsAllStatesAndTheLast) {
  EXPECT_EQ(Run<ops::RNN>({X({n, 2, 3}), X({1, 4, 3}), X({1, 4, 4})}, {.hidden_size = 4}, 2),
            "tensor<Nx1x2x4xf32>, tensor<1x2x4xf32>");
  EXPECT_EQ(Run<ops::GRU>({X({7, n, 3}), X({2, 12, 3}), X({2, 12, 4}), X({2, 24})},
                          {.direction = ops::RecurrentDirection::kBidirectional}, 2),
            "tensor<7x2xNx4xf32>, tensor<2xNx4xf32>");
  EXPECT_EQ(Run<ops::LSTM>({X({2, n, 3}), X({1, 16, 3}), X({1, 16, 4}), X({1, 32}),
                            X({2}, DataType::kI32), X({2, 1, 4}), X({2, 1, 4}), X({1, 12})},
                           {.layout = 1}, 3),
            "tensor<2xNx1x4xf32>, tensor<2x1x4xf32>, tensor<2x1x4xf32>");
}

TEST_F(OnnxRecurrent, NamesWhatDoesNotFit) {
  const Value x = X({7, 2, 3}), w = X({1, 16, 3}), r = X({1, 16, 4});
  EXPECT_EQ(Run<ops::LSTM>({x, X({1, 12, 3}), r}), "onnx.LSTM: w is [1,12,3] but must be [1,16,3]");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r, X({1, 16})}), "onnx.LSTM: b is [1,16] but must be [1,32]");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r, {}, X({3}, DataType::kI32)}),
            "onnx.LSTM: sequence_lens is [3] but must be [2]");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r, {}, {}, X({2, 1, 4})}),
            "onnx.LSTM: initial_h is [2,1,4] but must be [1,2,4]");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r, {}, {}, {}, {}, X({1, 16})}),
            "onnx.LSTM: p is [1,16] but must be [1,12]");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r}, {.hidden_size = 5}),
            "onnx.LSTM: hidden_size is 5 but r has 4 columns");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r}, {.activations = {"Tanh"}}),
            "onnx.LSTM: activations has 1 entries but needs 3");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r}, {.activations = {"Tanh", "Tan", "Tanh"}}),
            "onnx.LSTM: activations has the unknown Tan");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r}, {.clip = 0.0f}), "onnx.LSTM: clip is 0");
  EXPECT_EQ(Run<ops::LSTM>({x, w, r}, {.layout = 2}), "onnx.LSTM: layout is 2");
}

}  // namespace
}  // namespace weft::ir
