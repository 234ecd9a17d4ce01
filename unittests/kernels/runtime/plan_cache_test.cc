#include "kernels/runtime/plan_cache.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "ir/dialects/onnx.h"
#include "kernels/thread_pool.h"
#include "unittests/kernels/run_op.h"

namespace weft::kernels {
namespace {

class PlanCacheTest : public testing::Test {
 protected:
  PlanCacheTest() { ir::LoadOnnxDialect(context); }

  ir::Type TypeOf(int64_t size) { return context.TensorType(DataType::kF32, {size}); }
  // With `takes_memory`, as much as the input.
  PreparedProgram* Add(int64_t size, bool takes_memory = false) {
    auto program = std::make_unique<ir::Program>(&context);
    ir::Builder b(program.get());
    ir::Value y = b.Make<ir::ops::Relu>({b.AddInput("x", TypeOf(size))});
    if (takes_memory) y = b.Make<ir::ops::ReduceMax>({y});
    b.Return({{"y", y}});
    auto added = cache.Add(std::move(program),
                           {.providers = {"reference"}, .pool = &pool, .packed = &packed});
    EXPECT_TRUE(added.ok()) << added.status();
    return added.ok() ? *added : nullptr;
  }
  PreparedProgram* Find(int64_t size) {
    return cache.Find(1, [&](size_t, ir::Type type) { return type == TypeOf(size); });
  }

  ir::IrContext context;
  ThreadPool pool{1};
  PackedWeights packed;
  PlanCache cache{2};
};

TEST_F(PlanCacheTest, DropsTheOneThatWasUsedLeastRecently) {
  PreparedProgram* const one = Add(1);
  EXPECT_EQ(Find(2), nullptr);
  PreparedProgram* const two = Add(2);
  EXPECT_EQ(Find(1), one);
  Add(3);
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(Find(1), one);
  EXPECT_EQ(Find(2), nullptr) << two;
  EXPECT_NE(Find(3), nullptr);
}

TEST_F(PlanCacheTest, KeepsMoreWhileTheyAreSmall) {
  cache = PlanCache(2, 64 << 10);
  for (int64_t size = 1; size <= 6; ++size) Add(size);
  EXPECT_EQ(cache.size(), 6u);
  EXPECT_NE(Find(1), nullptr);
  for (int64_t size = 7; size <= 100; ++size) Add(size);
  EXPECT_GT(cache.size(), 6u);
  EXPECT_LT(cache.size(), 20u);
  EXPECT_EQ(Find(1), nullptr);
  EXPECT_NE(Find(100), nullptr);
}

TEST_F(PlanCacheTest, KeepsTwoOfThoseThatTakeMuchMemory) {
  cache = PlanCache(4);
  constexpr int64_t kSize = PlanCache::kMostBytes / sizeof(float) * 2 / 5;
  for (int64_t i = 0; i < 4; ++i) {
    ASSERT_NE(Add(kSize + i, true), nullptr);
    EXPECT_EQ(cache.size(), static_cast<size_t>(i == 0 ? 1 : 2));
  }
  EXPECT_EQ(Find(kSize + 1), nullptr);
  EXPECT_NE(Find(kSize + 2), nullptr);
  EXPECT_NE(Find(kSize + 3), nullptr);
  for (int64_t i = 1; i <= 4; ++i) Add(i);
  EXPECT_EQ(cache.size(), 4u);
}

TEST_F(PlanCacheTest, TellsNumbersOfInputsApart) {
  Add(1);
  EXPECT_EQ(cache.Find(0, [](size_t, ir::Type) { return true; }), nullptr);
  EXPECT_EQ(cache.Find(2, [](size_t, ir::Type) { return true; }), nullptr);
  EXPECT_NE(cache.Find(1, [](size_t, ir::Type) { return true; }), nullptr);
}

}  // namespace
}  // namespace weft::kernels
