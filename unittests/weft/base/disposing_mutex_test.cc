#include "weft/base/disposing_mutex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace weft {
namespace {

std::shared_ptr<void> WhenDestroyed(std::function<void()> call) {
  return {nullptr, [call = std::move(call)](void*) { call(); }};
}

TEST(DisposingMutex, DestroysWhenItIsUnlocked) {
  DisposingMutex mutex;
  std::vector<int> destroyed;
  mutex.Dispose(WhenDestroyed([&] { destroyed.push_back(1); }));
  EXPECT_EQ(destroyed, std::vector({1}));
  {
    const std::lock_guard lock(mutex);
    mutex.Dispose(WhenDestroyed([&] {
      destroyed.push_back(2);
      mutex.Dispose(WhenDestroyed([&] { destroyed.push_back(3); }));
    }));
    EXPECT_EQ(destroyed, std::vector({1}));
  }
  EXPECT_EQ(destroyed, std::vector({1, 2, 3}));
}

TEST(DisposingMutex, LetsOneThreadAtATimeInAndDestroysAllUnderIt) {
  DisposingMutex mutex;
  int inside = 0, most = 0;  // guarded by it
  std::atomic<int> destroyed = 0;
  const auto enter = [&] {
    most = std::max(most, ++inside);
    std::this_thread::yield();
    --inside;
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        mutex.Dispose(WhenDestroyed([&] {
          enter();
          ++destroyed;
        }));
        const std::lock_guard lock(mutex);
        enter();
      }
    });
  for (std::thread& thread : threads) thread.join();
  const std::lock_guard lock(mutex);
  EXPECT_EQ(most, 1);
  EXPECT_EQ(destroyed, 2000);
}

}  // namespace
}  // namespace weft
