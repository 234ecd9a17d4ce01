// The committed corpus of every fuzz target, in a usual build: whatever was found once stays found.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "unittests/fuzz/targets.h"
#include "unittests/test_paths.h"

namespace weft::fuzz {
namespace {

namespace fs = std::filesystem;

class FuzzCorpus : public testing::TestWithParam<FuzzTarget> {
 protected:
  static std::vector<fs::path> Files() {
    std::vector<fs::path> files;
    const std::string folder = fixtures::TestData("/fuzz/corpus/") + std::string(GetParam().name);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }
};

// A target aborts where something is wrong: then the last line names the file.
TEST_P(FuzzCorpus, HoldsNothingThatFails) {
  const std::vector<fs::path> files = Files();
  EXPECT_GE(files.size(), 10u);
  for (const fs::path& path : files) {
    std::fprintf(stderr, "%s\n", path.c_str());
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
    GetParam().run({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, FuzzCorpus,
                         testing::ValuesIn(FuzzTargets().begin(), FuzzTargets().end()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FuzzCorpusSize, IsAtMostTwoMegabytes) {
  uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fixtures::TestData("/fuzz/corpus")))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_GT(bytes, 10000u);
  EXPECT_LE(bytes, 2u << 20);
}

}  // namespace
}  // namespace weft::fuzz
