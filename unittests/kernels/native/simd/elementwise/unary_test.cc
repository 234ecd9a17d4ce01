#include "kernels/native/simd/elementwise/unary.h"

#include <bit>
#include <limits>

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

double Reference(UnaryOp op, const UnaryParams& params, double x) {
  switch (op) {
    case UnaryOp::kAbs:
      return std::fabs(x);
    case UnaryOp::kNeg:
      return -x;
    case UnaryOp::kRelu:
      return x < 0 ? 0 : x;
    case UnaryOp::kSqrt:
      return std::sqrt(x);
    case UnaryOp::kExp:
      return std::exp(x);
    case UnaryOp::kLog:
      return std::log(x);
    case UnaryOp::kErf:
      return std::erf(x);
    case UnaryOp::kTanh:
      return std::tanh(x);
    case UnaryOp::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryOp::kSoftplus:
      return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
    case UnaryOp::kMish:
      return x * std::tanh(std::log1p(std::exp(x)));
    case UnaryOp::kGelu:
      return x / 2 * std::erfc(-x / std::sqrt(2.0));
    case UnaryOp::kGeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case UnaryOp::kHardSigmoid:
      return std::isnan(x) ? x : std::fmax(0, std::fmin(1, params.a * x + params.b));
    case UnaryOp::kHardSwish:
      return std::isnan(x) ? x : x * std::fmax(0, std::fmin(1, x / 6 + 0.5));
    case UnaryOp::kClip:
      return x < params.a ? params.a : (x > params.b ? params.b : x);
    case UnaryOp::kLeakyRelu:
      return x < 0 ? params.a * x : x;
    case UnaryOp::kReciprocal:
      return 1 / x;
    case UnaryOp::kSquare:
      return x * x;
    case UnaryOp::kFloor:
      return std::floor(x);
    case UnaryOp::kCeil:
      return std::ceil(x);
    case UnaryOp::kRound:
      return std::nearbyint(x);
    case UnaryOp::kSign:
      return std::isnan(x) ? x : x > 0 ? 1 : x < 0 ? -1 : 0;
    case UnaryOp::kElu:
      return x < 0 ? params.a * std::expm1(x) : x;
    case UnaryOp::kSelu:
      return params.a * (x > 0 ? x : params.b * std::expm1(x));
    case UnaryOp::kCelu:
      return x > 0 ? x : params.a * std::expm1(x / params.a);
    case UnaryOp::kSoftsign:
      return x / (1 + std::fabs(x));
    case UnaryOp::kThresholdedRelu:
      return x <= params.a ? 0 : x;
    case UnaryOp::kShrink:
      return x < -params.a ? x + params.b : x > params.a ? x - params.b : std::isnan(x) ? x : 0;
  }
  return 0;
}

// The distance in units in the last place of a float near `expected`; both may be non-finite.
double UlpError(float actual, double expected) {
  const float rounded = static_cast<float>(expected);
  if (std::isnan(actual) || std::isnan(rounded)) {
    return std::isnan(actual) && std::isnan(rounded) ? 0 : INFINITY;
  }
  if (std::isinf(actual) || std::isinf(rounded)) return actual == rounded ? 0 : INFINITY;
  const float magnitude = std::max(std::fabs(rounded), std::numeric_limits<float>::min());
  const double unit = std::nextafter(magnitude, kInf) - magnitude;
  return std::fabs(actual - expected) / unit;
}

// Every 4099th float: all exponents, both signs, denormals, infinities and NaNs, plus the usual
// range in small steps.
std::vector<float> AllKindsOfFloats() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits <= 0xffffffff; bits += 4099) {
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  for (int i = -130000; i < 130000; ++i) values.push_back(static_cast<float>(i) * 0x1.002p-10f);
  for (float x : {0.0f, -0.0f, 1.0f, -1.0f, kInf, -kInf, kNan}) values.push_back(x);
  return values;
}

struct Accuracy {
  UnaryOp op;
  double max_ulp;
};

// Bounds with FMA; the SSE2 variant rounds products too, so it gets twice as much.
constexpr Accuracy kAccuracies[] = {
    {UnaryOp::kAbs, 0},           {UnaryOp::kNeg, 0},
    {UnaryOp::kRelu, 0},          {UnaryOp::kSqrt, 0.501},
    {UnaryOp::kExp, 1.0},         {UnaryOp::kLog, 1.0},
    {UnaryOp::kErf, 1.1},         {UnaryOp::kTanh, 2.0},
    {UnaryOp::kSigmoid, 2.5},     {UnaryOp::kClip, 0},
    {UnaryOp::kLeakyRelu, 0.501}, {UnaryOp::kReciprocal, 0.501},
    {UnaryOp::kSquare, 0.501},    {UnaryOp::kSoftplus, 2.5},
    {UnaryOp::kFloor, 0},         {UnaryOp::kCeil, 0},
    {UnaryOp::kRound, 0},         {UnaryOp::kSign, 0},
    {UnaryOp::kElu, 2.5},         {UnaryOp::kSelu, 3.0},
    {UnaryOp::kSoftsign, 1.5},    {UnaryOp::kThresholdedRelu, 0},
};

TEST(CpuUnary, IsWithinItsStatedUlpsOverTheWholeRange) {
  const std::vector<float> x = AllKindsOfFloats();
  const UnaryParams params{-0.5f, 2.25f};
  ForEachVariant([&](ThreadPool& pool) {
    if (pool.num_threads() > 1) return;
    const double slack = CurrentIsa() == Isa::kPortable ? 2 : 1;
    for (const auto& [op, max_ulp] : kAccuracies) {
      std::vector<float> y(x.size());
      Unary(op, params, x.data(), y.data(), static_cast<int64_t>(x.size()), pool);
      double worst = 0;
      size_t worst_at = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const double error = UlpError(y[i], Reference(op, params, x[i]));
        if (error > worst) worst = error, worst_at = i;
      }
      EXPECT_LE(worst, max_ulp * slack)
          << "op " << static_cast<int>(op) << " at " << x[worst_at] << ": " << y[worst_at];
    }
  });
}

// With an alpha above 0, which that of the others is not.
TEST(CpuUnary, ComputesCeluAndShrinkOverTheWholeRange) {
  const std::vector<float> x = AllKindsOfFloats();
  const UnaryParams params{1.75f, 0.25f};
  ForEachVariant([&](ThreadPool& pool) {
    const double slack = CurrentIsa() == Isa::kPortable ? 2 : 1;
    for (const UnaryOp op : {UnaryOp::kCelu, UnaryOp::kShrink, UnaryOp::kElu}) {
      std::vector<float> y(x.size());
      Unary(op, params, x.data(), y.data(), static_cast<int64_t>(x.size()), pool);
      for (size_t i = 0; i < x.size(); ++i)
        ASSERT_LE(UlpError(y[i], Reference(op, params, x[i])), 3.0 * slack)
            << "op " << static_cast<int>(op) << " at " << x[i] << ": " << y[i];
    }
  });
}

TEST(CpuUnary, KeepsTheSignOfZeroThatFunctionsOfTheReferenceKeep) {
  ForEachVariant([&](ThreadPool& pool) {
    const std::vector<float> x = {-0.0f, 0.0f, -0.25f, 0.25f, -0.5f, 0.5f, -1e-30f, 1e-30f, -0.75f};
    for (const UnaryOp op : {UnaryOp::kFloor, UnaryOp::kCeil, UnaryOp::kRound, UnaryOp::kSign,
                             UnaryOp::kElu, UnaryOp::kSelu, UnaryOp::kCelu, UnaryOp::kSoftsign,
                             UnaryOp::kThresholdedRelu, UnaryOp::kShrink}) {
      const UnaryParams params{0.5f, 1.5f};
      std::vector<float> y(x.size());
      Unary(op, params, x.data(), y.data(), static_cast<int64_t>(x.size()), pool);
      for (size_t i = 0; i < x.size(); ++i)
        EXPECT_EQ(std::signbit(y[i]), std::signbit(static_cast<float>(Reference(op, params, x[i]))))
            << "op " << static_cast<int>(op) << " at " << x[i];
    }
  });
}

TEST(CpuUnary, KeepsGeluMishAndTheHardActivationsWithinTheirAbsoluteError) {
  const std::vector<float> x = RandomFloats(100003, 1, -12, 12);
  const UnaryParams params{0.2f, 0.5f};
  ForEachVariant([&](ThreadPool& pool) {
    for (UnaryOp op : {UnaryOp::kGelu, UnaryOp::kGeluTanh, UnaryOp::kMish, UnaryOp::kHardSigmoid,
                       UnaryOp::kHardSwish}) {
      std::vector<float> y(x.size());
      Unary(op, params, x.data(), y.data(), static_cast<int64_t>(x.size()), pool);
      for (size_t i = 0; i < x.size(); ++i) {
        ASSERT_NEAR(y[i], Reference(op, params, x[i]), 2.5e-7 * std::max(1.0f, std::fabs(x[i])))
            << "op " << static_cast<int>(op) << " at " << x[i];
      }
    }
  });
}

TEST(CpuUnary, LetsNaNThroughEveryFunction) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int op = 0; op <= static_cast<int>(UnaryOp::kShrink); ++op) {
      const float x[3] = {kNan, -kNan, kNan};
      float y[3] = {};
      Unary(static_cast<UnaryOp>(op), {0.5f, 1.0f}, x, y, 3, pool);
      for (float value : y) EXPECT_TRUE(std::isnan(value)) << "op " << op;
    }
  });
}

TEST(CpuUnary, WorksInPlaceAndWritesNothingBehindTheEnd) {
  ForEachVariant([&](ThreadPool& pool) {
    for (int64_t n : {0, 1, 3, 4, 7, 13, 16, 33, 197, 70001}) {
      const std::vector<float> x = RandomFloats(n, 7, -3, 3);
      std::vector<float> y = x;
      y.resize(y.size() + 16, 42.0f);
      Unary(UnaryOp::kTanh, {}, y.data(), y.data(), n, pool);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_NEAR(y[i], std::tanh(static_cast<double>(x[i])), 2e-7) << i << " of " << n;
      }
      for (int64_t i = n; i < n + 16; ++i) ASSERT_EQ(y[i], 42.0f) << i << " of " << n;
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
