#include "kernels/native/simd/depthwise.h"

#include <algorithm>

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

struct Extras {
  bool bias = true, residual = false, residual_is_output = false;
  Activation activation = {};
};

double Apply(const Activation& activation, double v) {
  if (std::isnan(v)) return v;
  if (activation.kind == ActivationKind::kRelu) return std::fmax(0, v);
  if (activation.kind == ActivationKind::kClip)
    return std::fmin(activation.b, std::fmax(activation.a, v));
  if (activation.kind == ActivationKind::kHardSwish)
    return v * std::fmin(1, std::fmax(0, v / 6 + 0.5));
  return v;
}

// Weights in ONNX's order.
double SumAt(const Conv2dShape& s, const std::vector<float>& x, const std::vector<float>& w,
             int64_t pixel, int64_t channel) {
  const int64_t column = pixel % s.out_width(), row = pixel / s.out_width() % s.out_height(),
                image = pixel / (s.out_width() * s.out_height());
  double sum = 0;
  for (int64_t i = 0; i < s.kernel_height; ++i) {
    for (int64_t j = 0; j < s.kernel_width; ++j) {
      const int64_t y = row * s.stride_height - s.pad_top + i * s.dilation_height;
      const int64_t z = column * s.stride_width - s.pad_left + j * s.dilation_width;
      if (y < 0 || z < 0 || y >= s.in_height || z >= s.in_width) continue;
      const int64_t at = ((image * s.in_height + y) * s.in_width + z) * s.in_channels + channel;
      sum += static_cast<double>(x[at]) * w[(channel * s.kernel_height + i) * s.kernel_width + j];
    }
  }
  return sum;
}

void Check(const Conv2dShape& s, const Extras& extras, ThreadPool& pool) {
  SCOPED_TRACE(::testing::Message()
               << s.batch << " x " << s.in_height << " x " << s.in_width << " x " << s.in_channels
               << ", kernel " << s.kernel_height << " x " << s.kernel_width << ", stride "
               << s.stride_height << " x " << s.stride_width);
  const int64_t pixels = s.batch * s.out_height() * s.out_width(), channels = s.in_channels;
  const auto x = RandomFloats(s.batch * s.in_height * s.in_width * channels, 1);
  const auto w = RandomFloats(channels * s.kernel_height * s.kernel_width, 2);
  const auto bias = RandomFloats(channels, 3), residual = RandomFloats(pixels * channels, 4);
  std::vector<float> y(static_cast<size_t>(pixels * channels), 77.0f);
  if (extras.residual_is_output) y = residual;
  const std::vector<float> packed = PackDepthwiseWeights(w.data(), s);
  DepthwiseArguments a;
  a.shape = s;
  a.x = x.data();
  a.weights = packed.data();
  if (extras.bias) a.bias = bias.data();
  if (extras.residual) a.residual = extras.residual_is_output ? y.data() : residual.data();
  a.y = y.data();
  a.activation = extras.activation;
  Depthwise(a, pool);
  std::vector<double> expected;
  for (int64_t i = 0; i < pixels * channels; ++i) {
    double value = SumAt(s, x, w, i / channels, i % channels);
    if (extras.bias) value += bias[i % channels];
    if (extras.residual) value += residual[i];
    expected.push_back(Apply(extras.activation, value));
  }
  EXPECT_LT(RelativeError(y, expected), 2 * kTolerance);
}

Conv2dShape Square(int64_t size, int64_t channels, int64_t kernel, int64_t stride, int64_t pad) {
  Conv2dShape s;
  s.in_height = s.in_width = size;
  s.in_channels = s.out_channels = channels;
  s.kernel_height = s.kernel_width = kernel;
  s.stride_height = s.stride_width = stride;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = pad;
  return s;
}

TEST(CpuDepthwise, AgreesWithDoublesForTheShapesOfMobileNets) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const int64_t kernel : {3, 5}) {
      for (const int64_t stride : {1, 2}) {
        Check(Square(28, 32, kernel, stride, kernel / 2), {}, pool);
        Check(Square(14, 72, kernel, stride, kernel / 2), {}, pool);
        Check(Square(7, 101, kernel, stride, kernel / 2), {}, pool);
      }
    }
  });
}

// Only wide registers take two rows at a time.
TEST(CpuDepthwise, GivesTheSameBitsOneRowAtATimeAndTwo) {
  ThreadPool pool(1);
  for (const int64_t kernel : {3, 5}) {
    for (const int64_t size : {4, 6, 7, 14}) {
      const Conv2dShape s = Square(size, 37, kernel, 1, kernel / 2);
      const int64_t count = size * size * 37;
      const auto x = RandomFloats(count, 1), bias = RandomFloats(37, 3),
                 residual = RandomFloats(count, 4);
      const auto packed = PackDepthwiseWeights(RandomFloats(37 * kernel * kernel, 2).data(), s);
      std::vector<std::vector<float>> results;
      for (const Isa isa : {Isa::kAvx2, Isa::kAvx512}) {
        const auto supported = SupportedIsas();
        if (std::find(supported.begin(), supported.end(), isa) == supported.end()) GTEST_SKIP();
        const ScopedIsa scope(isa);
        std::vector<float>& y = results.emplace_back(static_cast<size_t>(count));
        DepthwiseArguments a{.shape = s, .x = x.data(), .weights = packed.data()};
        a.bias = bias.data();
        a.residual = residual.data();
        a.y = y.data();
        a.activation = {ActivationKind::kHardSwish};
        Depthwise(a, pool);
      }
      EXPECT_EQ(results[0], results[1]) << size << ", kernel " << kernel;
    }
  }
}

TEST(CpuDepthwise, AgreesWithDoublesForOddKernelsStridesPadsAndDilations) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t size : {1, 2, 5, 13}) {
      for (int64_t kernel : {1, 2, 3, 5}) {
        for (int64_t stride : {1, 2, 3}) {
          for (int64_t pad : {0, 1, 2, 4}) {
            Conv2dShape s = Square(size, 19, kernel, stride, pad);
            if (s.out_height() == 0) continue;
            s.batch = 2;
            Check(s, {}, pool);
            s.dilation_height = 2, s.dilation_width = 3;
            if (s.out_height() == 0 || s.out_width() == 0) continue;
            Check(s, {.bias = false}, pool);
          }
        }
      }
    }
  });
}

TEST(CpuDepthwise, TakesDifferentSidesAndUnevenPads) {
  Conv2dShape s = Square(9, 5, 1, 1, 0);
  s.batch = 3, s.in_width = 20;
  s.kernel_width = 5, s.stride_width = 2;
  s.pad_left = 3, s.pad_right = 1;
  ForEachVariant([&](ThreadPool& pool) {
    Check(s, {}, pool);
    Conv2dShape t = s;
    t.kernel_height = 4, t.kernel_width = 1, t.stride_height = 3, t.pad_top = 2;
    Check(t, {}, pool);
  });
}

TEST(CpuDepthwise, FusesResidualAndActivationAlsoInPlace) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const Activation& activation :
         {Activation{}, Activation{ActivationKind::kRelu}, Activation{ActivationKind::kHardSwish},
          Activation{ActivationKind::kClip, -0.5f, 1}}) {
      for (const bool in_place : {false, true})
        Check(Square(14, 37, 3, 1, 1),
              {.residual = true, .residual_is_output = in_place, .activation = activation}, pool);
      Check(Square(9, 37, 5, 2, 2), {.activation = activation}, pool);
    }
  });
}

TEST(CpuDepthwise, GivesTheBiasWhereAllIsPadding) {
  ForEachVariant([&](ThreadPool& pool) {
    Check(Square(2, 7, 1, 1, 3), {}, pool);
    Check(Square(2, 7, 2, 2, 5), {}, pool);
  });
}

TEST(CpuDepthwise, ComputesNoOutputFromAnImageSmallerThanTheKernel) {
  ThreadPool pool(1);
  Check(Square(2, 7, 5, 1, 0), {}, pool);
}

// A NaN reaches the outputs whose windows it lies in, and no others.
TEST(CpuDepthwise, KeepsNanThroughClamps) {
  const Conv2dShape s = Square(8, 21, 3, 1, 1);
  std::vector<float> x = RandomFloats(8 * 8 * 21, 1);
  x[(3 * 8 + 4) * 21 + 20] = NAN;
  const std::vector<float> packed = PackDepthwiseWeights(RandomFloats(21 * 9, 2).data(), s);
  ForEachVariant([&](ThreadPool& pool) {
    for (const Activation& activation :
         {Activation{}, Activation{ActivationKind::kRelu}, Activation{ActivationKind::kClip, 0, 6},
          Activation{ActivationKind::kHardSwish}}) {
      std::vector<float> y(x.size());
      DepthwiseArguments a{.shape = s, .x = x.data(), .weights = packed.data()};
      a.y = y.data();
      a.activation = activation;
      Depthwise(a, pool);
      for (int64_t i = 0; i < 8 * 8 * 21; ++i) {
        const int64_t row = i / 21 / 8, column = i / 21 % 8;
        const bool sees = i % 21 == 20 && row >= 2 && row <= 4 && column >= 3 && column <= 5;
        ASSERT_EQ(std::isnan(y[i]), sees) << row << ", " << column << ", " << i % 21;
      }
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
