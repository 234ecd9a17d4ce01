// Products of bytes against plain loops, for everything that multiplies them on this machine.
#include "kernels/native/simd/int8/gemm.h"

#include <cmath>
#include <cstring>

#include "unittests/kernels/native/simd/simd_test_util.h"
#include "unittests/sanitizers.h"

namespace weft::kernels::simd {
namespace {

struct Case {
  int64_t m, k, n;
  bool a_signed = false, b_signed = true;
  int a_zero = 0;
  std::vector<int> zeros = {};  // of B
  int64_t gap = 0;              // bytes between rows of A, elements between those of C
  bool transposed = false;
  bool gathers = false;
};

std::vector<std::byte> RandomBytes(int64_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::byte> bytes(static_cast<size_t>(n));
  // Both ends are frequent.
  for (std::byte& byte : bytes) {
    const uint32_t x = engine();
    byte = static_cast<std::byte>(x % 8 == 0   ? 127 + x / 8 % 2
                                  : x % 8 == 1 ? x / 8 % 2 * 255
                                               : x / 8);
  }
  return bytes;
}

int Value(std::byte byte, bool is_signed) {
  return is_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte);
}

class Operands {
 public:
  explicit Operands(const Case& c)
      : c_(c),
        a_(RandomBytes(c.m * (c.k + c.gap) + kInt8ReadsPast, 1)),
        b_(RandomBytes(c.k * c.n, 2)) {
    for (int64_t j = 0; j < c.n; ++j) {
      bias_.push_back(static_cast<int32_t>(j * 7919 % 4001) - 2000);
      scales_.push_back(0.37f / static_cast<float>(c.k) * (1 + 0.0137f * static_cast<float>(j)));
      float_bias_.push_back(0.377f * static_cast<float>(j % 7) - 1);
    }
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) sums_.push_back(SumAt(i, j));
  }

  template <class T>
  void Check(const Int8Kernels* kernels, Int8Result result, ThreadPool& pool) const {
    const int64_t stride = c_.n + c_.gap;
    std::vector<T> y(static_cast<size_t>(c_.m * stride), T{77});
    result.c = y.data();
    result.c_stride = stride;
    result.scales = scales_.data();
    if (result.kind == Int8Result::Kind::kFloat) result.float_bias = float_bias_.data();
    const Int8Matrix b = Int8Matrix::Pack({.b = b_.data(),
                                           .row_stride = c_.transposed ? 1 : c_.n,
                                           .column_stride = c_.transposed ? c_.k : 1,
                                           .k = c_.k,
                                           .n = c_.n,
                                           .b_signed = c_.b_signed,
                                           .a_signed = c_.a_signed,
                                           .zeros = c_.zeros},
                                          pool);
    Int8Gemm({.m = c_.m,
              .a = c_.gathers ? nullptr : a_.data(),
              .a_stride = c_.k + c_.gap,
              .a_zero = c_.a_zero,
              .gather = c_.gathers ? &Gather : nullptr,
              .context = this,
              .b = &b,
              .bias = bias_.data(),
              .result = result,
              .kernels = kernels},
             pool);
    for (int64_t i = 0; i < c_.m; ++i)
      for (int64_t j = 0; j < stride; ++j) {
        const T expected = j < c_.n ? Expected<T>(result, i, j) : T{77};
        ASSERT_EQ(y[i * stride + j], expected)
            << i << ", " << j << " of " << c_.m << " x " << c_.k << " x " << c_.n << ", "
            << (c_.a_signed ? "i8" : "u8") << " by " << (c_.b_signed ? "i8" : "u8");
      }
  }

 private:
  int32_t SumAt(int64_t i, int64_t j) const {
    int64_t sum = bias_[j];
    const int zero = c_.zeros.empty() ? 0 : c_.zeros[c_.zeros.size() == 1 ? 0 : j];
    for (int64_t k = 0; k < c_.k; ++k) {
      const std::byte a = a_[i * (c_.k + c_.gap) + k];
      const std::byte b = b_[c_.transposed ? j * c_.k + k : k * c_.n + j];
      sum += int64_t{Value(a, c_.a_signed) - c_.a_zero} * (Value(b, c_.b_signed) - zero);
    }
    return static_cast<int32_t>(sum);
  }

  template <class T>
  T Expected(const Int8Result& r, int64_t i, int64_t j) const {
    const int32_t sum = sums_[i * c_.n + j];
    if (r.kind == Int8Result::Kind::kInt32) return static_cast<T>(sum);
    const float scaled = static_cast<float>(sum) * scales_[j];
    if (r.kind == Int8Result::Kind::kFloat) {
      const volatile float product = scaled;  // rounded before the bias is added
      return static_cast<T>(product + float_bias_[j]);
    }
    const float rounded = std::nearbyint(scaled) + static_cast<float>(r.zero);
    return static_cast<T>(
        std::fmin(std::fmax(rounded, static_cast<float>(r.low)), static_cast<float>(r.high)));
  }

  static void Gather(const void* context, int64_t first, int64_t rows, std::byte* to,
                     int64_t stride) {
    const auto& self = *static_cast<const Operands*>(context);
    for (int64_t i = 0; i < rows; ++i)
      std::memcpy(to + i * stride, self.a_.data() + (first + i) * (self.c_.k + self.c_.gap),
                  static_cast<size_t>(self.c_.k));
  }

  const Case c_;
  std::vector<std::byte> a_, b_;
  std::vector<int32_t> bias_, sums_;
  std::vector<float> scales_, float_bias_;
};

// Sums of all kernels, on one thread.
void CheckSums(const Case& c) {
  ThreadPool pool(1);
  const Operands operands(c);
  for (const Int8Kernels* kernels : SupportedInt8Kernels()) {
    SCOPED_TRACE(kernels->name);
    operands.Check<int32_t>(kernels, {.kind = Int8Result::Kind::kInt32}, pool);
  }
}

TEST(Int8Gemm, IsExactAtAllSizes) {
  // Every height with every width and every depth, but not with both; with sanitizers, which take minutes, with some.
  constexpr int64_t kStep = kSanitized ? 9 : 3;
  for (int64_t m = 1; m <= 70; ++m)
    for (int64_t n = 1; n <= 70; n += m % 7 == 0 && !kSanitized ? 1 : kStep)
      CheckSums({.m = m, .k = (m * 11 + n * 3) % 70 + 1, .n = n, .a_zero = 3});
  for (int64_t k = 1; k <= 70; ++k)
    for (int64_t m = 1; m <= 33; m += kStep + 1)
      CheckSums({.m = m, .k = k, .n = (m * 5 + k) % 37 + 1, .a_signed = true, .a_zero = -3});
}

TEST(Int8Gemm, TakesAllSignsAndZeroPoints) {
  for (const bool a_signed : {false, true})
    for (const bool b_signed : {false, true})
      for (const int a_zero : {a_signed ? -128 : 0, a_signed ? 127 : 255, 5})
        for (const int b_zero : {b_signed ? -128 : 0, b_signed ? 127 : 255, 7}) {
          std::vector<int> zeros(35, b_zero);
          for (const auto& of_b : {std::vector<int>{}, std::vector<int>{b_zero}, zeros})
            CheckSums({33, 67, 35, a_signed, b_signed, a_zero, of_b});
          for (size_t i = 0; i < zeros.size(); ++i) zeros[i] = static_cast<int>(i) * 3;
          CheckSums({33, 67, 35, a_signed, b_signed, a_zero, zeros});
        }
}

// 4608 products of 255 by 128 are not far from 2^28: nothing saturates.
TEST(Int8Gemm, SumsExtremesExactly) {
  for (const int64_t k : {4608, 9000})
    for (const bool b_signed : {false, true}) CheckSums({5, k, 17, false, b_signed, 255, {}});
}

TEST(Int8Gemm, TakesStridesTransposedMatricesAndGatheredRows) {
  for (const bool transposed : {false, true})
    for (const bool gathers : {false, true})
      for (const int64_t gap : {0, 1, 64})
        CheckSums({47, 130, 49, false, false, 9, {3}, gap, transposed, gathers});
}

// Every result of every kernel, with one thread and with two, at sizes that make several tasks.
TEST(Int8Gemm, FinishesAsPlainLoopsDo) {
  for (const Case& c :
       {Case{.m = 300, .k = 200, .n = 70, .a_zero = 120, .gathers = true},
        Case{.m = 40, .k = 300, .n = 300, .a_zero = 120, .zeros = {4}},
        Case{.m = 40, .k = 300, .n = 300, .zeros = {4}, .gathers = true},
        Case{.m = 1, .k = 100, .n = 200, .gap = 3}, Case{.m = 17, .k = 3, .n = 5}}) {
    const Operands operands(c);
    for (const int threads : {1, 2}) {
      ThreadPool pool(threads);
      for (const Int8Kernels* kernels : SupportedInt8Kernels()) {
        SCOPED_TRACE(kernels->name);
        operands.Check<int32_t>(kernels, {.kind = Int8Result::Kind::kInt32}, pool);
        operands.Check<uint8_t>(kernels, {.kind = Int8Result::Kind::kByte, .zero = 120}, pool);
        operands.Check<uint8_t>(
            kernels, {.kind = Int8Result::Kind::kByte, .zero = 9, .low = 3, .high = 200}, pool);
        operands.Check<int8_t>(
            kernels, {.kind = Int8Result::Kind::kByte, .zero = -7, .low = -128, .high = 127}, pool);
        operands.Check<float>(kernels, {.kind = Int8Result::Kind::kFloat}, pool);
      }
    }
  }
}

TEST(Int8Gemm, IsChosenByTheInstructionSet) {
  const Operands operands({.m = 64, .k = 128, .n = 64});
  ForEachProductVariant([&](ThreadPool& pool) {
    operands.Check<int32_t>(nullptr, {.kind = Int8Result::Kind::kInt32}, pool);
  });
}

}  // namespace
}  // namespace weft::kernels::simd
