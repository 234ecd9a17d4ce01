#include "ir/base/thread_time.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace weft::ir {
namespace {

TEST(ThreadTime, PassesOnlyWhileTheThreadWorks) {
  const double start = ThreadSeconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(ThreadSeconds() - start, 0.1);
  const double end = ThreadSeconds() + 0.02;
  while (ThreadSeconds() < end) {
  }
  EXPECT_GE(ThreadSeconds() - start, 0.02);
}

}  // namespace
}  // namespace weft::ir
