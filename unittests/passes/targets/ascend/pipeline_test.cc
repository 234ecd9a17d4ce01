// The whole pipeline `ascend` on the golden programs of each of its rewrites: it keeps the numbers
// and has nothing left to do the second time.
#include <gtest/gtest.h>

#include "ir/text/printer.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using fixtures::GoldenFile;

class AscendPipeline : public testing::TestWithParam<const char*> {
 protected:
  // Every program that the rewrite changes, with the pipeline in place of what the file runs.
  static std::vector<GoldenFile> Files(const std::string& numerics) {
    std::vector<GoldenFile> files;
    const std::string folder = fixtures::GoldenFolder(fixtures::TestData("/passes"), GetParam());
    for (const std::string& name : fixtures::GoldenFiles(folder)) {
      auto file = fixtures::ReadGoldenFile(folder + "/" + name);
      EXPECT_TRUE(file.ok()) << file.status();
      if (!file.ok() || file->near_miss) continue;
      file->rules.clear();
      file->passes = FindPipeline("ascend")->passes;
      file->numerics = numerics;
      files.push_back(*std::move(file));
    }
    EXPECT_FALSE(files.empty());
    return files;
  }
};

TEST_P(AscendPipeline, ChangesNothingTheSecondTime) {
  for (const GoldenFile& file : Files("approximate")) {
    ir::IrContext context;
    const auto program = fixtures::ParseGoldenProgram(file, context);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_TRUE(fixtures::FillElidedConstants(**program, 1).ok());
    ASSERT_TRUE(fixtures::RunGoldenPasses(file, **program, nullptr).ok()) << file.path;
    const std::string once = ir::PrintProgram(**program);
    ASSERT_TRUE(fixtures::RunGoldenPasses(file, **program, nullptr).ok()) << file.path;
    EXPECT_EQ(ir::PrintProgram(**program), once) << file.path;
  }
}

TEST_P(AscendPipeline, KeepsNumbers) {
  for (const GoldenFile& file : Files("reassociates")) {
    if (!file.numeric.empty()) continue;
    ir::IrContext context;
    const auto before = fixtures::ParseGoldenProgram(file, context);
    ASSERT_TRUE(before.ok()) << before.status();
    ASSERT_TRUE(fixtures::FillElidedConstants(**before, 1).ok());
    const std::unique_ptr<ir::Program> after = (*before)->Clone();
    ASSERT_TRUE(fixtures::RunGoldenPasses(file, *after, nullptr).ok()) << file.path;
    EXPECT_TRUE(fixtures::SameNumbers(**before, *after, {.seeds = 5})) << file.path;
  }
}

INSTANTIATE_TEST_SUITE_P(Rewrites, AscendPipeline,
                         testing::Values("split-average-pool", "fold-batch-norm-through-transposes",
                                         "conv1d-to-conv2d", "drop-empty-operand",
                                         "gather-to-split", "merge-casts", "merge-concats",
                                         "merge-slices", "split-large-kernel-conv",
                                         "split-qkv-matmul", "lower-topk-indices",
                                         "lower-wide-conv-block", "typecast"),
                         [](const auto& info) { return fixtures::GoldenTestName(info.param); });

}  // namespace
}  // namespace weft::passes
