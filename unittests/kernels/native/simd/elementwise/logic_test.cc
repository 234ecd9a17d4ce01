#include "kernels/native/simd/elementwise/logic.h"

#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

template <typename T>
std::vector<T> Numbers(int64_t n, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) value = engine() % 4 == 0 ? T(0) : static_cast<T>(engine());
  return values;
}

bool Expected(LogicOp op, bool a, bool b) {
  return op == LogicOp::kAnd ? a && b : op == LogicOp::kOr ? a || b : a != b;
}

// As kernels/reference has it.
template <typename T>
T Expected(BitwiseOp op, T a, T b) {
  switch (op) {
    case BitwiseOp::kAnd:
      return a & b;
    case BitwiseOp::kOr:
      return a | b;
    case BitwiseOp::kXor:
      return a ^ b;
    case BitwiseOp::kShiftLeft:
      return b >= 8 * sizeof(T) ? T(0) : static_cast<T>(uint64_t{a} << b);
    case BitwiseOp::kShiftRight:
      return b >= 8 * sizeof(T) ? T(0) : static_cast<T>(uint64_t{a} >> b);
  }
  return 0;
}

constexpr int64_t kLengths[] = {1, 7, 15, 16, 17, 31, 33, 63, 64, 65, 130, 40001};

TEST(CpuLogic, AgreesWithPlainLoopsOnRowsOfEveryLength) {
  ForEachVariant([&](ThreadPool& pool) {
    for (const int64_t n : kLengths) {
      const auto a = Numbers<uint8_t>(n, 1), b = Numbers<uint8_t>(n, 2);
      std::vector<uint8_t> y(a.size());
      for (const LogicOp op : {LogicOp::kAnd, LogicOp::kOr, LogicOp::kXor}) {
        for (const int64_t of_a : {0, 1}) {
          for (const int64_t of_b : {0, 1}) {
            Logic(op, a.data(), Dims{of_a}, b.data(), Dims{of_b}, y.data(), Dims{n}, pool);
            for (size_t i = 0; i < y.size(); ++i)
              ASSERT_EQ(y[i], Expected(op, a[of_a != 0 ? i : 0] != 0, b[of_b != 0 ? i : 0] != 0));
          }
        }
      }
      Not(a.data(), y.data(), n, pool);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], a[i] == 0);
      InvertBits(a.data(), y.data(), n, pool);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], 255 - a[i]);
    }
  });
}

TEST(CpuLogic, MayWriteOverAnOperand) {
  ForEachVariant([&](ThreadPool& pool) {
    const auto a = Numbers<uint8_t>(1001, 1), b = Numbers<uint8_t>(1001, 2);
    std::vector<uint8_t> y = b;
    Logic(LogicOp::kXor, a.data(), Dims{1}, y.data(), Dims{1}, y.data(), Dims{1001}, pool);
    for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], (a[i] != 0) != (b[i] != 0));
  });
}

template <typename T>
void ExpectBitwise() {
  ForEachVariant([&](ThreadPool& pool) {
    for (const int64_t n : kLengths) {
      const auto a = Numbers<T>(n, 1);
      auto b = Numbers<T>(n, 2);
      for (size_t i = 0; i < b.size(); i += 2) b[i] %= 9 * sizeof(T);  // shifts that leave bits
      std::vector<T> y(a.size());
      for (const BitwiseOp op : {BitwiseOp::kAnd, BitwiseOp::kOr, BitwiseOp::kXor,
                                 BitwiseOp::kShiftLeft, BitwiseOp::kShiftRight}) {
        Bitwise<T>(op, a.data(), Dims{1}, b.data(), Dims{1}, y.data(), Dims{n}, pool);
        for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], Expected(op, a[i], b[i])) << i;
      }
    }
  });
}

TEST(CpuBitwise, AgreesWithPlainLoopsOnEveryWidth) {
  ExpectBitwise<uint8_t>();
  ExpectBitwise<uint16_t>();
  ExpectBitwise<uint32_t>();
  ExpectBitwise<uint64_t>();
}

template <typename Bits>
void ExpectClasses(Bits infinity) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  ForEachVariant([&](ThreadPool& pool) {
    for (const int64_t n : kLengths) {
      auto x = Numbers<Bits>(n, 1);
      for (size_t i = 0; i < x.size(); i += 3)  // the infinities and their neighbours
        x[i] = static_cast<Bits>((infinity - 1 + i / 3 % 3) | (i % 2 != 0 ? kSign : 0));
      std::vector<uint8_t> y(x.size());
      for (const uint32_t kinds : {0u, 1u, 2u, 3u, 4u}) {
        const FloatClass<Bits> marked = {infinity, kinds == 4, (kinds & 1) != 0, (kinds & 2) != 0};
        ClassifyFloats(marked, x.data(), y.data(), n, pool);
        for (size_t i = 0; i < y.size(); ++i) {
          const Bits magnitude = static_cast<Bits>(x[i] & ~kSign);
          const bool is_negative = (x[i] & kSign) != 0;
          const bool expected =
              marked.nan ? magnitude > infinity
                         : magnitude == infinity &&
                               (is_negative ? marked.negative_infinity : marked.positive_infinity);
          ASSERT_EQ(y[i], expected) << i;
        }
      }
    }
  });
}

TEST(CpuFloatClasses, AgreeWithTheDefinitionsOfFormats) {
  ExpectClasses<uint16_t>(0x7c00);
  ExpectClasses<uint16_t>(0x7f80);
  ExpectClasses<uint32_t>(0x7f800000);
  ExpectClasses<uint64_t>(0x7ff0000000000000);
}

}  // namespace
}  // namespace weft::kernels::simd
