#include "ir/builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace weft::ir {
namespace {

template <typename T>
T ElementOf(DataType dtype, double value) {
  T element{};
  const std::vector<std::byte> bytes = ElementBytes(dtype, value);
  EXPECT_EQ(bytes.size(), sizeof(T));
  std::memcpy(&element, bytes.data(), std::min(bytes.size(), sizeof(T)));
  return element;
}

template <typename T>
void ExpectNearest(DataType dtype) {
  using Limits = std::numeric_limits<T>;
  EXPECT_EQ(ElementOf<T>(dtype, 1e30), Limits::max()) << DataTypeName(dtype);
  EXPECT_EQ(ElementOf<T>(dtype, INFINITY), Limits::max()) << DataTypeName(dtype);
  EXPECT_EQ(ElementOf<T>(dtype, std::ldexp(1.0, Limits::digits)), Limits::max())
      << DataTypeName(dtype);
  EXPECT_EQ(ElementOf<T>(dtype, -1e30), Limits::min()) << DataTypeName(dtype);
  EXPECT_EQ(ElementOf<T>(dtype, -INFINITY), Limits::min()) << DataTypeName(dtype);
  EXPECT_EQ(ElementOf<T>(dtype, NAN), 0) << DataTypeName(dtype);
  EXPECT_EQ(ElementOf<T>(dtype, 7.9), 7) << DataTypeName(dtype);
}

TEST(ElementBytes, TakesTheNearestIntegerThatTheTypeHas) {
  ExpectNearest<int8_t>(DataType::kI8);
  ExpectNearest<uint8_t>(DataType::kU8);
  ExpectNearest<int16_t>(DataType::kI16);
  ExpectNearest<uint16_t>(DataType::kU16);
  ExpectNearest<int32_t>(DataType::kI32);
  ExpectNearest<uint32_t>(DataType::kU32);
  ExpectNearest<int64_t>(DataType::kI64);
  ExpectNearest<uint64_t>(DataType::kU64);
}

}  // namespace
}  // namespace weft::ir
