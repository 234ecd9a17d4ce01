#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxConv = InferTest;

TEST_F(OnnxConv, ConvSlidesItsKernel) {
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 224, 224}), X({64, 3, 7, 7}), X({64})},
                           {.pads = {3, 3, 3, 3}, .strides = {2, 2}}),
            "tensor<1x64x112x112xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({n, 8, 10}), X({8, 1, 3})}, {.dilations = {2}, .group = 8}),
            "tensor<Nx8x6xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 1, 4, 5, 6}), X({2, 1, 2, 2, 2})}), "tensor<1x2x3x4x5xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), X({4, 3, 3, 3})},
                           {.auto_pad = ops::AutoPad::kSameUpper, .strides = {2, 2}}),
            "tensor<1x4x3x3xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), X({4, 3, 3, 3})}, {.auto_pad = ops::AutoPad::kValid}),
            "tensor<1x4x3x3xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), X({4, 3, kUnknownDim, 3})}), "tensor<1x4x-1x3xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), Unranked()}), "tensor<*xf32>");
}

TEST_F(OnnxConv, ConvKeepsASymbolicSizeThatItDoesNotChange) {
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, n, m}), X({4, 3, 3, 1})}, {.pads = {1, 0, 1, 0}}),
            "tensor<1x4xNxMxf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, n, m}), X({4, 3, 3, 1})}, {.strides = {1, 2}}),
            "tensor<1x4xN - 2x(M + 1)//2xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, n, m}), X({4, 3, 3, 3})},
                           {.auto_pad = ops::AutoPad::kSameLower, .strides = {1, 2}}),
            "tensor<1x4xNx(M + 1)//2xf32>");
}

TEST_F(OnnxConv, ConvNamesWhatDoesNotFit) {
  const Value x = X({1, 4, 5, 5}), w = X({6, 2, 3, 3});
  EXPECT_EQ(Run<ops::Conv>({x, w}),
            "onnx.Conv: x has 4 channels but w reads 2 in each of 1 groups");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.group = 0}), "onnx.Conv: group is 0");
  EXPECT_EQ(Run<ops::Conv>({x, X({5, 2, 3, 3})}, {.group = 2}),
            "onnx.Conv: w has 5 output channels, no multiple of group 2");
  EXPECT_EQ(Run<ops::Conv>({x, w, X({5})}, {.group = 2}), "onnx.Conv: b is [5] but must be [6]");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.group = 2, .kernel_shape = {3, 2}}),
            "onnx.Conv: kernel_shape is [3,2] but w has [3,3]");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.group = 2, .kernel_shape = {-1, 3}}),
            "onnx.Conv: kernel_shape is [-1,3] but w has [3,3]");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.group = 2, .strides = {0, 1}}),
            "onnx.Conv: strides has the entry 0");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.group = 2, .strides = {1}}),
            "onnx.Conv: strides has 1 entries but needs 2");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.dilations = {1, 1, 1}, .group = 2}),
            "onnx.Conv: dilations has 3 entries but needs 2");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.group = 2, .pads = {0, 0, -1, 0}}),
            "onnx.Conv: pads has the entry -1");
  EXPECT_EQ(Run<ops::Conv>({x, w}, {.dilations = {3, 1}, .group = 2}),
            "onnx.Conv: a window of 7 does not fit the padded size 5");
  EXPECT_EQ(Run<ops::Conv>({x, X({6, 2, 3})}, {.group = 2}),
            "onnx.Conv: x has rank 4 but w has rank 3");
  EXPECT_EQ(Run<ops::Conv>({X({1, 4}), w}), "onnx.Conv: x has rank 2 but must have 3 or more");
  EXPECT_EQ(Run<ops::Conv>({X({1, 4, 5, 5}, DataType::kI32), X({6, 4, 3, 3}, DataType::kI32)}),
            "onnx.Conv: x is i32 but must be a float");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), X({64, int64_t{1} << 58, 3, 3})}, {.group = 64}),
            "onnx.Conv: w reads 288230376151711744 channels in each of 64 groups");
}

TEST_F(OnnxConv, ConvTransposeSpreadsItsInput) {
  const Value x = X({1, 3, 4, 5}), w = X({3, 2, 3, 3});
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w, X({2})}), "tensor<1x2x6x7xf32>");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.output_padding = {1, 0}, .strides = {2, 3}}),
            "tensor<1x2x10x15xf32>");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.dilations = {2, 1}, .pads = {1, 0, 1, 2}}),
            "tensor<1x2x6x5xf32>");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.output_shape = {9, 11}, .strides = {2, 2}}),
            "tensor<1x2x9x11xf32>");
  EXPECT_EQ(
      Run<ops::ConvTranspose>({x, w}, {.auto_pad = ops::AutoPad::kSameUpper, .strides = {2, 2}}),
      "tensor<1x2x8x10xf32>");
  EXPECT_EQ(Run<ops::ConvTranspose>({X({n, 4, m}), X({4, 3, 3})}, {.group = 2}),
            "tensor<Nx6xM + 2xf32>");
}

TEST_F(OnnxConv, ConvTransposeNamesWhatDoesNotFit) {
  const Value x = X({1, 3, 4, 5}), w = X({3, 2, 3, 3});
  EXPECT_EQ(Run<ops::ConvTranspose>({X({1, 4, 4, 5}), w}),
            "onnx.ConvTranspose: x has 4 channels but w reads 3");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.group = 2}),
            "onnx.ConvTranspose: w reads 3 channels, no multiple of group 2");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w, X({3})}),
            "onnx.ConvTranspose: b is [3] but must be [2]");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.strides = {2}}),
            "onnx.ConvTranspose: strides has 1 entries but needs 2");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.output_padding = {-1, 0}}),
            "onnx.ConvTranspose: output_padding has the entry -1");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.kernel_shape = {3, 2}}),
            "onnx.ConvTranspose: kernel_shape is [3,2] but w has [3,3]");
  EXPECT_EQ(Run<ops::ConvTranspose>({x, w}, {.pads = {4, 0, 4, 0}}),
            "onnx.ConvTranspose: pads leave nothing of spatial dimension 0");
}

TEST_F(OnnxConv, Col2ImTellsTheChannelsFromTheBlocks) {
  EXPECT_EQ(Run<ops::Col2Im>({X({n, 10, 12}), I({4, 5}), I({1, 5})}, {.pads = {0, 1, 0, 1}}),
            "tensor<Nx2x4x5xf32>");
  EXPECT_EQ(Run<ops::Col2Im>({X({1, 10, 4}), I({4, 5}), X({2}, DataType::kI64)}),
            "tensor<1x-1x4x5xf32>");
  EXPECT_EQ(Run<ops::Col2Im>({X({1, 10, 3}), I({4, 5}), I({1, 5})}),
            "onnx.Col2Im: x has 3 blocks but the image has 4");
  EXPECT_EQ(Run<ops::Col2Im>({X({1, 9, 4}), I({4, 5}), I({1, 5})}),
            "onnx.Col2Im: x has 9 rows, no multiple of the 5 elements of a block");
  EXPECT_EQ(Run<ops::Col2Im>({X({1, 10, 4}), I({4, 5}), I({5})}),
            "onnx.Col2Im: image_shape has 2 entries but block_shape has 1");
}

TEST_F(OnnxConv, DeformConvHasAnOffsetPerKernelElement) {
  const Value x = X({1, 2, 4, 4}), w = X({3, 2, 2, 2});
  EXPECT_EQ(Run<ops::DeformConv>({x, w, X({1, 8, 3, 3}), X({3}), X({1, 4, 3, 3})}),
            "tensor<1x3x3x3xf32>");
  EXPECT_EQ(Run<ops::DeformConv>({x, w, X({1, 16, 3, 3})}, {.offset_group = 2}),
            "tensor<1x3x3x3xf32>");
  EXPECT_EQ(Run<ops::DeformConv>({x, w, X({1, 4, 3, 3})}),
            "onnx.DeformConv: offset is [1,4,3,3] but must be [1,8,3,3]");
  EXPECT_EQ(Run<ops::DeformConv>({x, w, X({1, 8, 3, 3}), {}, X({1, 8, 3, 3})}),
            "onnx.DeformConv: mask is [1,8,3,3] but must be [1,4,3,3]");
  EXPECT_EQ(Run<ops::DeformConv>({x, w, X({1, 8, 3, 3})}, {.offset_group = 3}),
            "onnx.DeformConv: offset_group is 3 for 2 channels");
}

}  // namespace
}  // namespace weft::ir
