// Products with weights of few bits: the loops against plain ones in double, on buffers of just their size, and the kernel
// against the reference body.
#include <cmath>
#include <limits>
#include <random>

#include "ir/dialects/microsoft.h"
#include "kernels/native/simd/int4/nbits_gemm.h"
#include "unittests/kernels/agreement.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels {
namespace {

constexpr DataType kU8 = DataType::kU8;
constexpr float kInf = std::numeric_limits<float>::infinity(),
                kNan = std::numeric_limits<float>::quiet_NaN();

enum class Zeros { kNone, kBits, kFloats };

// Weights [n, k] with random numbers.
struct Weights {
  Weights(int bits, int64_t block_size, int64_t n, int64_t k, Zeros zeros)
      : matrix{.bits = bits,
               .block_size = block_size,
               .n = n,
               .k = k,
               .blocks = (k + block_size - 1) / block_size} {
    data = Bytes(n * matrix.row_bytes(), 5);
    scales = simd::RandomFloats(n * matrix.blocks, 6, -0.1f, 0.2f);
    if (zeros == Zeros::kBits) bit_zeros = Bytes(n * matrix.zero_bytes(), 7);
    if (zeros == Zeros::kFloats)
      float_zeros = simd::RandomFloats(n * matrix.blocks, 8, 0, static_cast<float>(1 << bits));
  }
  static std::vector<uint8_t> Bytes(int64_t n, uint32_t seed) {
    std::mt19937 engine(seed);
    std::vector<uint8_t> bytes(static_cast<size_t>(n));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine());
    return bytes;
  }
  static int NumberAt(const uint8_t* bytes, int64_t i, int bits) {
    return bytes[i * bits / 8] >> (i * bits % 8) & ((1 << bits) - 1);
  }
  float At(int64_t column, int64_t k) const {
    const int64_t block = column * matrix.blocks + k / matrix.block_size;
    float zero = static_cast<float>(1 << (matrix.bits - 1));
    if (!float_zeros.empty()) zero = float_zeros[static_cast<size_t>(block)];
    if (!bit_zeros.empty())
      zero = static_cast<float>(NumberAt(bit_zeros.data() + column * matrix.zero_bytes(),
                                         k / matrix.block_size, matrix.bits));
    const int number = NumberAt(data.data() + column * matrix.row_bytes(), k, matrix.bits);
    return (static_cast<float>(number) - zero) * scales[static_cast<size_t>(block)];
  }
  simd::NBitsMatrix view() const {
    simd::NBitsMatrix b = matrix;
    b.data = data.data();
    b.scales = scales.data();
    if (!bit_zeros.empty()) b.bit_zeros = bit_zeros.data();
    if (!float_zeros.empty()) b.float_zeros = float_zeros.data();
    return b;
  }

  simd::NBitsMatrix matrix;
  std::vector<uint8_t> data, bit_zeros;
  std::vector<float> scales, float_zeros;
};

// Rows of A and C are three floats apart more than needed; what lies between must stay.
std::vector<float> RunGemm(const Weights& w, int64_t m, const std::vector<float>& a,
                           const float* bias, ThreadPool& pool) {
  const int64_t lda = w.matrix.k + 3, ldc = w.matrix.n + 3;
  std::vector<float> c(static_cast<size_t>(m * ldc), 77.0f);
  const int64_t bytes = simd::NBitsGemmScratchBytes(m, w.matrix.k, pool.num_threads());
  const AlignedBytes scratch(static_cast<size_t>(bytes));
  simd::NBitsGemm({.m = m,
                   .a = a.data(),
                   .a_stride = lda,
                   .b = w.view(),
                   .bias = bias,
                   .c = c.data(),
                   .c_stride = ldc},
                  scratch.data(), pool);
  return c;
}

void CheckGemm(const Weights& w, int64_t m, bool has_bias, ThreadPool& pool) {
  const int64_t n = w.matrix.n, k = w.matrix.k, lda = k + 3, ldc = n + 3;
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n) + ", " +
               std::to_string(w.matrix.bits) + " bits in blocks of " +
               std::to_string(w.matrix.block_size));
  const std::vector<float> a = simd::RandomFloats(m * lda, 1), bias = simd::RandomFloats(n, 2);
  const std::vector<float> c = RunGemm(w, m, a, has_bias ? bias.data() : nullptr, pool);
  std::vector<double> expected(c.size(), 77.0);
  std::vector<float> column(static_cast<size_t>(k));
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t l = 0; l < k; ++l) column[static_cast<size_t>(l)] = w.At(j, l);
    for (int64_t i = 0; i < m; ++i) {
      double sum = has_bias ? bias[static_cast<size_t>(j)] : 0;
      for (int64_t l = 0; l < k; ++l)
        sum += static_cast<double>(a[static_cast<size_t>(i * lda + l)]) *
               column[static_cast<size_t>(l)];
      expected[static_cast<size_t>(i * ldc + j)] = sum;
    }
  }
  double largest = 1e-30, difference = 0;
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < ldc; ++j) {
      const auto at = static_cast<size_t>(i * ldc + j);
      if (j >= n) {
        ASSERT_EQ(c[at], 77.0f);
        continue;
      }
      largest = std::fmax(largest, std::fabs(expected[at]));
      difference = std::fmax(difference, std::fabs(c[at] - expected[at]));
      ASSERT_FALSE(std::isnan(c[at]));
    }
  EXPECT_LT(difference / largest, 1e-7 * (3 + std::sqrt(static_cast<double>(k))));
}

TEST(NBitsGemm, IsTheProductForAllBitsBlocksAndZeroPoints) {
  simd::ForEachVariant([](ThreadPool& pool) {
    for (const int bits : {2, 4, 8})
      for (const int64_t block : {16, 32, 64, 128, 256, 512})
        for (const Zeros zeros : {Zeros::kNone, Zeros::kBits, Zeros::kFloats})
          for (const int64_t m : {1, 3, 20}) {
            CheckGemm(Weights(bits, block, 11, 600, zeros), m, zeros == Zeros::kBits, pool);
            CheckGemm(Weights(bits, block, 34, 3 * block, zeros), m, zeros == Zeros::kNone, pool);
          }
  });
}

// Depths that end within a chunk, a word, a block, a part; columns within a panel; tasks of rows.
TEST(NBitsGemm, HandlesAllTails) {
  simd::ForEachVariant([](ThreadPool& pool) {
    for (const int bits : {2, 4, 8}) {
      for (const int64_t k : {1, 2, 7, 15, 16, 17, 31, 33, 47, 63, 65, 127, 250, 257, 513})
        for (const int64_t m : {1, 2, 9})
          for (const int64_t block : {16, 64})
            CheckGemm(Weights(bits, block, 9, k, Zeros::kBits), m, false, pool);
      for (const int64_t n : {1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 65, 300})
        for (const int64_t m : {1, 4, 10})
          CheckGemm(Weights(bits, 32, n, 72, Zeros::kFloats), m, true, pool);
      for (int64_t m = 1; m <= 18; ++m)
        CheckGemm(Weights(bits, 32, 13, 300, Zeros::kNone), m, true, pool);
    }
    CheckGemm(Weights(4, 32, 20, 260, Zeros::kBits), 1100, true, pool);
  });
}

// Large enough for tiles of AMX, or emulated ones.
TEST(NBitsGemm, RunsOnTiles) {
  simd::ForEachProductVariant(
      [](ThreadPool& pool) { CheckGemm(Weights(4, 32, 258, 700, Zeros::kBits), 96, true, pool); });
}

TEST(NBitsGemm, DoesNotDependOnThreads) {
  const Weights w(4, 32, 203, 700, Zeros::kBits);
  for (const int64_t m : {1, 6, 40}) {
    const std::vector<float> a = simd::RandomFloats(m * 703, 1);
    ThreadPool one(1);
    const std::vector<float> expected = RunGemm(w, m, a, nullptr, one);
    for (const int threads : {2, 3, 7}) {
      ThreadPool pool(threads);
      EXPECT_EQ(RunGemm(w, m, a, nullptr, pool), expected) << m << " rows, threads: " << threads;
    }
  }
}

// --- the kernel ---------------------------------------------------------------------

// a, and operands of weights as the op has them.
std::vector<Operand> OperandsOf(Tensor a, const Weights& w, bool constant = true) {
  const int64_t n = w.matrix.n, blocks = w.matrix.blocks;
  const auto operand = [&](Tensor t) { return Operand(std::move(t), constant); };
  std::vector<Operand> operands = {
      std::move(a), operand(MakeTensor(kU8, {n, blocks, w.matrix.row_bytes() / blocks}, w.data)),
      operand(F32({n, blocks}, w.scales))};
  if (!w.bit_zeros.empty())
    operands.push_back(operand(MakeTensor(kU8, {n * w.matrix.zero_bytes()}, w.bit_zeros)));
  if (!w.float_zeros.empty()) operands.push_back(operand(F32({n, blocks}, w.float_zeros)));
  return operands;
}

OpProgram ProgramOf(const std::vector<Operand>& operands, const Weights& w) {
  OpProgram p;
  ir::LoadMicrosoftDialect(*p.context);
  p.program = std::make_unique<ir::Program>(p.context.get());
  ir::Builder builder(p.program.get());
  std::vector<ir::Value> values;
  for (const Operand& operand : operands) {
    if (operand.tensor == nullptr) {
      values.emplace_back();
      continue;
    }
    const Tensor& t = *operand.tensor;
    const ir::Type type = p.context->TensorType(t.dtype(), t.dims());
    if (operand.constant) {
      values.push_back(
          builder.Constant(p.context->DenseAttr(type, {t.view().data, t.view().NumBytes()})));
      continue;
    }
    p.inputs.push_back(*Tensor::Create(t.dtype(), t.dims()));
    CopyElements(t.view(), p.inputs.back().view());
    values.push_back(builder.AddInput("x" + std::to_string(values.size()), type));
  }
  const ir::Value y = builder.Make<ir::microsoft::MatMulNBits>(
      values,
      {.K = w.matrix.k, .N = w.matrix.n, .bits = w.matrix.bits, .block_size = w.matrix.block_size});
  builder.Return({{"y", y}});
  return p;
}

void ExpectAgreement(const std::vector<Operand>& operands, const Weights& w,
                     const std::string& provider = "native") {
  AgreementOf(ProgramOf(operands, w)).Of(provider, 2e-6);
}

TEST(MatMulNBits, IsTheReferenceBody) {
  for (const int bits : {2, 4, 8})
    for (const Zeros zeros : {Zeros::kNone, Zeros::kBits, Zeros::kFloats})
      for (const bool constant : {true, false}) {
        const Weights w(bits, 32, 19, 200, zeros);
        ExpectAgreement(OperandsOf(Random({200}, 1), w, constant), w);
        ExpectAgreement(OperandsOf(Random({2, 1, 200}, 1), w, constant), w);
        ExpectAgreement(OperandsOf(Random({3, 7, 200}, 1), w, constant), w);
      }
}

TEST(MatMulNBits, AddsABias) {
  for (const Zeros zeros : {Zeros::kNone, Zeros::kBits}) {
    const Weights w(4, 16, 19, 200, zeros);
    for (const int64_t m : {1, 12}) {
      std::vector<Operand> operands = OperandsOf(Random({m, 200}, 1), w);
      operands.resize(5);
      operands.push_back(Random({19}, 9));
      ExpectAgreement(operands, w);
    }
  }
}

// Numbers that are the zero point make NaN of infinities.
TEST(MatMulNBits, KeepsInfinitiesAndNan) {
  for (const Zeros zeros : {Zeros::kNone, Zeros::kBits, Zeros::kFloats})
    for (const int64_t m : {1, 4, 12})
      for (const float special : {kInf, -kInf, kNan}) {
        const Weights w(4, 16, 70, 90, zeros);
        Tensor a = Random({m, 90}, 1);
        a.values<float>()[37] = special;
        a.values<float>()[89] = special;
        ExpectAgreement(OperandsOf(std::move(a), w), w);
      }
}

// Numbers behind the last column, which fill up the last block, count for nothing.
TEST(MatMulNBits, KeepsInfinitiesAndNanOfScales) {
  for (const Zeros zeros : {Zeros::kNone, Zeros::kBits, Zeros::kFloats})
    for (const int64_t m : {1, 4, 12})
      for (const float special : {kInf, kNan, 3e38f}) {
        Weights w(4, 32, 70, 70, zeros);
        for (const size_t row : {3, 17, 40}) w.scales[3 * row + row % 3] = special;
        for (size_t row = 44; row < 70; ++row) w.scales[3 * row + 2] = special;
        ExpectAgreement(OperandsOf(Random({m, 70}, 1), w), w);
      }
}

TEST(MatMulNBits, LeavesOtherLayoutsToTheReference) {
  const Weights w(4, 16, 5, 48, Zeros::kNone), odd(4, 24, 5, 48, Zeros::kNone);
  ExpectAgreement(OperandsOf(Random({3, 48}, 1), odd), odd, "reference");
  std::vector<Operand> grouped = OperandsOf(Random({3, 48}, 1), w);
  std::vector<int32_t> groups(48);
  for (size_t i = 0; i < groups.size(); ++i) groups[i] = static_cast<int32_t>(i * 7 % 3);
  grouped.resize(4);
  grouped.push_back(Constant(I32({48}, groups)));
  ExpectAgreement(grouped, w, "reference");
}

}  // namespace
}  // namespace weft::kernels
