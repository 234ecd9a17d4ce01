#include "ir/dialects/onnx/nn/signal.h"

#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxSignal = InferTest;

TEST_F(OnnxSignal, DftReturnsComplexNumbers) {
  const Value x = X({n, 10, 1});
  EXPECT_EQ(Run<ops::DFT>({x}), "tensor<Nx10x2xf32>");
  EXPECT_EQ(Run<ops::DFT>({x}, {.onesided = 1}), "tensor<Nx6x2xf32>");
  EXPECT_EQ(Run<ops::DFT>({x, I({15})}), "tensor<Nx15x2xf32>");
  EXPECT_EQ(Run<ops::DFT>({x, Value(), I({0})}), "tensor<Nx10x2xf32>");
  EXPECT_EQ(Run<ops::DFT>({x, I({4}), X({}, DataType::kI64)}), "tensor<-1x-1x2xf32>");
  EXPECT_EQ(Run<ops::DFT>({X({n, 6, 2})}, {.inverse = 1, .onesided = 1}), "tensor<Nx10x1xf32>");
  EXPECT_EQ(Run<ops::DFT>({X({3, n, 2}), Value(), Scalar(1, DataType::kI64)},
                          {.inverse = 1, .onesided = 1}),
            "tensor<3x-1x1xf32>");
}

TEST_F(OnnxSignal, DftNamesWhatDoesNotFit) {
  const Value x = X({n, 10, 1});
  EXPECT_EQ(Run<ops::DFT>({x, Value(), I({2})}),
            "onnx.DFT: axis is the last one, which holds the parts of a number");
  EXPECT_EQ(Run<ops::DFT>({x, Value(), I({3})}), "onnx.DFT: axis 3 is out of range for rank 3");
  EXPECT_EQ(Run<ops::DFT>({x, I({0})}), "onnx.DFT: dft_length is 0");
  EXPECT_EQ(Run<ops::DFT>({X({n, 10, 3})}), "onnx.DFT: x has 3 parts of a number");
  EXPECT_EQ(Run<ops::DFT>({X({n, 10, 2})}, {.onesided = 1}), "onnx.DFT: x has 2 parts of a number");
  EXPECT_EQ(Run<ops::DFT>({X({n, 1, 2})}, {.inverse = 1, .onesided = 1}),
            "onnx.DFT: dimension 1 is 1: nothing to transform");
}

TEST_F(OnnxSignal, StftCountsFrames) {
  const Value x = X({n, 128, 1});
  EXPECT_EQ(Run<ops::STFT>({x, I({8}), X({16})}), "tensor<Nx15x9x2xf32>");
  EXPECT_EQ(Run<ops::STFT>({x, I({8}), Value(), I({16})}, {.onesided = 0}),
            "tensor<Nx15x16x2xf32>");
  EXPECT_EQ(Run<ops::STFT>({x, I({8})}), "tensor<Nx1x65x2xf32>");
  EXPECT_EQ(Run<ops::STFT>({x, I({0}), X({16})}), "onnx.STFT: frame_step is 0");
  EXPECT_EQ(Run<ops::STFT>({x, I({8}), X({16}), I({15})}),
            "onnx.STFT: window is [16] but must be [15]");
  EXPECT_EQ(Run<ops::STFT>({x, I({8}), X({129})}),
            "onnx.STFT: frames of 129 do not fit 128 elements");
}

TEST_F(OnnxSignal, TablesHaveTheSizesOfTheirOperands) {
  EXPECT_EQ(Run<ops::MelWeightMatrix>({I({8}), I({16}), I({8192}), Scalar(0), Scalar(8192)}),
            "tensor<9x8xf32>");
  EXPECT_EQ(Run<ops::MelWeightMatrix>({I({0}), I({16}), I({8192}), Scalar(0), Scalar(8192)}),
            "onnx.MelWeightMatrix: num_mel_bins is 0");
  EXPECT_EQ(Run<ops::HannWindow>({I({10})}, {.output_datatype = DataType::kF64}), "tensor<10xf64>");
  EXPECT_EQ(Run<ops::HammingWindow>({X({}, DataType::kI32)}), "tensor<-1xf32>");
  EXPECT_EQ(Run<ops::BlackmanWindow>({I({-1})}), "onnx.BlackmanWindow: size is -1");
  EXPECT_EQ(Run<ops::BlackmanWindow>({I({1})}, {.output_datatype = DataType::kBool}),
            "onnx.BlackmanWindow: output_datatype is no number");
}

}  // namespace
}  // namespace weft::ir
