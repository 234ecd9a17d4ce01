#include "kernels/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <memory>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/workers.h"
#include "unittests/sanitizers.h"

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

TEST(ThreadPool, GivesItsThreadsToTheLoopOfTheOnlyCaller) {
  ThreadPool pool(2);
  ASSERT_EQ(pool.num_threads(), 2);
  const ThreadPool::Caller caller(pool);
  std::latch both(2);  // it would wait for ever if one thread ran one body after the other
  pool.ParallelFor(2, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });
}

TEST(ThreadPool, RunsALoopOnItsOwnThreadWhileAnotherHasThePool) {
  ThreadPool pool(2);
  ASSERT_EQ(pool.num_threads(), 2);
  std::latch started(1), done(1);
  std::thread other([&] {
    pool.ParallelFor(2, 1, [&](int64_t begin, int64_t) {
      if (begin == 0) started.count_down();
      done.wait();
    });
  });
  started.wait();
  std::atomic<int> calls = 0;
  pool.ParallelForSlots(8, 1, [&, self = std::this_thread::get_id()](int slot, int64_t, int64_t) {
    EXPECT_EQ(slot, 0);
    EXPECT_EQ(std::this_thread::get_id(), self);
    ++calls;
  });
  EXPECT_EQ(calls, 8);
  EXPECT_EQ(ThreadPool::Helpers(pool).handle(), nullptr);
  done.count_down();
  other.join();
  EXPECT_NE(ThreadPool::Helpers(pool).handle(), nullptr);
}

TEST(ThreadPool, LeavesLoopsToTheirCallersWhereThoseTakeAllThreads) {
  ThreadPool pool(2);
  const ThreadPool::Caller one(pool);
  {
    const ThreadPool::Caller two(pool);
    EXPECT_EQ(ThreadPool::Helpers(pool).handle(), nullptr);
    pool.ParallelFor(8, 1, [self = std::this_thread::get_id()](int64_t, int64_t) {
      EXPECT_EQ(std::this_thread::get_id(), self);
    });
  }
  EXPECT_NE(ThreadPool::Helpers(pool).handle(), nullptr);
}

TEST(ThreadPool, OffersNoHandleForASingleThread) {
  ThreadPool one(1), two(2);
  EXPECT_EQ(one.handle(), nullptr);
  EXPECT_EQ(one.num_threads(), 1);
  EXPECT_NE(two.handle(), nullptr);
  EXPECT_EQ(two.num_threads(), 2);
}

// Runs loops of all kinds, one right after the other, and checks that each calls its body for every index.
void RunShortLoops(ThreadPool& pool, int loops) {
  for (int i = 0; i < loops; ++i) {
    const int64_t count = i % 97, tile = 1 + i % 5;
    std::atomic<int64_t> calls = 0, sum = 0;
    pool.ParallelFor(count, tile, [&](int64_t begin, int64_t end) {
      calls += end - begin;
      for (int64_t j = begin; j < end; ++j) sum += j;
    });
    ASSERT_EQ(calls, count);
    ASSERT_EQ(sum, count * (count - 1) / 2);
  }
}

TEST(ThreadPool, RunsShortLoopsOneRightAfterTheOther) {
  const int loops = kSanitized ? 3000 : 30000;
  for (int threads : {2, 3, 8}) {
    ThreadPool pool(threads);
    RunShortLoops(pool, loops);
  }
}

TEST(ThreadPool, RunsShortLoopsOfSeveralCallers) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) callers.emplace_back([&] { RunShortLoops(pool, 3000); });
  for (std::thread& caller : callers) caller.join();
}

TEST(ThreadPool, WakesThreadsThatSleep) {
  ThreadPool pool(2);
  ASSERT_EQ(pool.num_threads(), 2);
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::latch both(2);
    pool.ParallelFor(2, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });
  }
}

TEST(ThreadPool, RunsLoopsOnItsHandleToo) {
  ThreadPool pool(2);
  ASSERT_NE(pool.handle(), nullptr);
  EXPECT_EQ(pool.handle(), pool.handle());
  std::latch both(2);
  pool.ParallelFor(2, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });
  RunShortLoops(pool, 1000);
}

TEST(ThreadPool, IsAskedForItsHandleWhileLoopsRun) {
  for (int i = 0; i < 20; ++i) {
    ThreadPool pool(2);
    std::thread other([&] { RunShortLoops(pool, 500); });
    std::this_thread::sleep_for(std::chrono::microseconds(50 * i));
    EXPECT_NE(pool.handle(), nullptr);
    RunShortLoops(pool, 100);
    other.join();
  }
}

TEST(ThreadPool, ThrowsWhatABodyThrewOnWhateverThread) {
  for (const bool of_xnnpack : {false, true}) {
    ThreadPool pool(2);
    ASSERT_EQ(pool.num_threads(), 2);
    if (of_xnnpack) ASSERT_NE(pool.handle(), nullptr);
    for (const std::set<int>& throwing : {std::set{0}, std::set{1}, std::set{0, 1}}) {
      std::latch both(2);
      const auto body = [&](int slot, int64_t, int64_t) {
        both.arrive_and_wait();
        if (throwing.count(slot) > 0) throw std::bad_alloc();
      };
      EXPECT_THROW(pool.ParallelForSlots(2, 1, body), std::bad_alloc);
      RunShortLoops(pool, 100);
    }
  }
}

// What a process that was forked does with a pool of its parent's; 0 when all is well.
int UseInChild(std::unique_ptr<ThreadPool> pool) {
  alarm(60);  // it hangs
  RunShortLoops(*pool, 100);
  pool->handle();
  pool.reset();
  ThreadPool own(2);
  RunShortLoops(own, 100);
  return testing::Test::HasFailure() ? 1 : 0;
}

TEST(ThreadPool, RunsLoopsOnTheirCallerInAForkedProcess) {
  for (const bool of_xnnpack : {false, true}) {
    for (const bool sleeps : {false, true}) {
      auto pool = std::make_unique<ThreadPool>(2);
      if (of_xnnpack) ASSERT_NE(pool->handle(), nullptr);
      RunShortLoops(*pool, 10);
      if (sleeps) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      const pid_t child = fork();
      ASSERT_GE(child, 0);
      if (child == 0) _exit(UseInChild(std::move(pool)));
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
      RunShortLoops(*pool, 10);
    }
  }
}

TEST(Shares, AreFullAgainAfterAsManyLoopsAsTheyTellApart) {
  Shares shares(2);
  std::atomic<int> calls = 0;
  Loop loop;
  loop.count = 7;
  loop.num_shares = 2;
  loop.context = &calls;
  loop.function = [](const void* context, int, int64_t, int64_t) {
    ++*static_cast<std::atomic<int>*>(const_cast<void*>(context));
  };
  const int64_t loops = (int64_t{1} << 24) + 10;
  for (int64_t i = 0; i < loops; ++i) {
    shares.Assign(&loop);
    if (i >= 20 && i < loops - 20) continue;
    calls = 0;
    loop.RunSlot(1);
    ASSERT_EQ(calls, 7) << i;
  }
}

// Exits with 0 when a pool of fewer threads than asked for did its work.
[[noreturn]] void RunWithLimitedMemory() {
  const rlimit limit = {size_t{64} << 20, RLIM_INFINITY};  // a stack takes 8 MiB
  setrlimit(RLIMIT_DATA, &limit);
  ThreadPool pool(64);
  std::atomic<int64_t> sum = 0;
  pool.ParallelFor(1000, 1, [&](int64_t begin, int64_t) { sum += begin; });
  std::exit(sum == 499500 && pool.num_threads() < 64 ? 0 : 1);
}

// An emulator may ignore limits.
bool CanLimitMemory() {
  rlimit before{}, after{};
  getrlimit(RLIMIT_DATA, &before);
  const rlimit large = {std::min(before.rlim_max, rlim_t{1} << 46), before.rlim_max};
  setrlimit(RLIMIT_DATA, &large);
  getrlimit(RLIMIT_DATA, &after);
  setrlimit(RLIMIT_DATA, &before);
  return after.rlim_cur == large.rlim_cur;
}

TEST(ThreadPool, TakesAsManyThreadsAsCanBeStarted) {
  if (kSanitized || !CanLimitMemory()) GTEST_SKIP();
  EXPECT_EXIT(RunWithLimitedMemory(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace weft::kernels
