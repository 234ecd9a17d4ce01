#include "kernels/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace weft::kernels {
namespace {

TEST(ThreadPool, CallsTheBodyOncePerIndexInRangesOfAtMostATile) {
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    for (int64_t count : {0, 1, 7, 13, 1000}) {
      for (int64_t tile : {1, 4, 13, 5000}) {
        std::vector<std::atomic<int>> calls(static_cast<size_t>(count));
        pool.ParallelFor(count, tile, [&](int64_t begin, int64_t end) {
          EXPECT_LT(begin, end);
          EXPECT_LE(end - begin, tile);
          EXPECT_EQ(begin % tile, 0);
          for (int64_t i = begin; i < end; ++i) ++calls[static_cast<size_t>(i)];
        });
        for (const auto& n : calls) EXPECT_EQ(n, 1);
      }
    }
  }
}

TEST(ThreadPool, NeverGivesOneSlotToTwoRunningBodies) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> inside(static_cast<size_t>(pool.num_threads()));
  for (int round = 0; round < 50; ++round) {
    pool.ParallelForSlots(40, 1, [&](int slot, int64_t, int64_t) {
      ASSERT_LT(slot, pool.num_threads());
      EXPECT_EQ(inside[static_cast<size_t>(slot)]++, 0);
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      --inside[static_cast<size_t>(slot)];
    });
  }
}

TEST(ThreadPool, OffersNoHandleForASingleThread) {
  ThreadPool one(1), two(2);
  EXPECT_EQ(one.handle(), nullptr);
  EXPECT_EQ(one.num_threads(), 1);
  EXPECT_NE(two.handle(), nullptr);
  EXPECT_EQ(two.num_threads(), 2);
}

}  // namespace
}  // namespace weft::kernels
