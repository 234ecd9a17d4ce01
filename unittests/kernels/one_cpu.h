// Keeps the calling thread, and what it starts, on one CPU for as long as it lives.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>

namespace weft {

class OneCpu {
 public:
  OneCpu() {
    EXPECT_EQ(sched_getaffinity(0, sizeof(before_), &before_), 0);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  }
  ~OneCpu() { EXPECT_EQ(sched_setaffinity(0, sizeof(before_), &before_), 0); }
  OneCpu(const OneCpu&) = delete;
  OneCpu& operator=(const OneCpu&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace weft
