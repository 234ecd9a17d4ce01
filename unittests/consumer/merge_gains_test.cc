// The rule's golden files, its numbers, and Weft's own registries in a foreign program.
#include "merge_gains.h"

#include <gtest/gtest.h>

#include "ir/builder.h"
#include "kernels/runtime/registry.h"
#include "passes/pass_registry.h"
#include "passes/rule_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/numeric.h"

namespace gain {
namespace {

WEFT_REGISTER_RULE(MergeGains, "gain");

const weft::fixtures::GoldenOptions kWithGains{
    .load_dialects = [](weft::ir::IrContext& context) { weft::ir::AddOps<Scale>(context); }};

class MergeGainsTest : public testing::TestWithParam<std::string> {};

TEST_P(MergeGainsTest, GivesWhatTheFileExpects) {
  EXPECT_TRUE(weft::fixtures::RunGolden(GAIN_GOLDEN_DIR "/" + GetParam(), kWithGains));
}

TEST_P(MergeGainsTest, KeepsTheNumbers) {
  EXPECT_TRUE(weft::fixtures::GoldenKeepsNumbers(GAIN_GOLDEN_DIR "/" + GetParam(), kWithGains));
}

INSTANTIATE_TEST_SUITE_P(Golden, MergeGainsTest,
                         testing::ValuesIn(weft::fixtures::GoldenFiles(GAIN_GOLDEN_DIR)),
                         [](const auto& info) {
                           return weft::fixtures::GoldenTestName(info.param);
                         });

TEST(Golden, FilesAreFound) { EXPECT_EQ(weft::fixtures::GoldenFiles(GAIN_GOLDEN_DIR).size(), 2u); }

TEST(Package, BringsWhatRegistersItself) {
  EXPECT_TRUE(weft::passes::FindRule("merge-transposes") != nullptr);
  EXPECT_FALSE(weft::passes::RegisteredPasses().empty());
  EXPECT_EQ(weft::kernels::ProvidersOf(weft::ir::kOpcodeOf<Scale>),
            std::vector<std::string>{"reference"});
}

}  // namespace
}  // namespace gain
