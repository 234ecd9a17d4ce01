#include "kernels/native/simd/elementwise/binary.h"

#include <limits>

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

struct Broadcast {
  Dims a, b, y;
};

// Same shape, row vector, column, scalars, channels in the middle, both broadcast, zero-sized.
const Broadcast kBroadcasts[] = {
    {{197}, {197}, {197}},
    {{13, 33}, {33}, {13, 33}},
    {{13, 33}, {13, 1}, {13, 33}},
    {{}, {7, 13}, {7, 13}},
    {{7, 13}, {}, {7, 13}},
    {{2, 5, 7, 13}, {5, 1, 1}, {2, 5, 7, 13}},
    {{2, 7, 13, 5}, {2, 1, 1, 5}, {2, 7, 13, 5}},
    {{7, 1, 3, 1}, {1, 5, 1, 13}, {7, 5, 3, 13}},
    {{2, 1, 2, 1, 2, 1, 2, 3}, {1, 2, 1, 2, 1, 2, 1, 3}, {2, 2, 2, 2, 2, 2, 2, 3}},
    {{0, 3}, {3}, {0, 3}},
    {{300, 257}, {257}, {300, 257}},
};

// Element `index` of row-major `to` in the operand of shape `shape` that is broadcast to it.
int64_t SourceIndex(const Dims& shape, const Dims& to, int64_t index) {
  int64_t source = 0, stride = 1;
  for (int i = to.size() - 1; i >= 0; --i) {
    const int64_t at = index % to[i];
    index /= to[i];
    const int j = i - (to.size() - shape.size());
    if (j < 0) continue;
    if (shape[j] != 1) source += at * stride;
    stride *= shape[j];
  }
  return source;
}

double Reference(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return a + b;
    case BinaryOp::kSub:
      return a - b;
    case BinaryOp::kMul:
      return a * b;
    case BinaryOp::kDiv:
      return a / b;
    case BinaryOp::kPow:
      return std::pow(a, b);
    case BinaryOp::kMin:
      return std::fmin(a, b);
    case BinaryOp::kMax:
      return std::fmax(a, b);
    case BinaryOp::kPRelu:
      return a < 0 ? a * b : a;
  }
  return 0;
}

TEST(CpuBinary, AgreesWithPlainLoopsForEveryOpAndBroadcast) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const Broadcast& shapes : kBroadcasts) {
      const int64_t n = NumElements(shapes.y);
      const auto b = RandomFloats(NumElements(shapes.b), 2, 0.1f, 3);
      for (BinaryOp op : {BinaryOp::kAdd, BinaryOp::kSub, BinaryOp::kMul, BinaryOp::kDiv,
                          BinaryOp::kPow, BinaryOp::kMin, BinaryOp::kMax, BinaryOp::kPRelu}) {
        const float least = op == BinaryOp::kPRelu ? -3 : 0.1f;
        const auto a = RandomFloats(NumElements(shapes.a), 1, least, 3);
        std::vector<float> y(static_cast<size_t>(n));
        Binary(op, a.data(), BroadcastStrides(shapes.a, shapes.y), b.data(),
               BroadcastStrides(shapes.b, shapes.y), y.data(), shapes.y, pool);
        for (int64_t i = 0; i < n; ++i) {
          const double expected = Reference(op, a[SourceIndex(shapes.a, shapes.y, i)],
                                            b[SourceIndex(shapes.b, shapes.y, i)]);
          ASSERT_NEAR(y[i], expected, 1e-6 * std::fabs(expected)) << static_cast<int>(op);
        }
      }
    }
  });
}

TEST(CpuBinary, ComparesIntoBytes) {
  const Dims shape = {13, 33};
  auto a = RandomFloats(13 * 33, 1), b = RandomFloats(33, 2);
  for (int i = 0; i < 33; ++i) a[i * 3] = b[(i * 3) % 33];
  ForEachVariant([&](ThreadPool& pool) {
    const auto check = [&](CompareOp op, auto reference) {
      std::vector<uint8_t> y(13 * 33, 7);
      Compare(op, a.data(), RowMajorStrides(shape), b.data(), Dims{0, 1}, y.data(), shape, pool);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], reference(a[i], b[i % 33]) ? 1 : 0);
    };
    check(CompareOp::kEqual, [](float x, float y) { return x == y; });
    check(CompareOp::kLess, [](float x, float y) { return x < y; });
    check(CompareOp::kLessOrEqual, [](float x, float y) { return x <= y; });
    check(CompareOp::kGreater, [](float x, float y) { return x > y; });
    check(CompareOp::kGreaterOrEqual, [](float x, float y) { return x >= y; });
  });
}

TEST(CpuBinary, GivesNaNForTheMinimumAndMaximumOfANaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float a[2] = {nan, 1}, b[2] = {1, nan};
  ForEachVariant([&](ThreadPool& pool) {
    for (BinaryOp op : {BinaryOp::kMin, BinaryOp::kMax}) {
      float y[2] = {};
      Binary(op, a, Dims{1}, b, Dims{1}, y, Dims{2}, pool);
      EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
    }
  });
}

TEST(CpuBinary, NeverTrapsOnIntegers) {
  const int64_t low = std::numeric_limits<int64_t>::min();
  const int64_t a[6] = {7, 7, low, low, -7, 3}, b[6] = {2, 0, -1, low, 3, -2};
  int64_t y[6];
  ForEachVariant([&](ThreadPool& pool) {
    Binary(BinaryOp::kDiv, a, Dims{1}, b, Dims{1}, y, Dims{6}, pool);
    EXPECT_EQ(std::vector<int64_t>(y, y + 6), (std::vector<int64_t>{3, 0, low, 1, -2, -1}));
    Binary(BinaryOp::kAdd, a, Dims{1}, b, Dims{1}, y, Dims{6}, pool);
    EXPECT_EQ(y[3], 0);
    Binary(BinaryOp::kPow, a, Dims{1}, b, Dims{1}, y, Dims{6}, pool);
    EXPECT_EQ(std::vector<int64_t>(y, y + 2), (std::vector<int64_t>{49, 1}));
    EXPECT_EQ(y[4], -343);
    EXPECT_EQ(y[5], 0);
  });
}

TEST(CpuBinary, WorksInPlace) {
  ForEachVariant([&](ThreadPool& pool) {
    auto y = RandomFloats(1009, 1);
    const auto a = y, b = RandomFloats(1009, 2);
    Binary(BinaryOp::kSub, y.data(), Dims{1}, b.data(), Dims{1}, y.data(), Dims{1009}, pool);
    for (int i = 0; i < 1009; ++i) ASSERT_EQ(y[i], a[i] - b[i]);
  });
}

}  // namespace
}  // namespace weft::kernels::simd
