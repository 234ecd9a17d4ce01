// Softmax and normalizations, against the reference.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

TEST(NativeSoftmax, WorksAlongAnyAxis) {
  for (const int64_t axis : {0, 1, -1})
    Agreement<ops::Softmax>({RandomIn({9, 33, 20}, 1, -9, 9)}, {.axis = axis},
                            {FloatResult({9, 33, 20})})
        .Of("native");
}

TEST(NativeMaskedSoftmax, TakesMasksOfEveryShape) {
  for (const ir::Shape& mask : std::vector<ir::Shape>{
           {2, 9, 7, 33}, {9, 1, 33}, {2, 1, 1, 33}, {1, 9, 7, 33}, {7, 33}, {33}}) {
    SCOPED_TRACE(ir::ToString(mask));
    Agreement<fused::MaskedSoftmax>({RandomIn({2, 9, 7, 33}, 1, -9, 9), RandomIn(mask, 2, -9, 9)},
                                    {}, {FloatResult({2, 9, 7, 33})})
        .Of("native");
  }
  for (const int64_t columns : {1, 3, 16, 31, 32, 129})
    Agreement<fused::MaskedSoftmax>(
        {RandomIn({3, columns}, 1, -9, 9), RandomIn({3, columns}, 2, -9, 9)}, {},
        {FloatResult({3, columns})})
        .Of("native");
}

TEST(NativeMaskedSoftmax, KeepsKeysOutWithMinusInfinity) {
  const float inf = std::numeric_limits<float>::infinity();
  const Tensor y = RunOp<fused::MaskedSoftmax>(
      {F32({2, 3}, {1, 1, 1, 2, 2, 2}), F32({2, 3}, {0, -inf, 0, -inf, -inf, -inf})}, {},
      FloatResult({2, 3}), {.provider = "native"});
  const std::vector<float> values = ValuesOf<float>(y);
  EXPECT_EQ(std::vector(values.begin(), values.begin() + 3), (std::vector<float>{0.5, 0, 0.5}));
  for (size_t i = 3; i < 6; ++i) EXPECT_TRUE(std::isnan(values[i])) << i;  // as in the definition
}

TEST(NativeLayerNorm, TakesBiasResidualAndSeveralAxes) {
  Agreement<ops::LayerNormalization>(
      {Random({5, 77}, 1), Random({77}, 2), Random({77}, 3)}, {},
      {FloatResult({5, 77}), FloatResult({5, 1}), FloatResult({5, 1})})
      .Of("native");
  Agreement<fused::LayerNorm>(
      {Random({2, 9, 128}, 1), Random({128}, 2), Random({128}, 3), Random({2, 9, 128}, 4)},
      {.epsilon = 1e-5f}, {FloatResult({2, 9, 128})})
      .Of("native");
  Agreement<fused::LayerNorm>(
      {Random({2, 9, 33}, 1), Random({33}, 2), {}, Random({2, 9, 33}, 4), Random({33}, 5)},
      {.epsilon = 1e-5f}, {FloatResult({2, 9, 33})})
      .Of("native");
  Agreement<fused::LayerNorm>({Random({5, 4, 6}, 1), Random({4, 6}, 2), {}, {}, Random({4, 6}, 5)},
                              {.axis = 1, .epsilon = 1e-5f}, {FloatResult({5, 4, 6})})
      .Of("native");
  Agreement<fused::LayerNorm>({Random({6, 4, 10}, 1), Random({4, 10}, 2), {}, {}},
                              {.axis = 1, .epsilon = 1e-3f}, {FloatResult({6, 4, 10})})
      .Of("native");
}

TEST(NativeLayerNorm, GivesTheSumToo) {
  for (const int64_t columns : {1, 7, 64, 131}) {
    const std::vector<ResultType> two(2, FloatResult({2, 9, columns}));
    const Operand x = RandomIn({2, 9, columns}, 1, -1, 2), r = Random({2, 9, columns}, 2);
    const Operand scale = Random({columns}, 3), bias = Random({columns}, 4);
    Agreement<fused::LayerNorm>({x, scale, bias, r}, {.epsilon = 1e-5f}, two).Of("native");
    Agreement<fused::RmsNorm>({x, scale, r}, {.epsilon = 1e-5f}, two).Of("native");
    Agreement<fused::RmsNorm>({x, scale, r}, {.epsilon = 1e-5f}, {two[0]}).Of("native");
  }
}

TEST(NativeLayerNorm, LeavesAScalePerRowToTheReference) {
  Agreement<ops::LayerNormalization>({Random({7, 7}, 1), Random({7, 1}, 2), Random({7}, 3)}, {},
                                     {FloatResult({7, 7})})
      .Of("reference");
}

TEST(NativeGlobalAveragePool, WorksInBothLayouts) {
  Agreement<ops::GlobalAveragePool>({Random({2, 19, 7, 7}, 1)}, {}, {FloatResult({2, 19, 1, 1})})
      .Of("native");
  Agreement<fused::GlobalAveragePool2d>({Random({2, 7, 7, 35}, 1)}, {},
                                        {FloatResult({2, 1, 1, 35})})
      .Of("native");
}

TEST(NativeBatchNormalization, MultipliesAndAddsPerChannel) {
  Agreement<ops::BatchNormalization>(
      {Random({2, 17, 9, 5}, 1), Constant(Random({17}, 2)), Constant(Random({17}, 3)),
       Constant(Random({17}, 4)), Constant(RandomIn({17}, 5, 0.1f, 2))},
      {.epsilon = 1e-3f}, {FloatResult({2, 17, 9, 5})})
      .Of("native");
}

}  // namespace
}  // namespace weft::kernels
