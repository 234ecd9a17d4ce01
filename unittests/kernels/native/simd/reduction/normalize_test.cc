#include "kernels/native/simd/reduction/normalize.h"

#include <limits>

#include "kernels/native/simd/activation.h"
#include "unittests/kernels/activation_definition.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

constexpr int64_t kSizes[] = {1, 3, 7, 13, 16, 33, 64, 100, 197, 768, 1408};

// `of`: the result from the distance to the highest number, and the sum of the exponentials of those.
template <class Of>
std::vector<double> AlongAxis(const std::vector<float>& x, int64_t outer, int64_t extent,
                              int64_t inner, const Of& of) {
  std::vector<double> y(x.size());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const int64_t at = o * extent * inner + i;
      double highest = -INFINITY, sum = 0;
      for (int64_t k = 0; k < extent; ++k) highest = std::fmax(highest, x[at + k * inner]);
      for (int64_t k = 0; k < extent; ++k) sum += std::exp(x[at + k * inner] - highest);
      for (int64_t k = 0; k < extent; ++k) {
        y[at + k * inner] = of(x[at + k * inner] - highest, sum);
      }
    }
  }
  return y;
}

std::vector<double> SoftmaxReference(const std::vector<float>& x, int64_t outer, int64_t extent,
                                     int64_t inner) {
  return AlongAxis(x, outer, extent, inner,
                   [](double distance, double sum) { return std::exp(distance) / sum; });
}
std::vector<double> LogSoftmaxReference(const std::vector<float>& x, int64_t outer, int64_t extent,
                                        int64_t inner) {
  return AlongAxis(x, outer, extent, inner,
                   [](double distance, double sum) { return distance - std::log(sum); });
}

template <class Kernel, class Reference>
void ExpectAgreesOnTheLastAndOnInnerAxes(const Kernel& kernel, const Reference& reference) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t extent : kSizes) {
      for (int64_t inner : {1, 7, 33, 65}) {
        const auto x = RandomFloats(3 * extent * inner, 5, -8, 8);
        std::vector<float> y(x.size());
        kernel(x.data(), y.data(), 3, extent, inner, pool);
        EXPECT_LT(RelativeError(y, reference(x, 3, extent, inner)), kTolerance)
            << extent << " x " << inner;
      }
    }
  });
}

TEST(CpuSoftmax, AgreesWithDoublesOnTheLastAndOnInnerAxes) {
  ExpectAgreesOnTheLastAndOnInnerAxes(Softmax, SoftmaxReference);
}

TEST(CpuSoftmax, TakesLargeMaskedAndInfiniteLogits) {
  const float inf = std::numeric_limits<float>::infinity();
  std::vector<float> x = RandomFloats(33, 1, 1000, 1040);
  x[3] = -10000, x[17] = -inf, x[32] = -3e38f;
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t inner : {1, 3}) {
      std::vector<float> y(x.size());
      Softmax(x.data(), y.data(), 1, 33 / inner, inner, pool);
      EXPECT_LT(RelativeError(y, SoftmaxReference(x, 1, 33 / inner, inner)), kTolerance);
      EXPECT_EQ(y[3], 0);
      EXPECT_EQ(y[17], 0);
    }
    std::vector<float> masked(7, -inf), y(7);
    Softmax(masked.data(), y.data(), 1, 7, 1, pool);
    for (float value : y) EXPECT_TRUE(std::isnan(value));
  });
}

TEST(CpuSoftmax, WorksInPlaceAndOnNothing) {
  ForEachVariant([&](ThreadPool& pool) {
    auto y = RandomFloats(300 * 77, 3);
    const auto expected = SoftmaxReference(y, 300, 77, 1);
    Softmax(y.data(), y.data(), 300, 77, 1, pool);
    EXPECT_LT(RelativeError(y, expected), kTolerance);
    Softmax(nullptr, nullptr, 0, 5, 1, pool);
    Softmax(nullptr, nullptr, 5, 0, 1, pool);
    Softmax(nullptr, nullptr, 5, 0, 3, pool);
  });
}

TEST(CpuLogSoftmax, AgreesWithDoublesOnTheLastAndOnInnerAxes) {
  ExpectAgreesOnTheLastAndOnInnerAxes(LogSoftmax, LogSoftmaxReference);
}

TEST(CpuLogSoftmax, IsFiniteWhereTheSoftmaxIsNot) {
  const float inf = std::numeric_limits<float>::infinity();
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t inner : {1, 2}) {
      std::vector<float> x = RandomFloats(34, 1, 1000, 1040), y(34);
      x[3] = -10000;
      LogSoftmax(x.data(), y.data(), 1, 34 / inner, inner, pool);
      EXPECT_LT(RelativeError(y, LogSoftmaxReference(x, 1, 34 / inner, inner)), kTolerance);
      EXPECT_LT(y[3], -10000);
      x[17] = -inf;
      LogSoftmax(x.data(), y.data(), 1, 34 / inner, inner, pool);
      EXPECT_EQ(y[17], -inf);
      EXPECT_TRUE(std::isfinite(y[3]));
      for (const float bad : {inf, std::numeric_limits<float>::quiet_NaN()}) {
        x[0] = bad;
        LogSoftmax(x.data(), y.data(), 1, 34 / inner, inner, pool);
        for (int64_t i = 0; i < 34; i += inner) EXPECT_TRUE(std::isnan(y[i])) << i;
      }
    }
    LogSoftmax(nullptr, nullptr, 5, 0, 3, pool);
  });
}

struct LayerNormCase {
  bool residual, bias, affine, keep_sum;
};

TEST(CpuLayerNorm, AgreesWithDoublesWithEveryOption) {
  const LayerNormCase cases[] = {{false, false, true, false}, {false, false, false, false},
                                 {true, false, true, false},  {true, true, true, true},
                                 {false, true, true, false},  {false, false, true, true}};
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t columns : kSizes) {
      if (columns == 1) continue;  // the deviation of one number is zero: nothing to compare with
      for (const LayerNormCase& c : cases) {
        const int64_t rows = 13;
        const auto x = RandomFloats(rows * columns, 1, -1, 2), r = RandomFloats(rows * columns, 2),
                   b = RandomFloats(columns, 3), scale = RandomFloats(columns, 4, 0.5f, 2),
                   shift = RandomFloats(columns, 5);
        std::vector<float> y(x.size()), sum(x.size()), mean(rows), inverse(rows);
        LayerNormArguments a;
        a.rows = rows, a.columns = columns, a.x = x.data(), a.y = y.data(), a.epsilon = 1e-3f;
        if (c.residual) a.residual = r.data();
        if (c.bias) a.bias = b.data();
        if (c.affine) a.scale = scale.data(), a.shift = shift.data();
        if (c.keep_sum) a.sum = sum.data();
        a.mean = mean.data(), a.inverse_deviation = inverse.data();
        LayerNorm(a, pool);
        std::vector<double> expected(x.size()), v(x.size());
        for (int64_t i = 0; i < rows; ++i) {
          double m = 0, s = 0;
          for (int64_t j = 0; j < columns; ++j) {
            const int64_t at = i * columns + j;
            v[at] = x[at] + (c.residual ? r[at] : 0.0) + (c.bias ? b[j] : 0.0);
            m += v[at] / static_cast<double>(columns);
          }
          for (int64_t j = 0; j < columns; ++j) {
            s += (v[i * columns + j] - m) * (v[i * columns + j] - m);
          }
          const double factor = 1 / std::sqrt(s / static_cast<double>(columns) + 1e-3f);
          EXPECT_NEAR(mean[i], m, 5e-7);
          EXPECT_NEAR(inverse[i], factor, 1e-6 * factor);
          for (int64_t j = 0; j < columns; ++j) {
            const int64_t at = i * columns + j;
            expected[at] = (v[at] - m) * factor;
            if (c.affine) expected[at] = expected[at] * scale[j] + shift[j];
          }
        }
        // Few numbers may lie close together, and their deviations lose digits.
        EXPECT_LT(RelativeError(y, expected), columns < 7 ? 4 * kTolerance : kTolerance) << columns;
        if (c.keep_sum) {
          EXPECT_LT(RelativeError(sum, v), kTolerance);
        }
      }
    }
  });
}

TEST(CpuLayerNorm, ReadsRowsOfTables) {
  ForEachVariant([&](ThreadPool& pool) {
    const int64_t columns = 21;
    const std::vector<int64_t> x_rows = {4, 0, 4}, r_rows = {1, 2, 0}, b_rows = {0, 0, 1};
    const auto x = RandomFloats(5 * columns, 1), r = RandomFloats(3 * columns, 2),
               b = RandomFloats(2 * columns, 3);
    std::vector<float> gathered, rest, y(3 * columns), expected(3 * columns);
    for (size_t i = 0; i < 3; ++i)
      for (int64_t c = 0; c < columns; ++c) {
        gathered.push_back(x[x_rows[i] * columns + c] + r[r_rows[i] * columns + c]);
        rest.push_back(b[b_rows[i] * columns + c]);
      }
    LayerNormArguments a;
    a.rows = 3, a.columns = columns, a.x = gathered.data(), a.residual = rest.data();
    a.y = expected.data();
    LayerNorm(a, pool);
    a.x = x.data(), a.residual = r.data(), a.bias = b.data(), a.y = y.data();
    a.x_rows = x_rows.data(), a.residual_rows = r_rows.data(), a.bias_rows = b_rows.data();
    LayerNorm(a, pool);
    EXPECT_EQ(y, expected);
  });
}

TEST(CpuLayerNorm, WorksInPlace) {
  ForEachVariant([&](ThreadPool& pool) {
    const auto x = RandomFloats(197 * 100, 1);
    std::vector<float> expected(x.size()), y = x;
    LayerNormArguments a;
    a.rows = 197, a.columns = 100, a.x = x.data(), a.y = expected.data();
    LayerNorm(a, pool);
    a.x = y.data(), a.y = y.data();
    LayerNorm(a, pool);
    EXPECT_EQ(y, expected);
  });
}

TEST(CpuBiasActivation, AddsTheBiasBeforeTheActivation) {
  const auto x = RandomFloats(33 * 77, 1, -4, 4), bias = RandomFloats(77, 2);
  ForEachVariant([&](ThreadPool& pool) {
    std::vector<float> y(x.size());
    for (const ActivationKind kind : AllActivations()) {
      const Activation activation = {kind, -0.4f, 0.7f};
      BiasActivation(x.data(), bias.data(), activation, y.data(), 33, 77, pool);
      for (size_t i = 0; i < x.size(); ++i) {
        const double sum = static_cast<double>(x[i]) + bias[i % 77];
        ASSERT_NEAR(y[i], ActivationInDouble(kind, activation.a, activation.b, sum), 1e-6)
            << ir::fused::EnumNames(kind)[static_cast<size_t>(kind)];
      }
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
