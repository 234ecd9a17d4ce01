#include "kernels/native/simd/elementwise/where.h"

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

TEST(CpuWhere, PicksFromEitherSideForEveryElementSize) {
  const Dims shape = {5, 7, 13};
  std::vector<uint8_t> condition(7);
  for (int i = 0; i < 7; ++i) condition[i] = i % 3 == 1 ? 255 : 0;
  const auto check = [&](auto zero, ThreadPool& pool) {
    using T = decltype(zero);
    std::vector<T> a(5 * 7 * 13), b(13), y(5 * 7 * 13);
    for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(i);
    for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(200 + i);
    Where(condition.data(), Dims{0, 1, 0}, a.data(), RowMajorStrides(shape), b.data(),
          Dims{0, 0, 1}, y.data(), shape, sizeof(T), pool);
    for (size_t i = 0; i < y.size(); ++i) {
      ASSERT_EQ(y[i], condition[i / 13 % 7] != 0 ? a[i] : b[i % 13]);
    }
  };
  ForEachVariant([&](ThreadPool& pool) {
    check(uint8_t{}, pool);
    check(uint16_t{}, pool);
    check(uint32_t{}, pool);
    check(uint64_t{}, pool);
  });
}

// Every way in which a row's operands are read, with every rest of a vector.
TEST(CpuWhere, ChoosesOnRowsOfEveryLengthWithEverySideBroadcast) {
  const auto check = [&](auto zero, int64_t n, uint32_t broadcast, ThreadPool& pool) {
    using T = decltype(zero);
    const auto length = static_cast<size_t>(n);
    std::vector<uint8_t> condition(length);
    std::vector<T> a(length), b(length), y(length);
    for (size_t i = 0; i < length; ++i) {
      condition[i] = i * i % 5 < 2 ? static_cast<uint8_t>(1 + i) : 0;
      a[i] = static_cast<T>(i + 1);
      b[i] = static_cast<T>(250 - i % 200);
    }
    const int64_t of_condition = broadcast & 1 ? 0 : 1, of_a = broadcast & 2 ? 0 : 1,
                  of_b = broadcast & 4 ? 0 : 1;
    Where(condition.data(), Dims{of_condition}, a.data(), Dims{of_a}, b.data(), Dims{of_b},
          y.data(), Dims{n}, sizeof(T), pool);
    for (int64_t i = 0; i < n; ++i) {
      const bool is_a = condition[static_cast<size_t>(i * of_condition)] != 0;
      ASSERT_EQ(y[static_cast<size_t>(i)],
                is_a ? a[static_cast<size_t>(i * of_a)] : b[static_cast<size_t>(i * of_b)])
          << i << " of " << n << ", broadcast " << broadcast;
    }
  };
  ForEachVariant([&](ThreadPool& pool) {
    for (uint32_t broadcast = 0; broadcast < 8; ++broadcast) {
      for (const int64_t n : {1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 67, 130, 20001}) {
        check(uint8_t{}, n, broadcast, pool);
        check(uint16_t{}, n, broadcast, pool);
        check(uint32_t{}, n, broadcast, pool);
        check(uint64_t{}, n, broadcast, pool);
      }
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
