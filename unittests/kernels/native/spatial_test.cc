// Convolutions and pools of NCHW and NHWC images, against the reference.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

TEST(NativeSpatial, RunsNchwConvolutionsBetweenTransposes) {
  for (const auto pad : {ops::AutoPad::kNotSet, ops::AutoPad::kSameUpper, ops::AutoPad::kSameLower})
    Agreement<ops::Conv>(
        {Random({2, 6, 9, 8}, 1), Constant(Random({8, 3, 3, 3}, 2)), Constant(Random({8}, 3))},
        {.auto_pad = pad,
         .group = 2,
         .pads =
             pad == ops::AutoPad::kNotSet ? std::optional<Ints>(Ints{1, 0, 1, 1}) : std::nullopt,
         .strides = Ints{2, 2}},
        {FloatResult({2, 8, 5, 4})})
        .Of("native");
}

TEST(NativeSpatial, RunsNchwPoolsBetweenTransposes) {
  Agreement<ops::MaxPool>(
      {RandomIn({2, 5, 9, 8}, 1, -3, -1)},
      {.kernel_shape = Ints{3, 3}, .pads = Ints{1, 1, 1, 1}, .strides = Ints{2, 2}},
      {FloatResult({2, 5, 5, 4})})
      .Of("native");
  Agreement<ops::AveragePool>({Random({2, 5, 8, 8}, 1)},
                              {.ceil_mode = 1, .kernel_shape = Ints{3, 3}, .strides = Ints{2, 2}},
                              {FloatResult({2, 5, 4, 4})})
      .Of("native");
}

TEST(NativePooling, TakesPadsDilationsAndWhatIsLeftOver) {
  for (const bool ceil_mode : {false, true}) {
    const ir::Shape y = {2, ceil_mode ? 5 : 4, ceil_mode ? 5 : 4, 37};
    Agreement<fused::MaxPool2d>({Random({2, 10, 8, 37}, 1)},
                                {.kernel_shape = Ints{3, 3},
                                 .strides = Ints{2, 2},
                                 .pads = Ints{0, 1, 0, 1},
                                 .ceil_mode = ceil_mode},
                                {FloatResult(y)})
        .Of("native");
    for (const bool count_include_pad : {false, true}) {
      Agreement<fused::AveragePool2d>({Random({2, 10, 8, 37}, 1)},
                                      {.kernel_shape = Ints{3, 3},
                                       .strides = Ints{2, 2},
                                       .pads = Ints{0, 1, 0, 1},
                                       .ceil_mode = ceil_mode,
                                       .count_include_pad = count_include_pad},
                                      {FloatResult(y)})
          .Of("native");
    }
  }
  Agreement<fused::MaxPool2d>({Random({1, 9, 8, 70}, 1)},
                              {.kernel_shape = Ints{3, 2}, .dilations = Ints{2, 3}},
                              {FloatResult({1, 5, 5, 70})})
      .Of("native");
}

TEST(NativeSpatial, ConvolvesOneDimension) {
  Agreement<ops::Conv>(
      {Random({2, 6, 19}, 1), Constant(Random({10, 6, 3}, 2)), Constant(Random({10}, 3))},
      {.dilations = Ints{2}, .pads = Ints{3, 1}, .strides = Ints{2}}, {FloatResult({2, 10, 10})})
      .Of("native");
  Agreement<ops::Conv>({Random({1, 6, 9}, 1), Constant(Random({4, 3, 3}, 2))}, {.group = 2},
                       {FloatResult({1, 4, 7})})
      .Of("native");
  Agreement<ops::Conv>({Random({1, 6, 9}, 1), Constant(Random({6, 1, 4}, 2))},
                       {.group = 6, .pads = Ints{1, 2}}, {FloatResult({1, 6, 9})})
      .Of("native");
}

TEST(NativeSpatial, TakesEmptyListsOfAConvolutionForNone) {
  Agreement<ops::Conv>({Random({1, 6, 9}, 1), Constant(Random({4, 6, 3}, 2))},
                       {.dilations = Ints{}, .pads = Ints{}, .strides = Ints{}},
                       {FloatResult({1, 4, 7})})
      .Of("native");
}

TEST(NativeSpatial, TakesComputedWeightsAndAutomaticPads) {
  using ops::AutoPad;
  for (const bool constant : {false, true}) {
    Agreement<ops::Conv>({Random({2, 3, 9}, 1), {Random({4, 3, 3}, 2), constant}},
                         {.strides = ir::Ints{2}}, {FloatResult({2, 4, 4})})
        .Of("native");
    Agreement<ops::Conv>({Random({1, 6, 9}, 1), {Random({4, 3, 3}, 2), constant}},
                         {.auto_pad = AutoPad::kValid, .dilations = ir::Ints{2}, .group = 2},
                         {FloatResult({1, 4, 5})})
        .Of("native");
    for (const AutoPad pad : {AutoPad::kSameUpper, AutoPad::kSameLower}) {
      Agreement<ops::Conv>({Random({1, 3, 9}, 1), {Random({4, 3, 4}, 2), constant}},
                           {.auto_pad = pad}, {FloatResult({1, 4, 9})})
          .Of("native");
      Agreement<ops::Conv>({Random({1, 3, 9, 8}, 1), {Random({4, 3, 4, 3}, 2), constant}},
                           {.auto_pad = pad, .strides = ir::Ints{1, 3}},
                           {FloatResult({1, 4, 9, 3})})
          .Of("native");
    }
  }
}

TEST(NativeSpatial, LeavesConvolutionsOfOtherTypesToTheReference) {
  Agreement<ops::Conv>({F64({1, 1, 3}, {1, 2, 3}), Constant(F64({1, 1, 2}, {4, 5}))}, {},
                       {{DataType::kF64, {1, 1, 2}}})
      .Of("reference");
}

}  // namespace
}  // namespace weft::kernels
