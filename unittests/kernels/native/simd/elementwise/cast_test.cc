#include "kernels/native/simd/elementwise/cast.h"

#include <bit>
#include <limits>

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

template <typename From, typename To>
std::vector<To> CastAll(ScalarType from, const std::vector<From>& x, ScalarType to) {
  ThreadPool pool(1);
  std::vector<To> y(x.size());
  Cast(from, x.data(), to, y.data(), static_cast<int64_t>(x.size()), pool);
  return y;
}

// A half or bfloat16 by its definition.
double ShortFloat(uint32_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const double mantissa = bits & ((1u << mantissa_bits) - 1);
  const double sign = bits >> (exponent_bits + mantissa_bits) ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa != 0 ? NAN : sign * INFINITY;
  const double scale = std::ldexp(1.0, -mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(mantissa * scale, 1 - bias);
  return sign * std::ldexp(1 + mantissa * scale, exponent - bias);
}

TEST(CpuCast, WidensEveryHalfAndBFloat16Exactly) {
  for (uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const double half = ShortFloat(bits, 5, 10), bfloat = ShortFloat(bits, 8, 7);
    const float half_actual = HalfToFloat(static_cast<uint16_t>(bits));
    const float bfloat_actual = BFloat16ToFloat(static_cast<uint16_t>(bits));
    if (std::isnan(half)) {
      ASSERT_TRUE(std::isnan(half_actual));
    } else {
      ASSERT_EQ(half_actual, half);
      ASSERT_EQ(std::signbit(half_actual), std::signbit(half));
    }
    if (std::isnan(bfloat)) {
      ASSERT_TRUE(std::isnan(bfloat_actual));
    } else {
      ASSERT_EQ(bfloat_actual, bfloat);
    }
  }
}

// Rounds to the nearest of two neighbouring halves, the even one from their middle, just above and
// just below it.
TEST(CpuCast, RoundsFloatsAndDoublesToTheNearestEvenHalf) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const double low = ShortFloat(bits, 5, 10), high = ShortFloat(bits + 1, 5, 10);
    const double middle = (low + high) / 2;
    const uint32_t even = bits & 1 ? bits + 1 : bits;
    ASSERT_EQ(FloatToHalf(static_cast<float>(low)), bits);
    ASSERT_EQ(FloatToHalf(static_cast<float>(middle)), even);
    ASSERT_EQ(FloatToHalf(-static_cast<float>(middle)), even | 0x8000);
    const std::vector<double> near = {std::nextafter(middle, low), middle,
                                      std::nextafter(middle, high)};
    const auto halves = CastAll<double, uint16_t>(ScalarType::kDouble, near, ScalarType::kFloat16);
    ASSERT_EQ(halves[0], bits);
    ASSERT_EQ(halves[1], even);
    ASSERT_EQ(halves[2], bits + 1);
  }
  EXPECT_EQ(FloatToHalf(65519.0f), 0x7bff);
  EXPECT_EQ(FloatToHalf(65520.0f), 0x7c00);
  EXPECT_EQ(FloatToHalf(-INFINITY), 0xfc00);
  EXPECT_TRUE(std::isnan(HalfToFloat(FloatToHalf(NAN))));
}

TEST(CpuCast, RoundsToTheNearestEvenBFloat16) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const double low = ShortFloat(bits, 8, 7), high = ShortFloat(bits + 1, 8, 7);
    const double middle = (low + high) / 2;
    ASSERT_EQ(FloatToBFloat16(static_cast<float>(low)), bits);
    ASSERT_EQ(FloatToBFloat16(static_cast<float>(middle)), bits & 1 ? bits + 1 : bits);
    ASSERT_EQ(FloatToBFloat16(std::nextafter(static_cast<float>(middle), INFINITY)), bits + 1);
  }
  EXPECT_TRUE(std::isnan(BFloat16ToFloat(FloatToBFloat16(NAN))));
  EXPECT_EQ(FloatToBFloat16(INFINITY), 0x7f80);
}

// Bits of every kind of number: all exponents with few mantissas, ties of both short types, NaN.
std::vector<float> FloatsOfEveryKind() {
  std::vector<float> x;
  for (uint32_t high = 0; high <= 0xffff; ++high)
    for (const uint32_t low : {0u, 1u, 0x1000u, 0x2000u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      x.push_back(std::bit_cast<float>(high << 16 | low));
  x.push_back(1.5f);  // a rest that fills no vector
  return x;
}

void ExpectShort(uint16_t actual, uint16_t expected, float x, bool is_nan) {
  if (is_nan) {  // its payload may differ
    ASSERT_EQ(actual & 0x8000, expected & 0x8000) << x;
    return;
  }
  ASSERT_EQ(actual, expected) << x;
}

TEST(CpuCast, GivesTheSameHalvesAndBFloat16sOnEveryInstructionSet) {
  const std::vector<float> x = FloatsOfEveryKind();
  const auto n = static_cast<int64_t>(x.size());
  std::vector<uint16_t> halves(x.size()), bfloats(x.size());
  ForEachVariant([&](ThreadPool& pool) {
    Cast(ScalarType::kFloat, x.data(), ScalarType::kFloat16, halves.data(), n, pool);
    Cast(ScalarType::kFloat, x.data(), ScalarType::kBFloat16, bfloats.data(), n, pool);
    for (size_t i = 0; i < x.size(); ++i) {
      ExpectShort(halves[i], FloatToHalf(x[i]), x[i], std::isnan(x[i]));
      ExpectShort(bfloats[i], FloatToBFloat16(x[i]), x[i], std::isnan(x[i]));
      if (!std::isnan(x[i])) continue;
      ASSERT_TRUE(std::isnan(HalfToFloat(halves[i])) && std::isnan(BFloat16ToFloat(bfloats[i])));
    }
  });
}

TEST(CpuCast, WidensHalvesAndBFloat16sOnEveryInstructionSet) {
  std::vector<uint16_t> x(0x10000 + 3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i * 7);
  const auto n = static_cast<int64_t>(x.size());
  std::vector<float> halves(x.size()), bfloats(x.size());
  ForEachVariant([&](ThreadPool& pool) {
    Cast(ScalarType::kFloat16, x.data(), ScalarType::kFloat, halves.data(), n, pool);
    Cast(ScalarType::kBFloat16, x.data(), ScalarType::kFloat, bfloats.data(), n, pool);
    for (size_t i = 0; i < x.size(); ++i) {
      const float half = HalfToFloat(x[i]), bfloat = BFloat16ToFloat(x[i]);
      ASSERT_TRUE(std::isnan(half)
                      ? std::isnan(halves[i])
                      : std::bit_cast<uint32_t>(half) == std::bit_cast<uint32_t>(halves[i]))
          << x[i];
      ASSERT_EQ(std::bit_cast<uint32_t>(bfloat), std::bit_cast<uint32_t>(bfloats[i])) << x[i];
    }
  });
}

TEST(CpuCast, TruncatesFloatsAndSaturatesWhereOnnxLeavesItOpen) {
  const std::vector<float> x = {2.9f, -2.9f, 300.0f, -300.0f, NAN, INFINITY, -INFINITY, -0.5f};
  EXPECT_EQ((CastAll<float, int32_t>(ScalarType::kFloat, x, ScalarType::kInt32)),
            (std::vector<int32_t>{2, -2, 300, -300, 0, std::numeric_limits<int32_t>::max(),
                                  std::numeric_limits<int32_t>::min(), 0}));
  EXPECT_EQ((CastAll<float, int8_t>(ScalarType::kFloat, x, ScalarType::kInt8)),
            (std::vector<int8_t>{2, -2, 127, -128, 0, 127, -128, 0}));
  EXPECT_EQ((CastAll<float, uint8_t>(ScalarType::kFloat, x, ScalarType::kUint8)),
            (std::vector<uint8_t>{2, 0, 255, 0, 0, 255, 0, 0}));
  const std::vector<double> big = {9.3e18, -9.3e18, 9007199254740993.0};
  EXPECT_EQ((CastAll<double, int64_t>(ScalarType::kDouble, big, ScalarType::kInt64)),
            (std::vector<int64_t>{std::numeric_limits<int64_t>::max(),
                                  std::numeric_limits<int64_t>::min(), 9007199254740992}));
}

// By its definition: the nearest integer of the type, towards zero, and 0 for NaN.
template <typename To>
To Truncated(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  if (value >= static_cast<double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  return static_cast<To>(value);
}

// Of all exponents, and around the bounds of every integer type.
template <typename From>
std::vector<From> FloatsAroundIntegers() {
  std::vector<From> x;
  for (const float value : FloatsOfEveryKind()) x.push_back(static_cast<From>(value));
  for (int bits = 0; bits <= 65; ++bits) {
    for (const From at : {std::ldexp(From(1), bits), -std::ldexp(From(1), bits)}) {
      x.push_back(at);
      x.push_back(std::nextafter(at, From(0)));
      x.push_back(std::nextafter(at, 2 * at));
      for (const From step : {From(-1), From(-0.5), From(0.5), From(1)}) x.push_back(at + step);
    }
  }
  return x;
}

template <typename From, typename To>
void ExpectTruncated(ScalarType from, ScalarType to) {
  const std::vector<From> x = FloatsAroundIntegers<From>();
  std::vector<To> y(x.size());
  ForEachVariant([&](ThreadPool& pool) {
    Cast(from, x.data(), to, y.data(), static_cast<int64_t>(x.size()), pool);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], Truncated<To>(static_cast<double>(x[i]))) << x[i];
  });
}

template <typename From>
void ExpectTruncatedToEveryInteger(ScalarType from) {
  ExpectTruncated<From, int8_t>(from, ScalarType::kInt8);
  ExpectTruncated<From, int16_t>(from, ScalarType::kInt16);
  ExpectTruncated<From, int32_t>(from, ScalarType::kInt32);
  ExpectTruncated<From, int64_t>(from, ScalarType::kInt64);
  ExpectTruncated<From, uint8_t>(from, ScalarType::kUint8);
  ExpectTruncated<From, uint16_t>(from, ScalarType::kUint16);
  ExpectTruncated<From, uint32_t>(from, ScalarType::kUint32);
  ExpectTruncated<From, uint64_t>(from, ScalarType::kUint64);
}

TEST(CpuCast, TruncatesFloatsOfEveryKindOnEveryInstructionSet) {
  ExpectTruncatedToEveryInteger<float>(ScalarType::kFloat);
  ExpectTruncatedToEveryInteger<double>(ScalarType::kDouble);
}

template <typename To>
void ExpectFromEveryShortFloat(ScalarType to) {
  std::vector<uint16_t> x(0x10000 + 3);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint16_t>(i * 7);
  std::vector<To> y(x.size());
  const auto n = static_cast<int64_t>(x.size());
  ForEachVariant([&](ThreadPool& pool) {
    Cast(ScalarType::kFloat16, x.data(), to, y.data(), n, pool);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], Truncated<To>(HalfToFloat(x[i]))) << HalfToFloat(x[i]);
    Cast(ScalarType::kBFloat16, x.data(), to, y.data(), n, pool);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(y[i], Truncated<To>(BFloat16ToFloat(x[i]))) << BFloat16ToFloat(x[i]);
  });
}

TEST(CpuCast, TruncatesEveryHalfAndBFloat16) {
  ExpectFromEveryShortFloat<int8_t>(ScalarType::kInt8);
  ExpectFromEveryShortFloat<uint8_t>(ScalarType::kUint8);
  ExpectFromEveryShortFloat<int16_t>(ScalarType::kInt16);
  ExpectFromEveryShortFloat<uint16_t>(ScalarType::kUint16);
  ExpectFromEveryShortFloat<int32_t>(ScalarType::kInt32);
  ExpectFromEveryShortFloat<uint32_t>(ScalarType::kUint32);
  ExpectFromEveryShortFloat<int64_t>(ScalarType::kInt64);
  ExpectFromEveryShortFloat<uint64_t>(ScalarType::kUint64);
}

// Of which some are rounded to a float on the way: the definition rounds once.
template <typename From>
void ExpectHalvesOf(ScalarType from) {
  std::vector<From> x;
  for (int64_t i = -70000; i <= 70000; ++i) x.push_back(static_cast<From>(i));
  for (int bits = 0; bits < 64; ++bits)
    for (const int64_t step : {-1, 0, 1}) {
      const uint64_t value = (uint64_t{1} << bits) + static_cast<uint64_t>(step);
      x.push_back(static_cast<From>(value));
      x.push_back(static_cast<From>(0 - value));
    }
  std::vector<uint16_t> y(x.size());
  ForEachVariant([&](ThreadPool& pool) {
    Cast(from, x.data(), ScalarType::kFloat16, y.data(), static_cast<int64_t>(x.size()), pool);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto value = static_cast<double>(x[i]);
      const uint16_t expected = std::fabs(value) >= 65520 ? (value < 0 ? 0xfc00 : 0x7c00)
                                                          : FloatToHalf(static_cast<float>(value));
      ASSERT_EQ(y[i], expected) << value;
    }
  });
}

TEST(CpuCast, RoundsIntegersToHalvesOnce) {
  ExpectHalvesOf<int8_t>(ScalarType::kInt8);
  ExpectHalvesOf<uint8_t>(ScalarType::kUint8);
  ExpectHalvesOf<int16_t>(ScalarType::kInt16);
  ExpectHalvesOf<uint16_t>(ScalarType::kUint16);
  ExpectHalvesOf<int32_t>(ScalarType::kInt32);
  ExpectHalvesOf<uint32_t>(ScalarType::kUint32);
  ExpectHalvesOf<int64_t>(ScalarType::kInt64);
  ExpectHalvesOf<uint64_t>(ScalarType::kUint64);
}

template <typename To>
void ExpectFromBools(ScalarType to, To one) {
  for (const int64_t n : {1, 15, 33, 1025}) {
    std::vector<uint8_t> x(static_cast<size_t>(n));
    for (size_t i = 0; i < x.size(); ++i) x[i] = i % 3 == 0 ? 0 : static_cast<uint8_t>(i);
    std::vector<To> y(x.size());
    ForEachVariant([&](ThreadPool& pool) {
      Cast(ScalarType::kBool, x.data(), to, y.data(), n, pool);
      for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[i] != 0 ? one : To(0)) << i;
    });
  }
}

TEST(CpuCast, MakesOneOfWhateverIsTrue) {
  ExpectFromBools<float>(ScalarType::kFloat, 1);
  ExpectFromBools<double>(ScalarType::kDouble, 1);
  ExpectFromBools<uint16_t>(ScalarType::kFloat16, FloatToHalf(1));
  ExpectFromBools<uint16_t>(ScalarType::kBFloat16, FloatToBFloat16(1));
  ExpectFromBools<int8_t>(ScalarType::kInt8, 1);
  ExpectFromBools<uint16_t>(ScalarType::kUint16, 1);
  ExpectFromBools<int32_t>(ScalarType::kInt32, 1);
  ExpectFromBools<uint64_t>(ScalarType::kUint64, 1);
  ExpectFromBools<uint8_t>(ScalarType::kBool, 1);
}

TEST(CpuCast, WrapsIntegers) {
  const std::vector<int64_t> x = {-1, 256, 130, int64_t{1} << 40};
  EXPECT_EQ((CastAll<int64_t, uint8_t>(ScalarType::kInt64, x, ScalarType::kUint8)),
            (std::vector<uint8_t>{255, 0, 130, 0}));
  EXPECT_EQ((CastAll<int64_t, int8_t>(ScalarType::kInt64, x, ScalarType::kInt8)),
            (std::vector<int8_t>{-1, 0, -126, 0}));
  EXPECT_EQ((CastAll<int64_t, uint64_t>(ScalarType::kInt64, x, ScalarType::kUint64))[0],
            std::numeric_limits<uint64_t>::max());
}

TEST(CpuCast, TakesAnythingButZeroAsTrue) {
  const std::vector<float> x = {0.0f, -0.0f, 0.25f, NAN, -INFINITY};
  EXPECT_EQ((CastAll<float, uint8_t>(ScalarType::kFloat, x, ScalarType::kBool)),
            (std::vector<uint8_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ((CastAll<uint8_t, float>(ScalarType::kBool, {0, 1, 5}, ScalarType::kFloat)),
            (std::vector<float>{0, 1, 1}));
}

TEST(CpuCast, ReachesEveryTypeFromEveryType) {
  ThreadPool pool(2);
  for (int from = 0; from <= static_cast<int>(ScalarType::kBool); ++from) {
    for (int to = 0; to <= static_cast<int>(ScalarType::kBool); ++to) {
      const auto from_type = static_cast<ScalarType>(from), to_type = static_cast<ScalarType>(to);
      const std::vector<int32_t> ones(33, 1);
      std::vector<char> x(33 * 8), y(33 * 8);
      std::vector<int32_t> back(33);
      Cast(ScalarType::kInt32, ones.data(), from_type, x.data(), 33, pool);
      Cast(from_type, x.data(), to_type, y.data(), 33, pool);
      Cast(to_type, y.data(), ScalarType::kInt32, back.data(), 33, pool);
      EXPECT_EQ(back, ones) << from << " to " << to;
    }
  }
}

}  // namespace
}  // namespace weft::kernels::simd
