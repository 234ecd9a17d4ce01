#include "kernels/isa.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "kernels/thread_pool.h"

namespace weft::kernels {
namespace {

TEST(Isa, TheBestIsInUseUnlessAnotherIsChosen) {
  EXPECT_EQ(CurrentIsa(), SupportedIsas().back());
  SetIsa(Isa::kPortable);
  EXPECT_EQ(CurrentIsa(), Isa::kPortable);
  SetIsa(SupportedIsas().back());
}

TEST(Isa, AScopeHoldsOnItsThreadAndInTheLoopsThatItStarts) {
  const Isa best = SupportedIsas().back();
  ThreadPool pool(2), other(2);
  {
    const ScopedIsa scope(Isa::kPortable);
    std::atomic<int> portable = 0;
    pool.ParallelFor(64, 1, [&](int64_t, int64_t) { portable += CurrentIsa() == Isa::kPortable; });
    EXPECT_EQ(portable, 64);
    {
      const ScopedIsa inner(best), none(std::nullopt);
      EXPECT_EQ(CurrentIsa(), best);
    }
    EXPECT_EQ(CurrentIsa(), Isa::kPortable);
  }
  EXPECT_EQ(CurrentIsa(), best);
  std::atomic<int> at_best = 0;
  pool.ParallelFor(64, 1, [&](int64_t, int64_t) { at_best += CurrentIsa() == best; });
  EXPECT_EQ(at_best, 64);
}

TEST(Isa, APrecisionHoldsLikeAnInstructionSet) {
  ThreadPool pool(2);
  const ComputeMode before;
  EXPECT_EQ(before.precision, MatmulPrecision::kFloat32);
  {
    const ScopedComputeMode scope({Isa::kPortable, MatmulPrecision::kBf16});
    const ScopedIsa best(before.isa);  // leaves the precision as it is
    std::atomic<int> same = 0;
    pool.ParallelFor(64, 1, [&](int64_t, int64_t) {
      const ComputeMode mode;
      same += mode.isa == before.isa && mode.precision == MatmulPrecision::kBf16;
    });
    EXPECT_EQ(same, 64);
  }
  EXPECT_EQ(CurrentMatmulPrecision(), MatmulPrecision::kFloat32);
  EXPECT_EQ(CurrentIsa(), before.isa);
}

TEST(Isa, PrecisionsHaveNames) {
  for (size_t i = 0; i < kMatmulPrecisions.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kMatmulPrecisions[i]), i);  // tables are by it
    EXPECT_EQ(FindMatmulPrecision(MatmulPrecisionName(kMatmulPrecisions[i])), kMatmulPrecisions[i]);
  }
  EXPECT_EQ(FindMatmulPrecision("bf16x3"), std::nullopt);
}

TEST(Isa, NamesAreThoseOfTheMachine) {
  for (const Isa isa : SupportedIsas()) EXPECT_EQ(FindIsa(IsaName(isa)), isa);
  EXPECT_EQ(FindIsa("portable"), Isa::kPortable);
  EXPECT_EQ(FindIsa("emulated amx"), std::nullopt);
  EXPECT_EQ(FindIsa("sse9"), std::nullopt);
}

TEST(Isa, TheBestOfChainsHasNoTiles) {
  EXPECT_NE(BestChainIsa(), Isa::kAmx);
  EXPECT_TRUE(FindIsa(IsaName(BestChainIsa())));
}

}  // namespace
}  // namespace weft::kernels
