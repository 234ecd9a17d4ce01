#include "kernels/native/simd/amx_gemm.h"

#if defined(__linux__)
#include <signal.h>
#include <sys/time.h>
#endif

#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/native/simd/gemm.h"
#include "unittests/kernels/native/simd/simd_test_util.h"

namespace weft::kernels::simd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kMax = std::numeric_limits<float>::max();

// The instruction sets with tiles that run here.
std::vector<Isa> TileIsas() {
  std::vector<Isa> isas = {Isa::kEmulatedAmx};
  if (FindIsa("amx")) isas.push_back(Isa::kAmx);
  return isas;
}

// With every precision.
std::vector<ComputeMode> TileModes() {
  std::vector<ComputeMode> modes;
  for (const Isa isa : TileIsas())
    for (const MatmulPrecision precision : kMatmulPrecisions) modes.push_back({isa, precision});
  return modes;
}

std::string NameOf(const ComputeMode& mode) {
  return std::string(IsaName(mode.isa)) + ", " + std::string(MatmulPrecisionName(mode.precision));
}

std::vector<float> NormalFloats(int64_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution;
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = distribution(engine);
  return values;
}

struct Shape {
  int64_t m, k, n;
};

// A product of A (rows `gap` floats further apart than needed) and B, and what it adds to.
struct Operands {
  explicit Operands(const Shape& size, int64_t a_gap = 3)
      : s(size),
        gap(a_gap),
        a(NormalFloats(s.m * (s.k + gap), 1)),
        b(NormalFloats(s.k * s.n, 2)),
        c(NormalFloats(s.m * (s.n + gap), 3)) {}

  std::vector<float> Run(bool on_tiles, bool accumulate = false) const {
    ThreadPool pool(1);
    const PackedMatrix packed = PackedMatrix::Pack(b.data(), s.n, 1, s.k, s.n, pool);
    std::vector<float> result = c;
    Block block;
    block.tile.a = a.data();
    block.tile.a_stride = s.k + gap;
    block.tile.depth = s.k;
    block.tile.c = result.data();
    block.tile.c_stride = s.n + gap;
    block.tile.accumulate = accumulate;
    block.b = Panels::Packed(packed.data(), s.k, s.n);
    const Isa isa = CurrentIsa();
    if (on_tiles) {
      RunBlockOnTiles(*TermTilesFor(ComputeMode()), TilesFor(isa), block, s.m, 0, s.n);
    } else {
      RunBlockOnVectors(TilesFor(isa), block, s.m, 0, s.n);
    }
    return result;
  }

  // The largest error, in units of 2^-24 of sum |a||b| (+ |c|).
  double ErrorOf(const std::vector<float>& result, bool accumulate) const {
    double worst = 0;
    for (int64_t i = 0; i < s.m; ++i) {
      for (int64_t j = 0; j < s.n; ++j) {
        const double before = accumulate ? c[i * (s.n + gap) + j] : 0;
        double sum = before, sizes = std::fabs(before);
        for (int64_t k = 0; k < s.k; ++k) {
          const double product = static_cast<double>(a[i * (s.k + gap) + k]) * b[k * s.n + j];
          sum += product;
          sizes += std::fabs(product);
        }
        const double error = std::fabs(result[i * (s.n + gap) + j] - sum);
        worst = std::fmax(worst, std::ldexp(error / sizes, 24));
      }
      for (int64_t j = s.n; j < s.n + gap; ++j)
        EXPECT_EQ(result[i * (s.n + gap) + j], c[i * (s.n + gap) + j]) << i << ", " << j;
    }
    return worst;
  }

  Shape s;
  int64_t gap;
  std::vector<float> a, b, c;
};

void CheckSizes(Isa isa, const Shape& shape) {
  const ScopedIsa scope(isa);
  const Operands x(shape);
  for (const bool accumulate : {false, true}) {
    // Seen: 4.7 for the smallest depths, 2 from 64 on; a chain in f32 reaches 3.5 (amx_gemm.h).
    EXPECT_LT(x.ErrorOf(x.Run(true, accumulate), accumulate), 6)
        << IsaName(isa) << ", " << shape.m << " x " << shape.k << " x " << shape.n
        << (accumulate ? ", added to C" : "");
  }
}

TEST(AmxGemm, IsAsAccurateAsAChainInF32AtAllSizes) {
  const std::vector<int64_t> depths = {1, 2, 3, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 70};
  const std::vector<int64_t> columns = {1, 15, 16, 17, 31, 32, 33, 47, 48, 49, 64, 65, 70};
  for (const Isa isa : TileIsas()) {
    // In plain code every height with every width and every depth, but not with both.
    const size_t step = isa == Isa::kAmx ? 1 : depths.size();
    for (int64_t m = 1; m <= 70; ++m) {
      for (size_t n = 0; n < columns.size(); ++n) {
        for (size_t k = (static_cast<size_t>(m) + n) % step; k < depths.size(); k += step)
          CheckSizes(isa, {m, depths[k], columns[n]});
      }
    }
  }
}

// In units of 2^-24. What is left out of a product is at most 3 * 2^-16 of it (two factors rounded to 16
// bits, and middle middle), 2^-7 with factors of 8 bits; a sum of many has a part of that.
void CheckPrecision(Isa isa, const Shape& shape) {
  const Operands x(shape);
  for (const bool accumulate : {false, true}) {
    double errors[kMatmulPrecisions.size()];
    for (size_t i = 0; i < kMatmulPrecisions.size(); ++i) {
      const ScopedComputeMode scope({isa, kMatmulPrecisions[i]});
      errors[i] = x.ErrorOf(x.Run(true, accumulate), accumulate);
    }
    SCOPED_TRACE(std::to_string(shape.m) + " x " + std::to_string(shape.k) + " x " +
                 std::to_string(shape.n));
    EXPECT_LT(errors[1], 3 * 256 + 6);
    EXPECT_LT(errors[2], 2 * 65536 + 600);
    if (shape.m * shape.n < 1000) continue;
    EXPECT_LT(errors[0], errors[1]);
    EXPECT_LT(16 * errors[1], errors[2]);
  }
}

TEST(AmxGemm, IsAsPreciseAsItsTermsAtAllSizes) {
  const std::vector<int64_t> depths = {1, 2, 31, 32, 33, 65, 70}, columns = {1, 16, 17, 33, 64, 70};
  for (const Isa isa : TileIsas()) {
    for (int64_t m = 1; m <= 70; m += 3) {
      for (size_t n = 0; n < columns.size(); ++n)
        CheckPrecision(isa, {m, depths[(static_cast<size_t>(m) + n) % depths.size()], columns[n]});
    }
    CheckPrecision(isa, {40, 1025, 70});
    CheckPrecision(isa, {70, 2100, 33});
  }
}

TEST(AmxGemm, RoundsFactorsToNearest) {
  // 1 + 2^-8 is between 1 and 1 + 2^-7, and goes away from zero; what is less goes down.
  for (const Isa isa : TileIsas()) {
    const ScopedComputeMode scope({isa, MatmulPrecision::kBf16});
    Operands x({32, 1, 32});
    std::fill(x.b.begin(), x.b.end(), 1.0f);
    for (const float sign : {1.0f, -1.0f}) {
      std::fill(x.a.begin(), x.a.end(), sign * (1 + 0x1p-8f));
      EXPECT_EQ(x.Run(true)[0], sign * (1 + 0x1p-7f));
      std::fill(x.a.begin(), x.a.end(), sign * (1 + 0x1.fp-9f));
      EXPECT_EQ(x.Run(true)[0], sign);
    }
  }
}

TEST(AmxGemm, CarriesSumsFromPartToPartOfTheDepth) {
  for (const Isa isa : TileIsas()) {
    CheckSizes(isa, {40, 1025, 70});
    CheckSizes(isa, {70, 2100, 33});
    if (isa == Isa::kAmx) {
      CheckSizes(isa, {100, 3072, 100});
      CheckSizes(isa, {190, 1100, 1100});  // groups of rows and of panels
    }
  }
}

TEST(AmxGemm, GivesTheBitsOfTheEmulation) {
  if (!FindIsa("amx")) GTEST_SKIP() << "no AMX";
  for (const Shape& shape : {Shape{70, 70, 70}, Shape{33, 1500, 40}}) {
    const Operands x(shape);
    std::vector<std::vector<float>> results;
    for (const ComputeMode& mode : TileModes()) {
      const ScopedComputeMode scope(mode);
      results.push_back(x.Run(true));
    }
    for (size_t i = 0; i < kMatmulPrecisions.size(); ++i)
      EXPECT_EQ(results[i], results[kMatmulPrecisions.size() + i]);
  }
}

// As the f32 kernel has them; where that has numbers, numbers of which the precision allows.
void CheckLikeVectors(const Operands& x, bool accumulate) {
  constexpr double kRelative[] = {1e-6, 0x1p-16, 0x1p-8};
  const double relative = kRelative[static_cast<size_t>(CurrentMatmulPrecision())];
  const double absolute = 300 * relative;  // of sums of up to 1100 products
  const std::vector<float> with = x.Run(true, accumulate), without = x.Run(false, accumulate);
  for (size_t i = 0; i < with.size(); ++i) {
    if (std::isnan(without[i])) {
      ASSERT_TRUE(std::isnan(with[i])) << i;
    } else if (std::isinf(without[i])) {
      ASSERT_EQ(with[i], without[i]) << i;
    } else {
      ASSERT_NEAR(with[i], without[i], absolute + relative * std::fabs(without[i])) << i;
    }
  }
}

TEST(AmxGemm, ComputesRowsThatAreNotFiniteAsWithoutTiles) {
  for (const ComputeMode& mode : TileModes()) {
    const ScopedComputeMode scope(mode);
    for (const bool accumulate : {false, true}) {
      for (const int64_t depth : {20, 70, 1100}) {
        const Shape shape = {45, depth, 50};
        for (const float value : {kInfinity, -kInfinity, kNan, -kNan, kMax, -kMax, 3.399e38f}) {
          SCOPED_TRACE(NameOf(mode) + ", " + std::to_string(value) + ", depth " +
                       std::to_string(depth) + (accumulate ? ", added to C" : ""));
          Operands in_a(shape), in_b(shape), in_both(shape), in_last(shape);
          in_a.a[20 * (depth + 3) + 7] = value;
          in_b.b[11 * 50 + 40] = value;
          in_both.a[3 * (depth + 3) + 19] = value;
          in_both.b[19 * 50 + 2] = 0;
          in_last.a[44 * (depth + 3) + depth - 1] = value;
          for (const Operands* x : {&in_a, &in_b, &in_both, &in_last})
            CheckLikeVectors(*x, accumulate);
        }
      }
    }
  }
}

// NaNs whose payload has all bits set turn into zeros when they are rounded to a bf16.
TEST(AmxGemm, LosesNoNan) {
  for (const ComputeMode& mode : TileModes()) {
    const ScopedComputeMode scope(mode);
    SCOPED_TRACE(NameOf(mode));
    for (const uint32_t bits : {0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xff80ffffu, 0x7fff8000u}) {
      Operands x({32, 32, 32});
      std::memcpy(&x.a[5 * 35 + 5], &bits, sizeof(bits));
      const std::vector<float> result = x.Run(true);
      for (int64_t j = 0; j < 32; ++j) EXPECT_TRUE(std::isnan(result[5 * 35 + j])) << bits;
      for (int64_t j = 0; j < 32; ++j) EXPECT_FALSE(std::isnan(result[6 * 35 + j])) << bits;
    }
  }
}

TEST(AmxGemm, OverflowsWhereAChainOverflows) {
  for (const Isa isa : TileIsas()) {
    const ScopedIsa scope(isa);
    Operands x({32, 64, 32});
    for (int64_t k = 0; k < 64; ++k) {
      x.a[k] = 1.5e19f;  // row 0: the sum overflows
      // Row 1: it does not, but that of every second product does, which is how tiles sum.
      x.a[67 + k] = k % 2 == 0 ? 1e19f : -1e19f;
      for (int64_t j = 0; j < 32; ++j) x.b[k * 32 + j] = 1e19f;
    }
    const std::vector<float> result = x.Run(true), chains = x.Run(false);
    for (int64_t j = 0; j < 32; ++j) {
      EXPECT_EQ(result[j], std::numeric_limits<float>::infinity());
      EXPECT_EQ(result[35 + j], chains[35 + j]);
      EXPECT_LT(std::fabs(result[35 + j]), 1e32f);
    }
  }
}

TEST(AmxGemm, LosesDenormalsByNoMoreThanIsSaid) {
  for (const Isa isa : TileIsas()) {
    const ScopedIsa scope(isa);
    for (const float small : {1e-45f, 1e-40f, 1e-38f, 1.2345678e-33f, 1e-30f}) {
      for (const float large : {1.0f, 1e20f, 1e38f}) {
        Operands x({32, 1, 32});
        std::fill(x.a.begin(), x.a.end(), small);
        std::fill(x.b.begin(), x.b.end(), large);
        const double exact = static_cast<double>(small) * large;
        const double bound = 3 * std::ldexp(1.0, -126) * std::fmax(large, 1.0f) + 1e-7 * exact;
        EXPECT_LE(std::fabs(x.Run(true)[0] - exact), bound) << small << " * " << large;
      }
    }
  }
}

// Activations of sums in registers, and one of what is stored.
class AmxGemmActivation : public testing::TestWithParam<ActivationKind> {};

TEST_P(AmxGemmActivation, IsAppliedToWhatIsRecomputedWithBiasAndOutputAsResidual) {
  for (const Isa isa : TileIsas()) {
    for (const int threads : {1, 2}) {
      const int64_t m = 130, n = 128, k = 1200;
      ASSERT_TRUE(PaysOnTiles(m, k, n));
      const auto a = RandomFloats(m * k, 1), bias = RandomFloats(n, 3),
                 before = RandomFloats(m * n, 4);
      auto b = RandomFloats(k * n, 2);
      b[500 * n + 33] = kInfinity;
      std::vector<float> results[2];
      for (const bool on_tiles : {false, true}) {
        const ScopedIsa scope(on_tiles ? isa : isa == Isa::kAmx ? Isa::kAvx512 : Isa::kPortable);
        ThreadPool pool(threads);
        const PackedMatrix packed = PackedMatrix::Pack(b.data(), n, 1, k, n, pool);
        std::vector<float>& c = results[on_tiles ? 1 : 0];
        c = before;
        GemmArguments g;
        g.m = m;
        g.a = a.data();
        g.a_stride = k;
        g.b = &packed;
        g.c = c.data();
        g.residual = c.data();
        g.c_stride = g.residual_stride = n;
        g.bias = bias.data();
        g.activation = {GetParam(), -0.5f, 2};
        Gemm(g, pool);
      }
      for (int64_t i = 0; i < m * n; ++i) {
        // The panel with the infinity is the f32 kernel's.
        const bool same = i % n >= 32 && i % n < 64;
        if (std::isnan(results[0][i])) {
          EXPECT_TRUE(std::isnan(results[1][i])) << i;
        } else if (same) {
          EXPECT_EQ(results[1][i], results[0][i]) << i;
        } else {
          EXPECT_NEAR(results[1][i], results[0][i], 1e-4) << i;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, AmxGemmActivation,
                         testing::Values(ActivationKind::kClip, ActivationKind::kRelu,
                                         ActivationKind::kHardSwish, ActivationKind::kGelu));

#if defined(__x86_64__) && defined(__linux__)

TEST(AmxGemm, ReleasesTheTiles) {
  if (!FindIsa("amx")) GTEST_SKIP() << "no AMX";
  const ScopedIsa scope(Isa::kAmx);
  Operands({40, 40, 40}).Run(true);
  alignas(64) unsigned char configuration[64] = {1};
  asm volatile("sttilecfg %0" : "=m"(configuration));
  EXPECT_EQ(configuration[0], 0);  // the palette of tiles that are not configured
}

volatile sig_atomic_t signals = 0;
void CountSignal(int) { signals = signals + 1; }

TEST(AmxGemm, KeepsItsSumsAcrossSignalsAndThreads) {
  if (!FindIsa("amx")) GTEST_SKIP() << "no AMX";
  const ScopedIsa scope(Isa::kAmx);
  const Operands x({128, 256, 256});
  const std::vector<float> expected = x.Run(true);
  struct sigaction action = {}, before = {};
  action.sa_handler = CountSignal;
  action.sa_flags = SA_RESTART;
  ASSERT_EQ(sigaction(SIGALRM, &action, &before), 0);
  const itimerval every = {{0, 200}, {0, 200}}, never = {};
  ASSERT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
  ThreadPool pool(3);
  std::vector<int> wrong(64, 0);
  pool.ParallelFor(64, 1, [&](int64_t i, int64_t) { wrong[i] = x.Run(true) != expected; });
  setitimer(ITIMER_REAL, &never, nullptr);
  sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(wrong, std::vector<int>(64, 0));
  EXPECT_GT(signals, 0);
}

#endif

}  // namespace
}  // namespace weft::kernels::simd
