// Sessions in several threads at once. The preset tsan builds this with ThreadSanitizer, which finds
// shared state that is not guarded: static tables made at first use, caches, reference counts.
#include <gtest/gtest.h>

#include <thread>

#include "unittests/endurance/models.h"
#include "unittests/test_paths.h"

namespace weft {
namespace {

constexpr size_t kThreads = 8, kRuns = 10;

// What one thread does; the first thing that goes wrong, or nothing.
std::string RunAll(const std::vector<std::string>& paths, const std::vector<Bytes>& expected,
                   size_t first) {
  for (size_t i = 0; i < paths.size(); ++i) {
    const size_t at = (first + i) % paths.size();  // threads meet in different places
    const auto model = LoadedModel::Load(paths[at]);
    if (!model.ok()) return paths[at] + ": " + std::string(ir::Message(model.status()));
    for (size_t run = 0; run < kRuns; ++run) {
      const auto bytes = (*model)->RunForBytes();
      if (!bytes.ok()) return paths[at] + ": " + std::string(ir::Message(bytes.status()));
      if (*bytes != expected[at]) return paths[at] + ": other bits than one thread computes";
    }
  }
  return "";
}

// The first use of everything, by all threads at once: nothing has been made before.
TEST(Threads, EightMayBeTheFirstToUseTheLibrary) {
  const std::string path =
      fixtures::TestData("/passes/fusion/golden/") +
      fixtures::FiringGoldenFiles(fixtures::TestData("/passes/fusion/golden")).front();
  std::vector<absl::Status> loaded(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] { loaded[t] = LoadedModel::Load(path).status(); });
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& status : loaded) EXPECT_TRUE(status.ok()) << status;
}

TEST(Threads, EightLoadFuseAndRunTwentyModelsAtOnce) {
  const std::vector<std::string> paths = TwentyModels();
  std::vector<Bytes> expected;
  for (const std::string& path : paths) {
    const auto model = LoadedModel::Load(path);
    ASSERT_TRUE(model.ok()) << path << ": " << model.status();
    const auto bytes = (*model)->RunForBytes();
    ASSERT_TRUE(bytes.ok()) << path << ": " << bytes.status();
    expected.push_back(*bytes);
  }
  std::vector<std::string> wrong(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back(
        [&, t] { wrong[t] = RunAll(paths, expected, t * paths.size() / kThreads); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::string>(kThreads));
}

}  // namespace
}  // namespace weft
