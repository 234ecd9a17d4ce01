// The reference kernels of sums of blocks against numbers worked out by hand.
#include "ir/dialects/onnx/nn/conv.h"

#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

using F = std::vector<float>;

// One dimension, one channel: x is 1, 10, 100 and the kernel 1, 2, 3.
F Transposed(const ops::ConvTranspose::Attrs<ir::BuilderSlot>& attrs, int64_t size) {
  return ValuesOf<float>(RunOp<ops::ConvTranspose>(
      {F32({1, 1, 3}, {1, 10, 100}), F32({1, 1, 3}, {1, 2, 3}), F32({1}, {0.5})}, attrs,
      {DataType::kF32, {1, 1, size}}));
}

TEST(ReferenceConvTranspose, AddsTheKernelForEachInput) {
  EXPECT_EQ(Transposed({}, 5), (F{1.5, 12.5, 123.5, 230.5, 300.5}));
  EXPECT_EQ(Transposed({.strides = {2}}, 7), (F{1.5, 2.5, 13.5, 20.5, 130.5, 200.5, 300.5}));
  EXPECT_EQ(Transposed({.dilations = {2}}, 7), (F{1.5, 10.5, 102.5, 20.5, 203.5, 30.5, 300.5}));
  EXPECT_EQ(Transposed({.pads = {1, 2}}, 2), (F{12.5, 123.5}));
  EXPECT_EQ(Transposed({.output_padding = {1}, .strides = {2}}, 8),
            (F{1.5, 2.5, 13.5, 20.5, 130.5, 200.5, 300.5, 0.5}));
}

TEST(ReferenceConvTranspose, ChoosesPadsForTheSizeItIsTold) {
  // One element of 7 is left out, at the end or at the beginning.
  EXPECT_EQ(Transposed({.auto_pad = ops::AutoPad::kSameUpper, .strides = {2}}, 6),
            (F{1.5, 2.5, 13.5, 20.5, 130.5, 200.5}));
  EXPECT_EQ(Transposed({.auto_pad = ops::AutoPad::kSameLower, .strides = {2}}, 6),
            (F{2.5, 13.5, 20.5, 130.5, 200.5, 300.5}));
  EXPECT_EQ(Transposed({.output_shape = {6}, .strides = {2}}, 6),
            (F{2.5, 13.5, 20.5, 130.5, 200.5, 300.5}));
}

TEST(ReferenceConvTranspose, KeepsGroupsApart) {
  // Channels 1 and 10; each group has two outputs, in two dimensions of size 1.
  const Tensor y = RunOp<ops::ConvTranspose>(
      {F32({1, 2, 1, 1}, {1, 10}), F32({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}, {.group = 2},
      {DataType::kF32, {1, 4, 1, 2}});
  EXPECT_EQ(ValuesOf<float>(y), (F{1, 2, 3, 4, 50, 60, 70, 80}));
}

TEST(ReferenceCol2Im, AddsBlocksWhereTheyLie) {
  // Blocks of two elements of an image of three: [1, 10] at 0 and [2, 20] at 1.
  const auto image = [](int64_t elements) {
    return TryRunOp<ops::Col2Im>({I32({1, 2, 2}, {1, 2, 10, 20}), Constant(I64({2}, {1, elements})),
                                  Constant(I64({2}, {1, 2}))},
                                 {}, {{DataType::kI32, {1, 1, 1, elements}}});
  };
  const auto y = image(3);
  ASSERT_TRUE(y.ok()) << y.status();
  EXPECT_EQ(ValuesOf<int32_t>((*y)[0]), (std::vector<int32_t>{1, 12, 20}));
  EXPECT_EQ(image(4).status().message(), "onnx.Col2Im: x has 2 blocks but the image has 3");
}

TEST(ReferenceDeformConv, ReadsWhereTheOffsetsSay) {
  // One kernel element of weight 2 over an image of 2 x 2, moved by (dy, dx).
  const auto at = [](float dy, float dx, Operand mask) {
    return RunOp<ops::DeformConv>(
               {F32({1, 1, 2, 2}, {1, 10, 100, 1000}), F32({1, 1, 1, 1}, {2}),
                F32({1, 2, 2, 2}, {dy, 0, 0, 0, dx, 0, 0, 0}), F32({1}, {0.5}), mask},
               {}, {DataType::kF32, {1, 1, 2, 2}})
        .values<float>()[0];
  };
  EXPECT_EQ(at(0, 0, {}), 2.5);
  EXPECT_EQ(at(1, 0, {}), 200.5);
  EXPECT_EQ(at(0, 0.5, {}), 11.5);
  EXPECT_EQ(at(0.5, 0.5, {}), 0.5 + 1111 / 2.0);
  EXPECT_EQ(at(-0.5, 0, {}), 1.5);  // half outside
  EXPECT_EQ(at(2, 0, {}), 0.5);
  EXPECT_EQ(at(1, 0, F32({1, 1, 2, 2}, {0.5, 1, 1, 1})), 100.5);
}

}  // namespace
}  // namespace weft::kernels
