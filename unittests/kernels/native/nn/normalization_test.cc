// Normalisations against the reference kernels.
#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

using Ints = ir::Ints;

TEST(NativeLrn, IsThatOfTheReference) {
  for (const int64_t size : {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{40}, INT64_MAX}) {
    for (const float beta : {0.75f, 0.5f, 1.0f, 2.25f, 0.0f, -0.5f}) {
      for (const ir::Shape& x : {ir::Shape{2, 7, 19, 20}, ir::Shape{3, 9}, ir::Shape{1, 3, 5}})
        Agreement<ops::LRN>({Random(x, 1)},
                            {.alpha = 0.3f, .beta = beta, .bias = 1.5f, .size = size},
                            {FloatResult(x)})
            .Of("native");
    }
  }
}

TEST(NativeLrn, OfLargeValuesAndZeros) {
  const std::vector<float> x = {1e30f, -1e-30f, 0, -0.0f, 3e38f, 1e-40f};
  for (const float bias : {0.0f, -0.0f, 1.0f}) {
    for (const float alpha : {1e-4f, -1e-4f, 0.0f})
      Agreement<ops::LRN>({F32({1, 3, 2}, x)}, {.alpha = alpha, .bias = bias, .size = 3},
                          {FloatResult({1, 3, 2})})
          .Of("native");
  }
}

TEST(NativeMeanVarianceNormalization, IsThatOfTheReference) {
  const auto expect = [](const ir::Shape& x, const Ints& axes) {
    SCOPED_TRACE(ir::ToString(x));
    Agreement<ops::MeanVarianceNormalization>({RandomIn(x, 2, -1, 4)}, {.axes = axes},
                                              {FloatResult(x)})
        .Of("native");
  };
  expect({3, 5, 7, 9}, {0, 2, 3});
  expect({3, 5, 7, 9}, {2, -1});
  expect({3, 5, 7, 9}, {0, 1, 2, 3});
  expect({3, 5, 70}, {});
  expect({1, 5, 1, 33}, {0, 2, 3});
  expect({2, 3, 1, 31, 1}, {3});
}

TEST(NativeMeanVarianceNormalization, LeavesOtherAxesToTheReference) {
  for (const Ints& axes : {Ints{0, 2}, Ints{0, 1}, Ints{1}}) {
    const OpProgram program = OpProgram::Make<ops::MeanVarianceNormalization>(
        {Random({3, 5, 9, 10}, 3)}, {.axes = axes}, {FloatResult({3, 5, 9, 10})});
    EXPECT_EQ(program.ProviderOf({.provider = "native"}), "reference");
  }
}

TEST(NativeLpNormalization, IsThatOfTheReference) {
  for (const int64_t p : {1, 2}) {
    for (const ir::Shape& dims : {ir::Shape{5, 100}, ir::Shape{3, 7, 300}, ir::Shape{1, 33}}) {
      for (int64_t axis = -1; axis < static_cast<int64_t>(dims.size()); ++axis) {
        Tensor x = Random(dims, 4);
        x.values<float>()[3] = NAN;
        x.values<float>()[30] = -INFINITY;
        x.values<float>()[31] = -0.0f;
        Agreement<ops::LpNormalization>({std::move(x)}, {.axis = axis, .p = p}, {FloatResult(dims)})
            .Of("native");
      }
    }
    Agreement<ops::LpNormalization>({F32({2, 2}, {-0.0f, 0, 1, 2})}, {.axis = 1, .p = p},
                                    {FloatResult({2, 2})})
        .Of("native");
    Agreement<ops::LpNormalization>({F32({2, 2}, {-0.0f, 1, -0.0f, 2})}, {.axis = 0, .p = p},
                                    {FloatResult({2, 2})})
        .Of("native");
  }
}

}  // namespace
}  // namespace weft::kernels
