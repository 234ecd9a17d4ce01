#include "ir/dialects/onnx/infer/window.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxPool = InferTest;

TEST_F(OnnxPool, PoolsSlideTheirWindow) {
  EXPECT_EQ(Run<ops::MaxPool>({X({1, 64, 112, 112})},
                              {.kernel_shape = {3, 3}, .pads = {1, 1, 1, 1}, .strides = {2, 2}}),
            "tensor<1x64x56x56xf32>");
  EXPECT_EQ(Run<ops::MaxPool>({X({n, 2, 5})}, {.kernel_shape = {2}}, 2),
            "tensor<Nx2x4xf32>, tensor<Nx2x4xi64>");
  EXPECT_EQ(Run<ops::AveragePool>({X({1, 2, 5, 5})}, {.kernel_shape = {5, 5}}),
            "tensor<1x2x1x1xf32>");
  EXPECT_EQ(Run<ops::AveragePool>({Unranked()}, {.kernel_shape = {5, 5}}), "tensor<*xf32>");
  EXPECT_EQ(Run<ops::MaxPool>({X({1, 2, 5, 5})}, {.kernel_shape = {2}}),
            "onnx.MaxPool: kernel_shape has 1 entries but needs 2");
  EXPECT_EQ(Run<ops::MaxPool>({X({1, 2})}, {.kernel_shape = {2}}),
            "onnx.MaxPool: x has rank 2 but must have 3 or more");
  EXPECT_EQ(Run<ops::AveragePool>({X({1, 2, 3})}, {.kernel_shape = {0}}),
            "onnx.AveragePool: kernel_shape has the entry 0");
  EXPECT_EQ(Run<ops::AveragePool>({X({1, 2, 3}, DataType::kI8)}, {.kernel_shape = {1}}),
            "onnx.AveragePool: x is i8 but must be a float");
  EXPECT_EQ(Run<ops::MaxPool>({X({1, 2, 3}, DataType::kBool)}, {.kernel_shape = {1}}),
            "onnx.MaxPool: x is bool but must be a number");
}

TEST_F(OnnxPool, PoolsWhoseWindowIsLargerThanTheInputGiveNothing) {
  EXPECT_EQ(Run<ops::MaxPool>({X({1, 2, 2, 5})}, {.kernel_shape = {3, 3}}), "tensor<1x2x0x3xf32>");
  EXPECT_EQ(Run<ops::AveragePool>({X({1, 2, 2})}, {.kernel_shape = {9}, .strides = {2}}),
            "tensor<1x2x0xf32>");
  EXPECT_EQ(Run<ops::AveragePool>({X({1, 2, 0})}, {.kernel_shape = {1}}), "tensor<1x2x0xf32>");
  EXPECT_EQ(
      Run<ops::MaxPool>({X({1, 1, 2})}, {.ceil_mode = 1, .kernel_shape = {3}, .strides = {2}}),
      "tensor<1x1x1xf32>");
  EXPECT_EQ(
      Run<ops::MaxPool>({X({1, 1, 2})}, {.ceil_mode = 1, .kernel_shape = {4}, .strides = {2}}),
      "tensor<1x1x0xf32>");
}

TEST_F(OnnxPool, CeilModeDropsAWindowThatBeginsInTheEndPadding) {
  EXPECT_EQ(
      Run<ops::MaxPool>({X({1, 1, 6})}, {.ceil_mode = 1, .kernel_shape = {3}, .strides = {2}}),
      "tensor<1x1x3xf32>");
  // Windows begin at -1 and 2; one at 5 would hold padding only.
  EXPECT_EQ(
      Run<ops::MaxPool>({X({1, 1, 5})},
                        {.ceil_mode = 1, .kernel_shape = {2}, .pads = {1, 1}, .strides = {3}}),
      "tensor<1x1x2xf32>");
}

TEST_F(OnnxPool, EffectivePadsAreThoseOfAutoPad) {
  const int64_t spatial[] = {6, 5};
  Window window = {.kernel = {3, 2}, .strides = {1, 2}, .auto_pad = ops::AutoPad::kSameUpper};
  EXPECT_EQ(EffectivePads(spatial, window), (Ints{1, 0, 1, 1}));
  window.auto_pad = ops::AutoPad::kSameLower;
  EXPECT_EQ(EffectivePads(spatial, window), (Ints{1, 1, 1, 0}));
  window.auto_pad = ops::AutoPad::kValid;
  EXPECT_EQ(EffectivePads(spatial, window), (Ints{0, 0, 0, 0}));
  window.auto_pad = ops::AutoPad::kNotSet;
  window.pads = {1, 2, 3, 4};
  EXPECT_EQ(EffectivePads(spatial, window), (Ints{1, 2, 3, 4}));
  window.auto_pad = ops::AutoPad::kSameUpper;
  EXPECT_EQ(EffectivePads(std::vector<int64_t>{6, n}, window), std::nullopt);
}

TEST_F(OnnxPool, GlobalAveragePoolKeepsOnes) {
  EXPECT_EQ(Run<ops::GlobalAveragePool>({X({n, 8, 7, m})}), "tensor<Nx8x1x1xf32>");
  EXPECT_EQ(Run<ops::GlobalAveragePool>({X({8, 7})}),
            "onnx.GlobalAveragePool: x has rank 2 but must have 3 or more");
}

TEST_F(OnnxPool, DilationsSpreadTheWindow) {
  EXPECT_EQ(Run<ops::AveragePool>({X({1, 2, 7})}, {.dilations = {2}, .kernel_shape = {3}}),
            "tensor<1x2x3xf32>");
  EXPECT_EQ(Run<ops::LpPool>({X({1, 2, 7})}, {.dilations = {3}, .kernel_shape = {3}, .p = 3}),
            "tensor<1x2x1xf32>");
  EXPECT_EQ(Run<ops::LpPool>({X({1, 2, 7})}, {.kernel_shape = {3}, .p = 0}),
            "onnx.LpPool: p is 0 but must be 1 or more");
}

TEST_F(OnnxPool, GlobalPoolsKeepTheRank) {
  EXPECT_EQ(Run<ops::GlobalMaxPool>({X({n, 3, 5, m})}), "tensor<Nx3x1x1xf32>");
  EXPECT_EQ(Run<ops::GlobalLpPool>({X({n, 3, 5})}, {.p = 1}), "tensor<Nx3x1xf32>");
  EXPECT_EQ(Run<ops::GlobalLpPool>({X({n, 3, 5})}, {.p = -1}),
            "onnx.GlobalLpPool: p is -1 but must be 1 or more");
  EXPECT_EQ(Run<ops::GlobalMaxPool>({X({n, 3})}),
            "onnx.GlobalMaxPool: x has rank 2 but must have 3 or more");
}

TEST_F(OnnxPool, MaxUnpoolUndoesTheWindow) {
  const Value x = X({1, 1, 2, 2}), indices = X({1, 1, 2, 2}, DataType::kI64);
  EXPECT_EQ(Run<ops::MaxUnpool>({x, indices}, {.kernel_shape = {2, 2}, .strides = {2, 2}}),
            "tensor<1x1x4x4xf32>");
  EXPECT_EQ(Run<ops::MaxUnpool>({x, indices, I({1, 1, 5, 5})},
                                {.kernel_shape = {2, 2}, .strides = {2, 2}}),
            "tensor<1x1x5x5xf32>");
  EXPECT_EQ(Run<ops::MaxUnpool>({x, indices, I({1, 1, 3, 5})},
                                {.kernel_shape = {2, 2}, .strides = {2, 2}}),
            "onnx.MaxUnpool: output_shape is [1,1,3,5], smaller than [1,1,4,4]");
  EXPECT_EQ(Run<ops::MaxUnpool>({x, indices}, {.kernel_shape = {2}}),
            "onnx.MaxUnpool: kernel_shape, strides and pads make no shape of x's");
  EXPECT_EQ(Run<ops::MaxUnpool>({x, X({1, 1, 2, 3}, DataType::kI64)}, {.kernel_shape = {2, 2}}),
            "onnx.MaxUnpool: indices is [1,1,2,3] but must be [1,1,2,2]");
}

}  // namespace
}  // namespace weft::ir
