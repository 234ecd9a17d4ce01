#include "ir/element/low_precision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace weft::ir {
namespace {

constexpr DataType kSigned8[] = {DataType::kF8E4M3FN, DataType::kF8E4M3FNUZ, DataType::kF8E5M2,
                                 DataType::kF8E5M2FNUZ};
constexpr DataType kAll[] = {DataType::kF8E4M3FN,   DataType::kF8E4M3FNUZ, DataType::kF8E5M2,
                             DataType::kF8E5M2FNUZ, DataType::kU4,         DataType::kI4,
                             DataType::kF4E2M1,     DataType::kF8E8M0,     DataType::kU2,
                             DataType::kI2};
constexpr double kInf = INFINITY, kNan = NAN;

uint8_t Strict(DataType dtype, double value) {
  return ToLowPrecision(dtype, value, {.saturate = false});
}

TEST(LowPrecision, EveryElementIsTheOneThatItsValueRoundsTo) {
  for (const DataType dtype : kAll) {
    SCOPED_TRACE(DataTypeName(dtype));
    int elements = 0;
    for (int i = 0; i < 256; ++i) {
      const auto byte = static_cast<std::byte>(i);
      if (!AreLowPrecision(dtype, {&byte, 1})) continue;
      ++elements;
      const double value = FromLowPrecision(dtype, static_cast<uint8_t>(i));
      const bool is_float = static_cast<double>(static_cast<float>(value)) == value;
      EXPECT_TRUE(is_float || std::isnan(value)) << i;
      const uint8_t again = Strict(dtype, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(FromLowPrecision(dtype, again))) << i;
      } else {
        EXPECT_EQ(again, i);
      }
    }
    EXPECT_EQ(elements, 1 << ElementBits(dtype));
  }
}

// The table of the standard.
TEST(LowPrecision, HasTheExtremesOfItsFormat) {
  struct Row {
    DataType dtype;
    double largest, smallest;
    uint8_t code_of_largest;
  };
  const Row rows[] = {{DataType::kF8E4M3FN, 448, 0x1p-9, 0x7e},
                      {DataType::kF8E4M3FNUZ, 240, 0x1p-10, 0x7f},
                      {DataType::kF8E5M2, 57344, 0x1p-16, 0x7b},
                      {DataType::kF8E5M2FNUZ, 57344, 0x1p-17, 0x7f},
                      {DataType::kF4E2M1, 6, 0.5, 7}};
  for (const Row& row : rows) {
    SCOPED_TRACE(DataTypeName(row.dtype));
    EXPECT_EQ(FromLowPrecision(row.dtype, row.code_of_largest), row.largest);
    EXPECT_EQ(FromLowPrecision(row.dtype, 1), row.smallest);
  }
  EXPECT_EQ(FromLowPrecision(DataType::kF8E8M0, 0), 0x1p-127);
  EXPECT_EQ(FromLowPrecision(DataType::kF8E8M0, 0xfe), 0x1p127);
  EXPECT_EQ(FromLowPrecision(DataType::kI4, 0xf8), -8);
  EXPECT_EQ(FromLowPrecision(DataType::kI2, 0xfe), -2);
  EXPECT_EQ(FromLowPrecision(DataType::kU4, 15), 15);
}

TEST(LowPrecision, HasTheSpecialValuesOfItsFormat) {
  for (int bits : {0x7f, 0xff})
    EXPECT_TRUE(std::isnan(FromLowPrecision(DataType::kF8E4M3FN, static_cast<uint8_t>(bits))));
  for (int bits : {0x7d, 0x7e, 0x7f, 0xfd})
    EXPECT_TRUE(std::isnan(FromLowPrecision(DataType::kF8E5M2, static_cast<uint8_t>(bits))));
  EXPECT_EQ(FromLowPrecision(DataType::kF8E5M2, 0x7c), kInf);
  EXPECT_EQ(FromLowPrecision(DataType::kF8E5M2, 0xfc), -kInf);
  for (const DataType dtype : {DataType::kF8E4M3FNUZ, DataType::kF8E5M2FNUZ}) {
    EXPECT_TRUE(std::isnan(FromLowPrecision(dtype, 0x80)));
    EXPECT_EQ(ToLowPrecision(dtype, -0.0), 0);
    EXPECT_EQ(ToLowPrecision(dtype, -1e-30), 0);
  }
  EXPECT_EQ(ToLowPrecision(DataType::kF8E4M3FN, -0.0), 0x80);
  EXPECT_TRUE(std::isnan(FromLowPrecision(DataType::kF8E8M0, 0xff)));
}

// Between any two neighbours: just below the middle, the middle, just above it.
TEST(LowPrecision, RoundsToNearestEven) {
  for (const DataType dtype : {DataType::kF8E4M3FN, DataType::kF8E4M3FNUZ, DataType::kF8E5M2,
                               DataType::kF8E5M2FNUZ, DataType::kF4E2M1}) {
    SCOPED_TRACE(DataTypeName(dtype));
    const int largest = ToLowPrecision(dtype, 1e30);
    const int sign = dtype == DataType::kF4E2M1 ? 8 : 0x80;
    for (int low = 0; low < largest; ++low) {
      const double a = FromLowPrecision(dtype, static_cast<uint8_t>(low));
      const double b = FromLowPrecision(dtype, static_cast<uint8_t>(low + 1));
      const double middle = (a + b) / 2;
      ASSERT_LT(a, b);
      EXPECT_EQ(ToLowPrecision(dtype, std::nextafter(middle, a)), low);
      EXPECT_EQ(ToLowPrecision(dtype, middle), low + low % 2);
      EXPECT_EQ(ToLowPrecision(dtype, std::nextafter(middle, b)), low + 1);
      EXPECT_EQ(ToLowPrecision(dtype, -std::nextafter(middle, b)), (low + 1) | sign);
    }
  }
}

// The tables of Cast in the standard: saturating, then not.
TEST(LowPrecision, SaturatesUnlessToldOtherwise) {
  const int nan[] = {0x7f, 0x80, 0x7e, 0x80}, largest[] = {0x7e, 0x7f, 0x7b, 0x7f};
  const int infinity[] = {0x7f, 0x80, 0x7c, 0x80}, minus_infinity[] = {0xff, 0x80, 0xfc, 0x80};
  for (int i = 0; i < 4; ++i) {
    const DataType dtype = kSigned8[i];
    SCOPED_TRACE(DataTypeName(dtype));
    for (double large : {1e6, 1e300, kInf}) {
      EXPECT_EQ(ToLowPrecision(dtype, large), largest[i]);
      EXPECT_EQ(ToLowPrecision(dtype, -large), largest[i] | 0x80);
      EXPECT_EQ(Strict(dtype, large), infinity[i]);
      EXPECT_EQ(Strict(dtype, -large), minus_infinity[i]);
    }
    EXPECT_EQ(ToLowPrecision(dtype, kNan), nan[i]);
    EXPECT_EQ(Strict(dtype, kNan), nan[i]);
  }
  // What rounds to the largest number is in range: halfway to the next power's neighbour is not.
  EXPECT_EQ(Strict(DataType::kF8E4M3FN, 464), 0x7e);
  EXPECT_EQ(Strict(DataType::kF8E4M3FN, 464.01), 0x7f);
  EXPECT_EQ(Strict(DataType::kF8E5M2, 61439), 0x7b);
  EXPECT_EQ(Strict(DataType::kF8E5M2, 61440), 0x7c);
}

TEST(LowPrecision, OfFourBitsHasNoNanAndNoInfinity) {
  EXPECT_EQ(Strict(DataType::kF4E2M1, kInf), 7);
  EXPECT_EQ(Strict(DataType::kF4E2M1, -100), 15);
  EXPECT_EQ(Strict(DataType::kF4E2M1, kNan), 8);
  EXPECT_EQ(Strict(DataType::kF4E2M1, -0.0), 8);
  EXPECT_FALSE(RoundsToLowPrecision(DataType::kF4E2M1, 8));
  EXPECT_FALSE(RoundsToLowPrecision(DataType::kF4E2M1, kNan));
  EXPECT_TRUE(RoundsToLowPrecision(DataType::kF4E2M1, 6.5));
}

TEST(LowPrecision, RoundsScalesAsTold) {
  const auto scale = [](double value, ScaleRounding rounding, bool saturate = true) {
    return ToLowPrecision(DataType::kF8E8M0, value, {saturate, rounding});
  };
  struct Row {
    double value;
    int up, down, nearest;
  };
  for (const Row& row : {Row{1, 127, 127, 127}, Row{1.25, 128, 127, 127}, Row{1.5, 128, 127, 128},
                         Row{1.75, 128, 127, 128}, Row{0.124, 124, 123, 124}, Row{2, 128, 128, 128},
                         Row{0x1.8p-127, 1, 0, 1}}) {
    EXPECT_EQ(scale(row.value, ScaleRounding::kUp), row.up) << row.value;
    EXPECT_EQ(scale(row.value, ScaleRounding::kDown), row.down) << row.value;
    EXPECT_EQ(scale(row.value, ScaleRounding::kNearest), row.nearest) << row.value;
  }
  EXPECT_EQ(scale(0, ScaleRounding::kUp), 0);
  EXPECT_EQ(scale(1e-300, ScaleRounding::kNearest), 0);
  EXPECT_EQ(scale(kInf, ScaleRounding::kUp), 0xfe);
  EXPECT_EQ(scale(0x1.8p127, ScaleRounding::kUp), 0xfe);
  EXPECT_EQ(scale(kNan, ScaleRounding::kUp), 0xff);
  EXPECT_EQ(scale(-1, ScaleRounding::kUp), 0xff);
  for (double outside : {0.0, 1e-300, kInf, 0x1.8p127, kNan})
    EXPECT_EQ(scale(outside, ScaleRounding::kNearest, false), 0xff) << outside;
}

TEST(LowPrecision, IntegersSaturateOrWrap) {
  const auto saturated = [](DataType dtype, double value) {
    return static_cast<int8_t>(ToLowPrecision(dtype, value));
  };
  EXPECT_EQ(saturated(DataType::kI4, 100), 7);
  EXPECT_EQ(saturated(DataType::kI4, -kInf), -8);
  EXPECT_EQ(saturated(DataType::kU4, -3), 0);
  EXPECT_EQ(saturated(DataType::kU4, 15.6), 15);
  EXPECT_EQ(saturated(DataType::kI2, -1.5), -2);
  EXPECT_EQ(saturated(DataType::kU2, 2.5), 2);
  EXPECT_EQ(saturated(DataType::kI4, kNan), 0);
  EXPECT_EQ(static_cast<int8_t>(WrapToLowPrecision(DataType::kI4, 8)), -8);
  EXPECT_EQ(static_cast<int8_t>(WrapToLowPrecision(DataType::kI2, uint64_t(-3))), 1);
  EXPECT_EQ(WrapToLowPrecision(DataType::kU4, uint64_t(-9)), 7);
}

TEST(LowPrecision, BytesThatSayMoreThanAnElementAreNone) {
  const std::byte good[] = {std::byte{0}, std::byte{7}, std::byte{0xf8}};
  EXPECT_TRUE(AreLowPrecision(DataType::kI4, good));
  EXPECT_FALSE(AreLowPrecision(DataType::kU4, good));
  EXPECT_FALSE(AreLowPrecision(DataType::kF4E2M1, good));
  EXPECT_TRUE(AreLowPrecision(DataType::kF8E5M2, good));
}

}  // namespace
}  // namespace weft::ir
