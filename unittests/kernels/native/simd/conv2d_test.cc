#include "kernels/native/simd/conv2d.h"

#include <cstring>

#include "kernels/native/simd/winograd.h"
#include "unittests/kernels/activation_definition.h"
#include "unittests/kernels/native/simd/simd_test_util.h"
#include "unittests/sanitizers.h"

namespace weft::kernels::simd {
namespace {

struct Extras {
  bool bias = true, residual = false, residual_is_output = false;
  int64_t gap = 0;  // floats between pixels
  bool winograd = false;
  Activation activation = {};
};

double ConvolveAt(const Conv2dShape& s, const std::vector<float>& x, int64_t x_stride,
                  const std::vector<float>& w, int64_t image, int64_t row, int64_t column,
                  int64_t out) {
  double sum = 0;
  for (int64_t i = 0; i < s.kernel_height; ++i) {
    for (int64_t j = 0; j < s.kernel_width; ++j) {
      const int64_t y = row * s.stride_height - s.pad_top + i * s.dilation_height;
      const int64_t z = column * s.stride_width - s.pad_left + j * s.dilation_width;
      if (y < 0 || z < 0 || y >= s.in_height || z >= s.in_width) continue;
      const int64_t pixel = (image * s.in_height + y) * s.in_width + z;
      for (int64_t c = 0; c < s.in_channels; ++c) {
        const int64_t at = ((out * s.in_channels + c) * s.kernel_height + i) * s.kernel_width + j;
        sum += static_cast<double>(x[pixel * x_stride + c]) * w[at];
      }
    }
  }
  return sum;
}

void Check(const Conv2dShape& s, const Extras& extras, ThreadPool& pool) {
  SCOPED_TRACE(::testing::Message()
               << s.batch << " x " << s.in_height << " x " << s.in_width << " x " << s.in_channels
               << " -> " << s.out_channels << ", kernel " << s.kernel_height << " x "
               << s.kernel_width << ", stride " << s.stride_height << " x " << s.stride_width);
  const int64_t pixels = s.batch * s.out_height() * s.out_width();
  const int64_t x_stride = s.in_channels + extras.gap, y_stride = s.out_channels + extras.gap;
  const auto x = RandomFloats(s.batch * s.in_height * s.in_width * x_stride, 1);
  const auto w = RandomFloats(s.out_channels * s.in_channels * s.kernel_height * s.kernel_width, 2);
  const auto bias = RandomFloats(s.out_channels, 3), residual = RandomFloats(pixels * y_stride, 4);
  std::vector<float> y(static_cast<size_t>(pixels * y_stride), 77.0f);
  if (extras.residual_is_output) y = residual;
  const PackedMatrix packed = PackConv2dWeights(w.data(), s, pool);
  Conv2dArguments a;
  a.shape = s;
  a.x = x.data();
  a.weights = &packed;
  const PackedMatrix squares =
      extras.winograd ? PackWinogradWeights(w.data(), s, pool) : PackedMatrix();
  if (extras.winograd) a.winograd_weights = &squares;
  if (extras.bias) a.bias = bias.data();
  if (extras.residual) a.residual = extras.residual_is_output ? y.data() : residual.data();
  a.y = y.data();
  if (extras.gap != 0) a.x_stride = x_stride, a.y_stride = a.residual_stride = y_stride;
  a.activation = extras.activation;
  Conv2d(a, pool);
  std::vector<double> expected(y.begin(), y.end());  // what lies between pixels is compared below
  for (int64_t p = 0; p < pixels; ++p) {
    const int64_t column = p % s.out_width(), row = p / s.out_width() % s.out_height(),
                  image = p / (s.out_width() * s.out_height());
    for (int64_t out = 0; out < s.out_channels; ++out) {
      double value = ConvolveAt(s, x, x_stride, w, image, row, column, out);
      if (extras.bias) value += bias[out];
      if (extras.residual) value += residual[p * y_stride + out];
      expected[p * y_stride + out] = ActivationInDouble(extras.activation.kind, extras.activation.a,
                                                        extras.activation.b, value);
    }
    for (int64_t j = s.out_channels; j < y_stride; ++j) {
      const float before = extras.residual_is_output ? residual[p * y_stride + j] : 77.0f;
      ASSERT_EQ(y[p * y_stride + j], before);
    }
  }
  const auto depth = static_cast<double>(packed.k());
  EXPECT_LT(RelativeError(y, expected),
            (extras.winograd ? 3 : 1) * std::fmax(2 * kTolerance, 1e-7 * (3 + std::sqrt(depth))));
}

Conv2dShape Square(int64_t size, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                   int64_t pad) {
  Conv2dShape s;
  s.in_height = s.in_width = size;
  s.in_channels = in, s.out_channels = out;
  s.kernel_height = s.kernel_width = kernel;
  s.stride_height = s.stride_width = stride;
  s.pad_top = s.pad_left = s.pad_bottom = s.pad_right = pad;
  return s;
}

TEST(CpuConv2d, AgreesWithDoublesForTheShapesOfResNet) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Check(Square(30, 3, 16, 7, 2, 3), {.activation = {ActivationKind::kRelu}}, pool);
    Check(Square(28, 13, 33, 3, 1, 1), {}, pool);
    Check(Square(14, 33, 48, 3, 2, 1), {}, pool);
    Check(Square(7, 40, 70, 3, 1, 1), {}, pool);
    Check(Square(14, 16, 40, 1, 2, 0), {}, pool);
    Check(Square(7, 64, 100, 1, 1, 0), {.residual = true, .activation = {ActivationKind::kRelu}},
          pool);
  });
}

TEST(CpuConv2d, AgreesWithDoublesForOddKernelsStridesPadsAndDilations) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t size : {1, 2, 5, 13}) {
      for (int64_t kernel : {1, 2, 3, 5}) {
        for (int64_t stride : {1, 2, 3}) {
          for (int64_t pad : {0, 1, 2, 4}) {
            Conv2dShape s = Square(size, 3, 17, kernel, stride, pad);
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

TEST(CpuConv2d, AgreesWithDoublesByWinograd) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const int64_t size : {1, 2, 3, 7, 12})
      for (const int64_t pad : {0, 1, 2})
        for (const int64_t channels : {1, 5, 16, 33, 70}) {
          Conv2dShape s = Square(size, channels, 71 - channels, 3, 1, pad);
          s.in_width = size + 3;
          s.batch = size < 4 ? 2 : 1;
          if (s.out_height() == 0) continue;
          if (kSanitized && (pad == 1 || channels > 33)) continue;  // minutes
          Check(s, {.winograd = true}, pool);
          Check(s, {.bias = false, .residual = true, .gap = 3, .winograd = true}, pool);
        }
    for (const ActivationKind kind : {ActivationKind::kRelu, ActivationKind::kClip,
                                      ActivationKind::kHardSwish, ActivationKind::kSwish})
      Check(Square(9, 20, 40, 3, 1, 1),
            {.residual = true,
             .residual_is_output = true,
             .winograd = true,
             .activation = {kind, -5, 10}},
            pool);
  });
}

// With as many channels as make tiles pay (amx_conv2d.h).
TEST(CpuConv2d, AgreesWithDoublesForManyChannelsAndAnyWindow) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (int64_t kernel : {1, 2, 3, 5}) {
      for (int64_t stride : {1, 2, 3}) {
        for (int64_t pad : {0, 1, 4}) {
          Conv2dShape s = Square(13, 20 + kernel * 6, 33, kernel, stride, pad);
          Check(s, {}, pool);
          if (pad == 1) continue;
          s.in_width = 8, s.dilation_height = 2, s.dilation_width = 3, s.pad_right = 2;
          s.stride_height = 2;
          if (s.out_height() == 0 || s.out_width() == 0) continue;
          Check(s, {.residual = true, .gap = 3}, pool);
        }
      }
    }
  });
}

// So large that its terms go in bands of rows, two images, and deep enough for parts of the depth.
TEST(CpuConv2d, CutsLargeImagesIntoBands) {
  ForEachProductVariant([&](ThreadPool& pool) {
    if (CurrentIsa() == Isa::kPortable || CurrentIsa() == Isa::kAvx2) return;  // no other code
    Conv2dShape s = Square(40, 128, 20, 3, 1, 1);
    if (CurrentIsa() == Isa::kEmulatedAmx) s.in_height = 30, s.in_channels = 256;
    s.batch = 2;
    Check(s, {.residual = true, .residual_is_output = true}, pool);
  });
}

TEST(CpuConv2d, PacksTheSameFromMemoryAndFromAFunction) {
  ThreadPool pool(2);
  for (const int64_t size : {1, 3}) {
    const Conv2dShape s = Square(30, 20, 70, size, 1, size / 2);
    const auto w = RandomFloats(70 * 20 * size * size, 2);
    const WeightSource copies([&w](int64_t first, std::span<float> to) {
      std::copy_n(w.begin() + first, to.size(), to.begin());
    });
    const auto expect_same = [](const PackedMatrix& a, const PackedMatrix& b) {
      ASSERT_EQ(a.bytes(), b.bytes());
      EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())), 0);
    };
    for (const bool channels_first : {false, true})
      expect_same(PackConv2dWeights(w.data(), s, pool, channels_first),
                  PackConv2dWeights(copies, s, pool, channels_first));
    if (size == 3)
      expect_same(PackWinogradWeights(w.data(), s, pool), PackWinogradWeights(copies, s, pool));
  }
}

TEST(CpuConv2d, IsAsPreciseAsTheTermsOfItsFactors) {
  ThreadPool pool(2);
  const Conv2dShape s = Square(17, 40, 48, 3, 2, 1);
  const auto x = RandomFloats(17 * 17 * 40, 1), w = RandomFloats(48 * 40 * 9, 2);
  const PackedMatrix packed = PackConv2dWeights(w.data(), s, pool);
  double errors[kMatmulPrecisions.size()] = {};
  std::vector<float> precise;
  for (size_t i = 0; i < kMatmulPrecisions.size(); ++i) {
    const ScopedComputeMode scope({Isa::kEmulatedAmx, kMatmulPrecisions[i]});
    std::vector<float> y(9 * 9 * 48);
    Conv2d({.shape = s, .x = x.data(), .weights = &packed, .y = y.data()}, pool);
    if (i == 0) precise = y;
    for (size_t j = 0; j < y.size(); ++j)
      errors[i] = std::fmax(errors[i], std::fabs(y[j] - precise[j]));
  }
  // Sums of 360 products of numbers in [-1, 1], about 6 in size.
  EXPECT_GT(errors[1], 1e-6);
  EXPECT_LT(errors[1], 3e-4);
  EXPECT_GT(errors[2], 64 * errors[1]);
  EXPECT_LT(errors[2], 0.1);
}

// y of x with infinities at some places, compared with what a chain of multiply-adds makes of them.
TEST(CpuConv2d, KeepsInfinitiesAndNansWhereTheyBelong) {
  ThreadPool pool(2);
  const Conv2dShape s = Square(14, 32, 40, 3, 1, 1);
  auto x = RandomFloats(14 * 14 * 32, 1);
  x[0] = INFINITY, x[(14 * 5 + 13) * 32 + 7] = -INFINITY, x[(14 * 13 + 6) * 32] = NAN;
  const auto w = RandomFloats(40 * 32 * 9, 2), before = RandomFloats(14 * 14 * 40, 3);
  std::vector<std::vector<float>> results;
  for (const Isa isa : IsasOfProducts()) {
    const ScopedIsa scope(isa);
    const PackedMatrix packed = PackConv2dWeights(w.data(), s, pool);
    const PackedMatrix squares = PackWinogradWeights(w.data(), s, pool);
    for (const PackedMatrix* winograd : {static_cast<const PackedMatrix*>(nullptr), &squares}) {
      std::vector<float> y = before;
      Conv2d({.shape = s,
              .x = x.data(),
              .weights = &packed,
              .winograd_weights = winograd,
              .residual = y.data(),
              .y = y.data()},
             pool);
      results.push_back(y);
      for (size_t i = 0; i < y.size(); ++i) {
        const float expected = results[0][i];
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(y[i])) << IsaName(isa) << ", " << i;
        } else if (std::isinf(expected)) {
          ASSERT_EQ(y[i], expected) << IsaName(isa) << ", " << i;
        } else {
          ASSERT_NEAR(y[i], expected, 1e-4) << IsaName(isa) << ", " << i;
        }
      }
    }
  }
}

TEST(CpuConv2d, GivesTheSameBitsForEveryNumberOfThreads) {
  const Conv2dShape s = Square(15, 40, 100, 3, 2, 1);
  auto x = RandomFloats(15 * 15 * 40, 1);
  x[40 * 100] = INFINITY;  // what is computed again, too
  const auto w = RandomFloats(100 * 40 * 9, 2);
  for (const Isa isa : IsasOfProducts()) {
    const ScopedIsa scope(isa);
    std::vector<float> first;
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      const PackedMatrix packed = PackConv2dWeights(w.data(), s, pool);
      std::vector<float> y(8 * 8 * 100);
      Conv2d({.shape = s, .x = x.data(), .weights = &packed, .y = y.data()}, pool);
      for (float& value : y) value = std::isnan(value) ? 77.0f : value;
      if (first.empty()) first = y;
      EXPECT_EQ(y, first) << IsaName(isa) << ", " << threads;
    }
  }
}

TEST(CpuConv2d, GivesTheSameBitsByWinogradForEveryNumberOfThreads) {
  const Conv2dShape s = Square(30, 40, 100, 3, 1, 1);
  auto x = RandomFloats(30 * 30 * 40, 1);
  x[40 * 100] = INFINITY;
  const auto w = RandomFloats(100 * 40 * 9, 2);
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scope(isa);
    std::vector<float> first;
    for (int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      const PackedMatrix packed = PackConv2dWeights(w.data(), s, pool),
                         squares = PackWinogradWeights(w.data(), s, pool);
      std::vector<float> y(30 * 30 * 100);
      Conv2d({.shape = s,
              .x = x.data(),
              .weights = &packed,
              .winograd_weights = &squares,
              .y = y.data()},
             pool);
      for (float& value : y) value = std::isnan(value) ? 77.0f : value;
      if (first.empty()) first = y;
      EXPECT_EQ(y, first) << IsaName(isa) << ", " << threads;
    }
  }
}

TEST(CpuConv2d, TakesDifferentSidesAndUnevenPads) {
  Conv2dShape s;
  s.batch = 3, s.in_height = 9, s.in_width = 20, s.in_channels = 5, s.out_channels = 34;
  s.kernel_height = 1, s.kernel_width = 5, s.stride_width = 2;
  s.pad_left = 3, s.pad_right = 1;
  ForEachProductVariant([&](ThreadPool& pool) {
    Check(s, {}, pool);
    Conv2dShape t = s;
    t.kernel_height = 4, t.kernel_width = 1, t.stride_height = 3, t.pad_top = 2;
    Check(t, {}, pool);
  });
}

TEST(CpuConv2d, ReadsAndWritesPartsOfWiderTensors) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (int64_t kernel : {1, 3}) {
      Check(Square(12, 19, 37, kernel, 1, kernel / 2), {.residual = true, .gap = 5}, pool);
    }
  });
}

TEST(CpuConv2d, FusesResidualAndActivationAlsoInPlace) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Extras extras;
    extras.residual = extras.residual_is_output = true;
    for (ActivationKind kind :
         {ActivationKind::kNone, ActivationKind::kRelu, ActivationKind::kHardSwish}) {
      extras.activation.kind = kind;
      Check(Square(14, 20, 36, 3, 1, 1), extras, pool);
      Check(Square(9, 20, 36, 1, 1, 0), extras, pool);
    }
  });
}

// More segments than one product takes.
TEST(CpuConv2d, TakesLargeKernels) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Conv2dShape s = Square(12, 2, 5, 11, 1, 5);
    Check(s, {.residual = true, .gap = 1, .activation = {ActivationKind::kRelu}}, pool);
    Check(s, {.residual = true, .residual_is_output = true, .gap = 1}, pool);
    s = Square(3, 2, 20, 1, 1, 0);
    s.in_height = 140, s.kernel_height = 131;
    Check(s, {}, pool);
  });
}

TEST(CpuConv2d, GivesTheBiasWhereAllIsPadding) {
  ForEachProductVariant([&](ThreadPool& pool) {
    Check(Square(2, 3, 7, 1, 1, 3), {}, pool);
    Check(Square(2, 3, 7, 2, 2, 5), {}, pool);
  });
}

TEST(CpuConv2d, ComputesNoOutputFromAnImageSmallerThanTheKernel) {
  const Conv2dShape s = Square(2, 3, 7, 5, 1, 0);
  EXPECT_EQ(s.out_height(), 0);
  EXPECT_EQ(s.out_width(), 0);
  ThreadPool pool(1);
  Check(s, {}, pool);
}

}  // namespace
}  // namespace weft::kernels::simd
