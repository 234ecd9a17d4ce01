#include "weft/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace weft {
namespace {

TEST(ForEachInParallel, DoesEveryPieceOfWorkOnce) {
  std::vector<std::atomic<int>> done(1000);
  ForEachInParallel(done.size(), [&](size_t i) { ++done[i]; });
  for (const auto& count : done) EXPECT_EQ(count, 1);
  ForEachInParallel(0, [](size_t) { FAIL(); });
}

TEST(ForEachInParallel, ThrowsWhatAPieceOfWorkThrows) {
  EXPECT_THROW(ForEachInParallel(100,
                                 [](size_t i) {
                                   if (i == 50) throw std::out_of_range("50");
                                 }),
               std::out_of_range);
}

}  // namespace
}  // namespace weft
