// Every pipeline, run on what it has made of the golden programs of all transformations, near misses
// among them, changes nothing.
#include <gtest/gtest.h>

#include "ir/text/printer.h"
#include "passes/pass_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

const std::string kFolder = fixtures::TestData("/passes");

class BigPipelineTwice : public testing::TestWithParam<std::string> {
 protected:
  static void RunTwice(const std::string& name) {
    SCOPED_TRACE(name);
    auto file = fixtures::ReadGoldenFile(std::string(kFolder) + "/" + name);
    ASSERT_TRUE(file.ok()) << file.status();
    file->rules.clear(), file->rules_file.clear();
    file->passes = FindPipeline(GetParam())->passes;
    ir::IrContext context;
    const auto program = fixtures::ParseGoldenProgram(*file, context);
    ASSERT_TRUE(program.ok()) << program.status();
    ASSERT_EQ(fixtures::RunGoldenPasses(*file, **program, nullptr).message(), "");
    const std::string once = ir::PrintProgram(**program);
    ASSERT_EQ(fixtures::RunGoldenPasses(*file, **program, nullptr).message(), "");
    EXPECT_EQ(ir::PrintProgram(**program), once);
  }
};

TEST_P(BigPipelineTwice, ChangesNothingMore) {
  for (const std::string& name : fixtures::FiringGoldenFiles(kFolder)) RunTwice(name);
}
TEST_P(BigPipelineTwice, ChangesNothingMoreOfNearMisses) {
  for (const std::string& name : fixtures::NearMissGoldenFiles(kFolder)) RunTwice(name);
}

std::vector<std::string> PipelineNames() {
  std::vector<std::string> names;
  for (const Pipeline& pipeline : Pipelines())
    if (pipeline.name != "superopt")
      names.emplace_back(pipeline.name);  // superopt_test has its own
  return names;
}

INSTANTIATE_TEST_SUITE_P(Big, BigPipelineTwice, testing::ValuesIn(PipelineNames()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::passes
