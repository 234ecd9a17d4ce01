#include "kernels/runtime/memory_plan.h"

#include <gtest/gtest.h>

#include <random>

#include "kernels/tensor.h"

namespace weft::kernels {
namespace {

void ExpectDisjoint(const std::vector<BufferLifetime>& buffers, const MemoryPlan& plan) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    EXPECT_EQ(plan.offsets[i] % kAlignment, 0u);
    EXPECT_LE(plan.offsets[i] + buffers[i].bytes, plan.bytes);
    for (size_t j = 0; j < i; ++j) {
      const BufferLifetime &a = buffers[i], &b = buffers[j];
      const bool together = a.first <= b.last && b.first <= a.last;
      const bool overlap = plan.offsets[i] < plan.offsets[j] + b.bytes &&
                           plan.offsets[j] < plan.offsets[i] + a.bytes;
      EXPECT_FALSE(together && overlap) << "buffers " << i << " and " << j;
    }
  }
}

TEST(PlanMemory, ReusesTheMemoryOfABufferThatIsDead) {
  const std::vector<BufferLifetime> chain = {{640, 0, 1}, {640, 1, 2}, {640, 2, 3}, {640, 3, 4}};
  const MemoryPlan plan = PlanMemory(chain);
  ExpectDisjoint(chain, plan);
  EXPECT_EQ(plan.bytes, 2 * 640u);
}

TEST(PlanMemory, FillsTheSmallestGapThatFits) {
  // Three that live forever leave gaps of 1024 and 256 while 2 is dead.
  const std::vector<BufferLifetime> buffers = {
      {4096, 0, 9}, {1024, 0, 1}, {2048, 0, 9}, {256, 0, 1}, {192, 5, 6}};
  const MemoryPlan plan = PlanMemory(buffers);
  ExpectDisjoint(buffers, plan);
  EXPECT_EQ(plan.bytes, 4096 + 2048 + 1024 + 256u);
}

TEST(PlanMemory, NeverOverlapsWhatLivesTogether) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<BufferLifetime> buffers;
    for (int i = 0; i < 60; ++i) {
      const int first = static_cast<int>(random() % 40);
      buffers.push_back({random() % 3000, first, first + static_cast<int>(random() % 10)});
    }
    ExpectDisjoint(buffers, PlanMemory(buffers));
  }
}

TEST(PlanMemory, TakesNoBuffers) { EXPECT_EQ(PlanMemory({}).bytes, 0u); }

}  // namespace
}  // namespace weft::kernels
