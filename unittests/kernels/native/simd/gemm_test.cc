#include "kernels/native/simd/gemm.h"

#include <cstring>

#include "kernels/native/simd/amx_gemm.h"
#include "unittests/kernels/activation_definition.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

struct Shape {
  int64_t m, k, n;
};

struct Options {
  bool bias = false, residual = false, transposed = false;
  Activation activation = {};
};

// Rows of A, C and the residual are three floats apart more than needed; what lies between must
// stay.
void CheckGemm(const Shape& s, const Options& options, ThreadPool& pool) {
  SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.k) + " x " + std::to_string(s.n));
  const int64_t lda = s.k + 3, ldc = s.n + 3;
  const auto a = RandomFloats(s.m * lda, 1), b = RandomFloats(s.k * s.n, 2),
             bias = RandomFloats(s.n, 3), residual = RandomFloats(s.m * ldc, 4);
  std::vector<float> c(static_cast<size_t>(s.m * ldc), 77.0f);
  const PackedMatrix packed = options.transposed
                                  ? PackedMatrix::Pack(b.data(), 1, s.k, s.k, s.n, pool)
                                  : PackedMatrix::Pack(b.data(), s.n, 1, s.k, s.n, pool);
  GemmArguments arguments;
  arguments.m = s.m;
  arguments.a = a.data();
  arguments.a_stride = lda;
  arguments.b = &packed;
  arguments.c = c.data();
  arguments.c_stride = ldc;
  if (options.bias) arguments.bias = bias.data();
  if (options.residual) {
    arguments.residual = residual.data();
    arguments.residual_stride = ldc;
  }
  arguments.activation = options.activation;
  Gemm(arguments, pool);
  std::vector<double> expected(c.size(), 77.0);
  double largest = 1e-30, difference = 0;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = options.bias ? bias[j] : 0;
      for (int64_t k = 0; k < s.k; ++k) {
        sum += static_cast<double>(a[i * lda + k]) *
               (options.transposed ? b[j * s.k + k] : b[k * s.n + j]);
      }
      if (options.residual) sum += residual[i * ldc + j];
      const double value = ActivationInDouble(options.activation.kind, options.activation.a,
                                              options.activation.b, sum);
      largest = std::fmax(largest, std::fabs(value));
      difference = std::fmax(difference, std::fabs(c[i * ldc + j] - value));
    }
    for (int64_t j = s.n; j < ldc; ++j) ASSERT_EQ(c[i * ldc + j], 77.0f);
  }
  // Errors of a sum grow with the square root of its length; these are a few times larger than what
  // is seen.
  const double tolerance = 1e-7 * (3 + std::sqrt(static_cast<double>(s.k)));
  EXPECT_LT(difference / largest, tolerance);
}

const Shape kShapes[] = {{1, 1, 1},    {1, 64, 1},    {1, 33, 197},  {1, 7, 256},    {2, 64, 130},
                         {3, 13, 128}, {4, 16, 33},   {5, 100, 16},  {7, 49, 64},    {7, 13, 80},
                         {8, 20, 48},  {13, 33, 17},  {14, 64, 32},  {15, 7, 31},    {28, 40, 96},
                         {29, 1, 65},  {33, 197, 13}, {128, 64, 64}, {197, 33, 112}, {6, 0, 5}};

// Elements of `all`, by copies.
WeightSource CopiesOf(const std::vector<float>& all) {
  return WeightSource([&all](int64_t first, std::span<float> to) {
    ASSERT_LE(static_cast<size_t>(first) + to.size(), all.size());
    std::copy_n(all.begin() + first, to.size(), to.begin());
  });
}

// Rows as they lie, columns as they lie, and neither.
TEST(PackedMatrix, IsTheSameFromMemoryAndFromAFunction) {
  for (const int threads : {1, 2}) {
    ThreadPool pool(threads);
    for (const auto& [k, n] : {std::pair<int64_t, int64_t>{1, 1},
                               {1, 40},
                               {40, 1},
                               {33, 17},
                               {7, 64},
                               {700, 500},
                               {3, 70000},
                               {0, 5},
                               {5, 0}}) {
      SCOPED_TRACE(std::to_string(k) + " x " + std::to_string(n));
      const auto b = RandomFloats(10 + 2 * k * n, 1);
      const std::vector<float> some(b.begin() + 10, b.end());
      for (const auto& [row, column] : {std::pair<int64_t, int64_t>{n, 1}, {1, k}, {2 * n, 2}}) {
        const PackedMatrix expected = PackedMatrix::Pack(some.data(), row, column, k, n, pool);
        const WeightSource all = CopiesOf(b);
        const PackedMatrix packed = PackedMatrix::Pack(all.From(10), row, column, k, n, pool);
        ASSERT_EQ(packed.bytes(), expected.bytes());
        EXPECT_EQ(std::memcmp(packed.data(), expected.data(), static_cast<size_t>(packed.bytes())),
                  0)
            << row << " " << column;
      }
    }
  }
}

TEST(CpuGemm, AgreesWithDoublesForOddShapes) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (const Shape& shape : kShapes) {
      CheckGemm(shape, {}, pool);
      CheckGemm(shape, {.bias = true, .residual = true, .transposed = true}, pool);
    }
  });
}

TEST(CpuGemm, CoversEveryTileHeightAndWidth) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (int64_t m = 1; m <= 15; ++m) {
      for (int64_t n : {1, 15, 16, 17, 32, 33, 48, 49, 64, 65, 127, 128, 129, 161}) {
        CheckGemm({m, 9, n}, {.bias = true}, pool);
      }
    }
  });
}

TEST(CpuGemm, FusesBiasResidualAndEveryActivation) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (const ActivationKind kind : AllActivations()) {
      Options options;
      options.activation = {kind, -0.4f, 0.7f};
      for (bool bias : {false, true}) {
        for (bool residual : {false, true}) {
          options.bias = bias;
          options.residual = residual;
          CheckGemm({29, 13, 45}, options, pool);
        }
      }
    }
  });
}

TEST(CpuGemm, AgreesForTheShapesOfTransformers) {
  ForEachProductVariant([&](ThreadPool& pool) {
    if (CurrentIsa() == Isa::kPortable || CurrentIsa() == Isa::kEmulatedAmx)
      return;  // slow, and no other code than for small shapes
    CheckGemm({128, 256, 768}, {.bias = true, .activation = {ActivationKind::kGelu}}, pool);
    CheckGemm({300, 256, 256}, {.bias = true, .residual = true}, pool);
    CheckGemm({1, 2048, 512}, {.bias = true}, pool);
  });
}

TEST(CpuGemm, CutsDeepProductsWithoutAddingTheBiasTwice) {
  ForEachProductVariant([&](ThreadPool& pool) {
    CheckGemm({70, 2100, 40}, {.bias = true, .residual = true}, pool);
    CheckGemm({70, 2100, 33}, {.bias = true, .activation = {ActivationKind::kHardSwish}}, pool);
  });
}

// By rows, and by panels, which then share what they need of A.
TEST(CpuGemm, GivesTheSameBitsForEveryNumberOfThreads) {
  for (const Shape& shape : {Shape{197, 300, 330}, Shape{64, 1100, 400}}) {
    const auto [m, k, n] = shape;
    ASSERT_TRUE(PaysOnTiles(m, k, n));
    auto a = RandomFloats(m * k, 1);
    a[3 * k + 5] = INFINITY;
    const auto b = RandomFloats(k * n, 2, 0.5, 1);
    for (const Isa isa : IsasOfProducts()) {
      const ScopedIsa scope(isa);
      std::vector<float> first;
      for (int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        const PackedMatrix packed = PackedMatrix::Pack(b.data(), n, 1, k, n, pool);
        std::vector<float> c(static_cast<size_t>(m * n));
        GemmArguments arguments;
        arguments.m = m;
        arguments.a = a.data();
        arguments.a_stride = k;
        arguments.b = &packed;
        arguments.c = c.data();
        arguments.c_stride = n;
        Gemm(arguments, pool);
        if (first.empty()) first = c;
        EXPECT_EQ(c, first) << IsaName(isa) << ", " << threads;
        EXPECT_EQ(c[3 * n], INFINITY);
      }
    }
  }
}

// 2100 deep: cut along k, where C is written before the residual is read.
TEST(CpuGemm, AddsToItsOwnOutputAsTheResidual) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (int64_t k : {20, 2100}) {
      const int64_t m = 70, n = 40;
      const auto a = RandomFloats(m * k, 1), b = RandomFloats(k * n, 2),
                 before = RandomFloats(m * n, 3, -9, 9), bias = RandomFloats(n, 4, -9, 9);
      auto c = before;
      const PackedMatrix packed = PackedMatrix::Pack(b.data(), n, 1, k, n, pool);
      GemmArguments arguments;
      arguments.m = m;
      arguments.a = a.data();
      arguments.a_stride = k;
      arguments.b = &packed;
      arguments.c = c.data();
      arguments.c_stride = n;
      arguments.bias = bias.data();
      arguments.residual = c.data();
      arguments.residual_stride = n;
      Gemm(arguments, pool);
      std::vector<double> expected(c.size());
      for (int64_t i = 0; i < m * n; ++i) {
        expected[i] = static_cast<double>(before[i]) + bias[i % n];
        for (int64_t x = 0; x < k; ++x) {
          expected[i] += static_cast<double>(a[i / n * k + x]) * b[x * n + i % n];
        }
      }
      EXPECT_LT(RelativeError(c, expected), 2e-6);
    }
  });
}

struct BatchCase {
  Dims batch, a_strides, b_strides;  // batch strides in matrices
  Shape shape;
  bool transposed;
};

void CheckBatch(const BatchCase& test, ThreadPool& pool) {
  const auto [m, k, n] = test.shape;
  SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n) +
               (test.transposed ? ", transposed" : ""));
  const int64_t batches = NumElements(test.batch);
  BatchMatmulArguments arguments;
  arguments.batch = test.batch;
  arguments.m = m, arguments.n = n, arguments.k = k;
  arguments.b_transposed = test.transposed;
  int64_t a_matrices = 1, b_matrices = 1;
  const Dims c_strides = RowMajorStrides(test.batch);
  for (int i = 0; i < test.batch.size(); ++i) {
    a_matrices += (test.batch[i] - 1) * test.a_strides[i];
    b_matrices += (test.batch[i] - 1) * test.b_strides[i];
    arguments.a_batch_strides.push_back(test.a_strides[i] * m * k);
    arguments.b_batch_strides.push_back(test.b_strides[i] * n * k);
    arguments.c_batch_strides.push_back(c_strides[i] * m * n);
  }
  if (batches == 0) a_matrices = b_matrices = 0;
  const auto a = RandomFloats(a_matrices * m * k, 1), b = RandomFloats(b_matrices * k * n, 2);
  std::vector<float> c(static_cast<size_t>(batches * m * n));
  arguments.a = a.data();
  arguments.a_stride = k;
  arguments.b = b.data();
  arguments.b_stride = test.transposed ? k : n;
  arguments.c = c.data();
  arguments.c_stride = n;
  const int64_t bytes = BatchMatmulScratchBytes(arguments, pool.num_threads());
  std::vector<float> scratch(static_cast<size_t>(bytes / 4 + 32));
  void* aligned = scratch.data();
  size_t space = scratch.size() * 4;
  aligned = std::align(64, static_cast<size_t>(bytes), aligned, space);
  BatchMatmul(arguments, aligned, pool);
  std::vector<double> expected(c.size());
  for (int64_t batch = 0; batch < batches; ++batch) {
    int64_t rest = batch, a_at = 0, b_at = 0;
    for (int i = test.batch.size() - 1; i >= 0; --i) {
      a_at += rest % test.batch[i] * test.a_strides[i];
      b_at += rest % test.batch[i] * test.b_strides[i];
      rest /= test.batch[i];
    }
    for (int64_t i = 0; i < m * n; ++i) {
      double sum = 0;
      for (int64_t x = 0; x < k; ++x) {
        const int64_t at = test.transposed ? i % n * k + x : x * n + i % n;
        sum += static_cast<double>(a[a_at * m * k + i / n * k + x]) * b[b_at * n * k + at];
      }
      expected[batch * m * n + i] = sum;
    }
  }
  EXPECT_LT(RelativeError(c, expected), 2 * kTolerance);
}

// Packed, in place, one batch per task and all threads on one.
TEST(BigCpuBatchMatmul, AgreesWithDoublesWhereTilesPay) {
  ForEachProductVariant([&](ThreadPool& pool) {
    for (const Shape& shape : {Shape{128, 256, 512}, Shape{160, 256, 500}}) {
      ASSERT_TRUE(PaysOnTiles(shape.m, shape.k, shape.n));
      for (bool transposed : {false, true}) {
        CheckBatch({{}, {}, {}, shape, transposed}, pool);
        CheckBatch({{3}, {1}, {1}, shape, transposed}, pool);
      }
    }
  });
}

TEST(CpuBatchMatmul, AgreesWithDoublesForBroadcastAndTransposedOperands) {
  const Shape shapes[] = {{1, 33, 48}, {7, 13, 17}, {33, 64, 64}, {40, 7, 100}, {5, 64, 197}};
  ForEachProductVariant([&](ThreadPool& pool) {
    for (const Shape& shape : shapes) {
      for (bool transposed : {false, true}) {
        CheckBatch({{}, {}, {}, shape, transposed}, pool);
        CheckBatch({{5}, {1}, {1}, shape, transposed}, pool);
        CheckBatch({{5}, {1}, {0}, shape, transposed}, pool);
        CheckBatch({{5}, {0}, {1}, shape, transposed}, pool);
        CheckBatch({{3, 2}, {2, 1}, {0, 1}, shape, transposed}, pool);
        CheckBatch({{3, 2}, {2, 1}, {1, 0}, shape, transposed}, pool);
        CheckBatch({{0}, {1}, {1}, shape, transposed}, pool);
      }
    }
  });
}

}  // namespace
}  // namespace weft::kernels::simd
