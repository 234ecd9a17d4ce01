// Group, instance and root mean square normalisation: the function, the reference and the native
// kernels against the definitions written out in double.
#include <cmath>

#include "kernels/native/simd/reduction/normalize.h"
#include "unittests/kernels/agreement.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels {
namespace {

using fused::Activation;
using simd::RandomFloats;

double Swish(double v) { return v / (1 + std::exp(-v)); }

// Per run of channels / groups * spatial elements.
std::vector<double> GroupNormOf(const simd::GroupNormArguments& a, bool swish) {
  const int64_t per_group = a.channels / a.groups * a.spatial;
  std::vector<double> y;
  for (int64_t row = 0; row < a.batch * a.groups; ++row) {
    const float* x = a.x + row * per_group;
    double mean = 0, variance = 0;
    for (int64_t i = 0; i < per_group; ++i) mean += x[i] / static_cast<double>(per_group);
    for (int64_t i = 0; i < per_group; ++i)
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(per_group);
    for (int64_t i = 0; i < per_group; ++i) {
      const int64_t channel = (row * per_group + i) / a.spatial % a.channels;
      double v = (x[i] - mean) / std::sqrt(variance + a.epsilon);
      if (a.scale) v *= a.scale[channel];
      if (a.shift) v += a.shift[channel];
      y.push_back(swish ? Swish(v) : v);
    }
  }
  return y;
}

TEST(CpuGroupNorm, AgreesWithDoubles) {
  struct Case {
    int64_t batch, channels, groups, spatial;
    bool affine, swish;
  };
  simd::ForEachVariant([&](ThreadPool& pool) {
    for (const Case& c : {Case{2, 6, 3, 35, true, true}, Case{3, 8, 8, 17, true, false},
                          Case{1, 32, 4, 1, true, true}, Case{2, 4, 1, 100, false, false}}) {
      const auto x = RandomFloats(c.batch * c.channels * c.spatial, 1, -1, 2);
      const auto scale = RandomFloats(c.channels, 2, 0.5f, 2), shift = RandomFloats(c.channels, 3);
      simd::GroupNormArguments a = {.batch = c.batch,
                                    .channels = c.channels,
                                    .groups = c.groups,
                                    .spatial = c.spatial,
                                    .x = x.data(),
                                    .epsilon = 1e-3f};
      if (c.affine) a.scale = scale.data(), a.shift = shift.data();
      if (c.swish) a.activation = {simd::ActivationKind::kSwish};
      const auto expected = GroupNormOf(a, c.swish);
      std::vector<float> y = x;  // in place
      a.x = a.y = y.data();
      simd::GroupNorm(a, pool);
      EXPECT_LT(simd::RelativeError(y, expected), simd::kTolerance) << c.channels;

      // The same with channels last.
      const auto at = [&](int64_t batch, int64_t channel, int64_t i) {
        return static_cast<size_t>((batch * c.channels + channel) * c.spatial + i);
      };
      std::vector<float> turned;
      std::vector<double> expected_turned;
      for (int64_t batch = 0; batch < c.batch; ++batch)
        for (int64_t i = 0; i < c.spatial; ++i)
          for (int64_t channel = 0; channel < c.channels; ++channel) {
            turned.push_back(x[at(batch, channel, i)]);
            expected_turned.push_back(expected[at(batch, channel, i)]);
          }
      a.channels_last = true;
      a.x = a.y = turned.data();
      std::vector<float> scratch(static_cast<size_t>(simd::GroupNormScratch(a)));
      a.scratch = scratch.data();
      simd::GroupNorm(a, pool);
      EXPECT_LT(simd::RelativeError(turned, expected_turned), simd::kTolerance) << c.channels;
    }
    simd::GroupNorm({.batch = 2, .channels = 3, .groups = 3, .spatial = 0}, pool);
  });
}

// x [2, 6, 7, 5] in three groups.
TEST(ReferenceGroupNorm, IsTheDefinition) {
  const Tensor x = Random({2, 6, 7, 5}, 1), scale = Random({6, 1, 1}, 2),
               bias = Random({6, 1, 1}, 3);
  const auto expected = GroupNormOf({.batch = 2,
                                     .channels = 6,
                                     .groups = 3,
                                     .spatial = 35,
                                     .x = x.values<float>().data(),
                                     .scale = scale.values<float>().data(),
                                     .shift = bias.values<float>().data(),
                                     .epsilon = 0.01f},
                                    true);
  const Tensor y = RunOp<fused::GroupNorm>(
      {Random({2, 6, 7, 5}, 1), Random({6, 1, 1}, 2), Random({6, 1, 1}, 3)},
      {.groups = 3, .epsilon = 0.01f, .activation = Activation::kSwish}, FloatResult({2, 6, 7, 5}));
  EXPECT_LT(simd::RelativeError(ValuesOf<float>(y), expected), 1e-6);
}

TEST(NativeGroupNorm, AgreesWithTheReference) {
  for (const Activation activation : {Activation::kNone, Activation::kSwish, Activation::kGelu})
    Agreement<fused::GroupNorm>(
        {Random({2, 32, 9, 11}, 1), Random({32, 1, 1}, 2), Random({1, 32, 1, 1}, 3)},
        {.groups = 8, .epsilon = 1e-5f, .activation = activation}, {FloatResult({2, 32, 9, 11})})
        .Of("native");
  Agreement<fused::GroupNorm>({Random({4, 12, 40}, 1), Random({12, 1}, 2), {}},
                              {.groups = 12, .epsilon = 1e-3f}, {FloatResult({4, 12, 40})})
      .Of("native");
}

TEST(NativeGroupNorm, AgreesWithChannelsLast) {
  for (const ir::Shape& dims : {ir::Shape{2, 9, 11, 32}, {1, 40, 24}, {3, 7, 5, 3, 8}, {2, 16}})
    for (const Activation activation : {Activation::kNone, Activation::kSwish})
      Agreement<fused::GroupNorm>(
          {RandomIn(dims, 1, -1, 2), Random({dims.back()}, 2), Random({1, dims.back()}, 3)},
          {.groups = 8, .epsilon = 1e-5f, .activation = activation, .channels_last = true},
          {FloatResult(dims)})
          .Of("native", 2e-6);
  Agreement<fused::GroupNorm>({Random({2, 200, 6}, 1), Random({6}, 2), {}},
                              {.groups = 3, .epsilon = 1e-3f, .channels_last = true},
                              {FloatResult({2, 200, 6})})
      .Of("native");
}

TEST(NativeInstanceNormalization, AgreesWithTheReference) {
  Agreement<ops::InstanceNormalization>({Random({3, 5, 6, 7}, 1), Random({5}, 2), Random({5}, 3)},
                                        {.epsilon = 1e-3f}, {FloatResult({3, 5, 6, 7})})
      .Of("native");
  Agreement<ops::InstanceNormalization>({Random({1, 8, 100}, 1), Random({8}, 2), Random({8}, 3)},
                                        {}, {FloatResult({1, 8, 100})})
      .Of("native");
}

TEST(ReferenceRmsNorm, IsTheDefinition) {
  const Tensor x = Random({3, 6}, 1), scale = Random({6}, 2);
  std::vector<double> expected;
  for (size_t row = 0; row < 3; ++row) {
    const auto v = x.values<float>().subspan(row * 6, 6);
    double mean = 0;
    for (const float e : v) mean += double{e} * e / 6;
    for (size_t i = 0; i < 6; ++i)
      expected.push_back(v[i] / std::sqrt(mean + 0.01) * scale.values<float>()[i]);
  }
  const Tensor y = RunOp<fused::RmsNorm>({Random({3, 6}, 1), Random({6}, 2)}, {.epsilon = 0.01f},
                                         FloatResult({3, 6}));
  EXPECT_LT(simd::RelativeError(ValuesOf<float>(y), expected), 1e-6);
}

TEST(NativeRmsNorm, AgreesWithTheReference) {
  for (const int64_t columns : {1, 7, 64, 129, 1000})
    Agreement<fused::RmsNorm>({RandomIn({5, 3, columns}, 1, -1, 2), Random({columns}, 2)},
                              {.epsilon = 1e-5f}, {FloatResult({5, 3, columns})})
        .Of("native");
}

TEST(NativeGroupNormalization, AgreesWithTheReference) {
  for (const int64_t groups : {1, 3, 6})
    Agreement<ops::GroupNormalization>({Random({2, 6, 5, 7}, 1), Random({6}, 2), Random({6}, 3)},
                                       {.epsilon = 1e-3f, .num_groups = groups},
                                       {FloatResult({2, 6, 5, 7})})
        .Of("native");
}

}  // namespace
}  // namespace weft::kernels
