#include "ir/dialects/onnx/window.h"
#include "unittests/ir/dialects/infer_fixture.h"

namespace weft::ir {
namespace {

using OnnxNn = InferTest;

TEST_F(OnnxNn, ConvSlidesItsKernel) {
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
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), X({4, 3, kUnknownDim, 3})}), "tensor<1x4x-1x-1xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, 5, 5}), Unranked()}), "tensor<*xf32>");
}

TEST_F(OnnxNn, ConvKeepsASymbolicSizeThatItDoesNotChange) {
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, n, m}), X({4, 3, 3, 1})}, {.pads = {1, 0, 1, 0}}),
            "tensor<1x4xNxMxf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, n, m}), X({4, 3, 3, 1})}, {.strides = {1, 2}}),
            "tensor<1x4x-1x-1xf32>");
  EXPECT_EQ(Run<ops::Conv>({X({1, 3, n, m}), X({4, 3, 3, 3})},
                           {.auto_pad = ops::AutoPad::kSameLower, .strides = {1, 2}}),
            "tensor<1x4xNx-1xf32>");
}

TEST_F(OnnxNn, ConvNamesWhatDoesNotFit) {
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

TEST_F(OnnxNn, PoolsSlideTheirWindow) {
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

TEST_F(OnnxNn, PoolsWhoseWindowIsLargerThanTheInputGiveNothing) {
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

TEST_F(OnnxNn, CeilModeDropsAWindowThatBeginsInTheEndPadding) {
  EXPECT_EQ(
      Run<ops::MaxPool>({X({1, 1, 6})}, {.ceil_mode = 1, .kernel_shape = {3}, .strides = {2}}),
      "tensor<1x1x3xf32>");
  // Windows begin at -1 and 2; one at 5 would hold padding only.
  EXPECT_EQ(
      Run<ops::MaxPool>({X({1, 1, 5})},
                        {.ceil_mode = 1, .kernel_shape = {2}, .pads = {1, 1}, .strides = {3}}),
      "tensor<1x1x2xf32>");
}

TEST_F(OnnxNn, EffectivePadsAreThoseOfAutoPad) {
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

TEST_F(OnnxNn, GlobalAveragePoolKeepsOnes) {
  EXPECT_EQ(Run<ops::GlobalAveragePool>({X({n, 8, 7, m})}), "tensor<Nx8x1x1xf32>");
  EXPECT_EQ(Run<ops::GlobalAveragePool>({X({8, 7})}),
            "onnx.GlobalAveragePool: x has rank 2 but must have 3 or more");
}

TEST_F(OnnxNn, BatchNormalizationHasOneStatisticPerChannel) {
  const auto run = [&](Value x, int64_t scale, int64_t var, size_t results) {
    return Run<ops::BatchNormalization>({x, X({scale}), X({4}), X({4}), X({var})}, {}, results);
  };
  EXPECT_EQ(run(X({n, 4, 5, 5}), 4, 4, 1), "tensor<Nx4x5x5xf32>");
  EXPECT_EQ(run(Unranked(), 4, 4, 3), "tensor<*xf32>, tensor<4xf32>, tensor<4xf32>");
  EXPECT_EQ(run(X({1, 4, 5}), 3, 4, 1), "onnx.BatchNormalization: scale is [3] but must be [4]");
  EXPECT_EQ(run(Unranked(), 4, 3, 1), "onnx.BatchNormalization: input_var is [3] but must be [4]");
  EXPECT_EQ(run(X({4}), 4, 4, 1), "onnx.BatchNormalization: x has rank 1 but must have 2 or more");
  EXPECT_EQ(run(X({1, 4}, DataType::kI8), 4, 4, 1),
            "onnx.BatchNormalization: x is i8 but must be a float");
}

TEST_F(OnnxNn, InstanceNormalizationHasOneScalePerChannel) {
  const auto run = [&](Value x, int64_t scale, int64_t bias) {
    return Run<ops::InstanceNormalization>({x, X({scale}), X({bias})});
  };
  EXPECT_EQ(run(X({n, 4, 5, 5}), 4, 4), "tensor<Nx4x5x5xf32>");
  EXPECT_EQ(run(Unranked(), 4, 4), "tensor<*xf32>");
  EXPECT_EQ(run(X({1, 4, 5}), 3, 4), "onnx.InstanceNormalization: scale is [3] but must be [4]");
  EXPECT_EQ(run(Unranked(), 4, 3), "onnx.InstanceNormalization: b is [3] but must be [4]");
  EXPECT_EQ(run(X({1, 4}), 4, 4),
            "onnx.InstanceNormalization: x has rank 2 but must have 3 or more");
}

TEST_F(OnnxNn, LayerNormalizationNormalizesTheLastDimensions) {
  EXPECT_EQ(Run<ops::LayerNormalization>({X({n, 3, 8}), X({8}), X({8})}), "tensor<Nx3x8xf32>");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({n, 3, 8}), X({3, 8})}, {.axis = 1}, 3),
            "tensor<Nx3x8xf32>, tensor<Nx1x1xf32>, tensor<Nx1x1xf32>");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({7})}),
            "onnx.LayerNormalization: scale [7] does not broadcast to [8]");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8}), X({2, 8})}),
            "onnx.LayerNormalization: b [2,8] does not broadcast to [8]");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8})}, {.axis = 2}),
            "onnx.LayerNormalization: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}), X({8})}, {.stash_type = 7}),
            "onnx.LayerNormalization: stash_type 7 is no float type");
  EXPECT_EQ(Run<ops::LayerNormalization>({X({2, 8}, DataType::kI64), X({8})}),
            "onnx.LayerNormalization: x is i64 but must be a float");
}

TEST_F(OnnxNn, SoftmaxNeedsAnAxisOfItsOperand) {
  EXPECT_EQ(Run<ops::Softmax>({X({n, 3})}, {.axis = -2}), "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::Softmax>({X({2, 3})}, {.axis = 2}),
            "onnx.Softmax: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::Softmax>({X({2, 3}, DataType::kI64)}),
            "onnx.Softmax: x is i64 but must be a float");
}

TEST_F(OnnxNn, ReductionsKeepOrDropDimensions) {
  EXPECT_EQ(Run<ops::ReduceMean>({X({n, 3, 8})}, {.axes = {-1}}), "tensor<Nx3x1xf32>");
  EXPECT_EQ(Run<ops::ReduceMax>({X({n, 3, 8})}, {.axes = {0, 2}, .keepdims = 0}), "tensor<3xf32>");
  EXPECT_EQ(Run<ops::ReduceMin>({X({n, 3})}), "tensor<1x1xf32>");
  EXPECT_EQ(Run<ops::ReduceMin>({Unranked()}, {.keepdims = 0}), "tensor<f32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({n, 3, 8}), I({1})}), "tensor<Nx1x8xf32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({n, 3})}, {.keepdims = 0, .noop_with_empty_axes = 1}),
            "tensor<Nx3xf32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2, 1, 8}), X({2}, DataType::kI64)}), "tensor<-1x1x-1xf32>");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2, 8}), X({1}, DataType::kI64)}, {.keepdims = 0}),
            "tensor<*xf32>");
  EXPECT_EQ(Run<ops::ReduceMean>({X({2, 3})}, {.axes = {2}}),
            "onnx.ReduceMean: axis 2 is out of range for rank 2");
  EXPECT_EQ(Run<ops::ReduceMean>({X({2, 3})}, {.axes = {1, -1}}),
            "onnx.ReduceMean: axis 1 is given twice");
  EXPECT_EQ(Run<ops::ReduceMax>({X({2}, DataType::kBool)}),
            "onnx.ReduceMax: x is bool but must be a number");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2}), X({1})}), "onnx.ReduceSum: axes is f32 but must be i64");
  EXPECT_EQ(Run<ops::ReduceSum>({X({2}), X({1, 1}, DataType::kI64)}),
            "onnx.ReduceSum: axes has rank 2 but must have 1");
}

}  // namespace
}  // namespace weft::ir
