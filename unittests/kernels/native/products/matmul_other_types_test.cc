// Products of matrices of f64 and of integers: as the reference has them, bit for bit.
#include <cmath>
#include <cstring>
#include <limits>

#include "unittests/kernels/agreement.h"

namespace weft::kernels {
namespace {

constexpr DataType kTypes[] = {DataType::kF64, DataType::kI32, DataType::kU32, DataType::kI64,
                               DataType::kU64};

// Of all bits, so that products of integers wrap around.
Tensor RandomOf(DataType dtype, ir::Shape dims, uint64_t seed) {
  Tensor tensor = *Tensor::Create(dtype, std::move(dims));
  const size_t count = tensor.view().NumElements();
  uint64_t bits = seed;
  for (size_t i = 0; i < count; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const uint64_t mixed = bits ^ bits >> 31;
    const double real = static_cast<double>(static_cast<int64_t>(mixed)) / 3e18;
    std::byte* const at = tensor.view().data + i * (tensor.view().NumBytes() / count);
    if (dtype == DataType::kF64) {
      std::memcpy(at, &real, sizeof(real));
    } else {
      std::memcpy(at, &mixed, tensor.view().NumBytes() / count);
    }
  }
  return tensor;
}

void ExpectSameBits(const OpProgram& program) {
  const auto expected = program.Run({.provider = "reference"});
  ASSERT_TRUE(expected.ok()) << expected.status();
  for (const Isa isa : SupportedIsas()) {
    const ScopedIsa scope(isa);
    for (const int threads : {1, 2, 3}) {
      EXPECT_EQ(program.ProviderOf({.provider = "auto", .threads = threads}), "native");
      const auto actual = program.Run({.provider = "auto", .threads = threads});
      ASSERT_TRUE(actual.ok()) << actual.status();
      const TensorView a = (*actual)[0].view(), e = (*expected)[0].view();
      ASSERT_EQ(a.NumBytes(), e.NumBytes());
      EXPECT_EQ(std::memcmp(a.data, e.data, a.NumBytes()), 0) << IsaName(isa) << ", " << threads;
    }
  }
}

TEST(NativeMatMulOfOtherTypes, HasTheBitsOfTheReference) {
  struct Case {
    ir::Shape a, b, y;
  };
  for (const DataType dtype : kTypes)
    for (const Case& c :
         {Case{{1, 9}, {9, 5}, {1, 5}}, Case{{101, 270}, {270, 70}, {101, 70}},
          Case{{2, 5, 33}, {33, 16}, {2, 5, 16}}, Case{{600}, {600, 33}, {33}},
          Case{{2, 3, 7, 4}, {2, 3, 4, 3}, {2, 3, 7, 3}},
          Case{{4, 1, 8, 16}, {3, 16, 8}, {4, 3, 8, 8}}, Case{{2, 7, 9}, {9}, {2, 7}},
          Case{{9}, {3, 9, 4}, {3, 4}}, Case{{5}, {5}, {}}, Case{{1, 1, 1}, {1, 1}, {1, 1, 1}}}) {
      SCOPED_TRACE(std::string(ir::DataTypeName(dtype)) + " " + ir::ToString(c.a) + " . " +
                   ir::ToString(c.b));
      ExpectSameBits(OpProgram::Make<ops::MatMul>(
          {RandomOf(dtype, c.a, 1), RandomOf(dtype, c.b, 2)}, {}, {{dtype, c.y}}));
    }
}

// Every height and width of a tile.
TEST(NativeMatMulOfOtherTypes, RunsTilesOfAllSizes) {
  for (const DataType dtype : {DataType::kF64, DataType::kI32})
    for (int64_t m = 1; m <= 13; ++m)
      for (int64_t n = 1; n <= 66; n += m % 3 + 1)
        ExpectSameBits(OpProgram::Make<ops::MatMul>(
            {RandomOf(dtype, {m, 5}, 1), RandomOf(dtype, {5, n}, 2)}, {}, {{dtype, {m, n}}}));
}

TEST(NativeMatMulOfOtherTypes, KeepsWhatIsNotFiniteAndSignsOfZeros) {
  Tensor a = RandomOf(DataType::kF64, {9, 7}, 1), b = RandomOf(DataType::kF64, {7, 20}, 2);
  const double inf = std::numeric_limits<double>::infinity();
  a.values<double>()[3] = inf;
  a.values<double>()[12] = -0.0;
  b.values<double>()[5] = -inf;
  b.values<double>()[21] = std::nan("");
  const OpProgram program =
      OpProgram::Make<ops::MatMul>({std::move(a), std::move(b)}, {}, {{DataType::kF64, {9, 20}}});
  const auto expected = program.Run({.provider = "reference"});
  const auto actual = program.Run({.provider = "native"});
  ASSERT_TRUE(expected.ok() && actual.ok());
  const auto want = (*expected)[0].values<double>(), got = (*actual)[0].values<double>();
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
    } else {
      EXPECT_EQ(got[i], want[i]) << i;
      EXPECT_EQ(std::signbit(got[i]), std::signbit(want[i])) << i;
    }
  }
}

TEST(NativeGemmOfDoubles, HasTheBitsOfTheReference) {
  const DataType f64 = DataType::kF64;
  for (const int64_t trans_a : {0, 1})
    for (const int64_t trans_b : {0, 1})
      for (const ir::Shape& c : {ir::Shape{}, ir::Shape{50}, ir::Shape{33, 1}, ir::Shape{33, 50}}) {
        const ir::Shape a = trans_a != 0 ? ir::Shape{300, 33} : ir::Shape{33, 300};
        const ir::Shape b = trans_b != 0 ? ir::Shape{50, 300} : ir::Shape{300, 50};
        ExpectSameBits(OpProgram::Make<ops::Gemm>(
            {RandomOf(f64, a, 1), RandomOf(f64, b, 2), RandomOf(f64, c, 3)},
            {.alpha = 0.3f, .beta = 0.7f, .transA = trans_a, .transB = trans_b},
            {{f64, {33, 50}}}));
      }
}

TEST(NativeMatMulOfOtherTypes, LeavesSmallIntegersToTheReference) {
  Agreement<ops::MatMul>({RandomOf(DataType::kI8, {2, 3}, 1), RandomOf(DataType::kI8, {3, 2}, 2)},
                         {}, {{DataType::kI8, {2, 2}}})
      .Of("reference");
}

}  // namespace
}  // namespace weft::kernels
