// A process that loads, fuses, runs and drops models for long holds no more memory at the end.
// WEFT_RUNS asks for more runs than the usual test makes; tools/scripts/faults does.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "unittests/endurance/models.h"
#include "unittests/sanitizers.h"

namespace weft {
namespace {

// Bytes that are allocated.
size_t Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// What the system has given us, so that maps count.
size_t Resident() {
  size_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t RunsOf(size_t by_default) {
  const char* const text = std::getenv("WEFT_RUNS");
  return text ? std::strtoul(text, nullptr, 10) : by_default;
}

constexpr size_t kWarmUp = 3;                        // caches, static tables
constexpr size_t kSlackBytes = size_t{64} << 10;     // of one record a run, 10,000 runs need more
constexpr size_t kSlackResident = size_t{16} << 20;  // the heap's holes come and go

// Calls `round` for `runs` times; nothing may stay of them.
template <class Round>
void ExpectNoGrowth(size_t runs, const Round& round) {
  for (size_t i = 0; i < kWarmUp; ++i) round();
  const size_t allocated = Allocated(), resident = Resident();
  for (size_t i = 0; i < runs; ++i) round();
  EXPECT_LE(Allocated(), allocated + kSlackBytes) << runs << " rounds";
  EXPECT_LE(Resident(), resident + kSlackResident) << runs << " rounds";
}

TEST(MemoryGrowth, RunsOfKeptSessionsLeaveNothing) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  std::vector<std::unique_ptr<LoadedModel>> models;
  for (const std::string& path : TwentyModels()) {
    auto model = LoadedModel::Load(path);
    ASSERT_TRUE(model.ok()) << path << ": " << model.status();
    models.push_back(*std::move(model));
  }
  ExpectNoGrowth(RunsOf(500), [&] {
    for (const auto& model : models) ASSERT_TRUE(model->Run().ok());
  });
}

TEST(MemoryGrowth, ModelsThatAreDroppedLeaveNothing) {
  if (kSanitized) GTEST_SKIP() << "the sanitizers' allocators keep what is freed";
  const std::vector<std::string> paths = TwentyModels();
  ExpectNoGrowth(RunsOf(200) / 20, [&] {
    for (const std::string& path : paths) {
      const auto model = LoadedModel::Load(path);
      ASSERT_TRUE(model.ok()) << path << ": " << model.status();
      ASSERT_TRUE((*model)->Run().ok());
    }
  });
}

}  // namespace
}  // namespace weft
