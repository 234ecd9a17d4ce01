#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "drr/drr.h"
#include "ir/dialects/onnx.h"
#include "passes/rule_registry.h"
#include "unittests/fixtures/golden.h"
#include "unittests/temp_dir.h"

namespace weft::fixtures {
namespace {

using ::testing::HasSubstr;

// relu(relu(x)) => relu(x)
class TestReluTwice : public drr::DrrPatternBase<TestReluTwice> {
 public:
  static constexpr std::string_view kName = "test-relu-twice";
  void operator()(drr::DrrPatternContext* ctx) const override {
    drr::SourcePattern src = ctx->SourcePattern();
    const drr::Tensor x = src.Tensor("x");
    const drr::Tensor inner = src.Op<ir::ops::Relu>()(x);
    const drr::Tensor outer = src.Op<ir::ops::Relu>()(inner);
    src.RequireNativeCall("x has rank 2", [=](const drr::MatchContext& m) {
      return m[x].type().HasRank() && m[x].type().rank() == 2;
    });
    drr::ResultPattern res = src.ResultPattern();
    res.Tensor(outer) = res.Op<ir::ops::Relu>()(x);
  }
};
WEFT_REGISTER_OPT_IN_RULE(TestReluTwice, "test");

constexpr const char* kTwice = R"(// RUN: --rules test-relu-twice
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%2) {} : (tensor<2x3xf32>) ->
}
)";
constexpr const char* kRank1 = R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%2) {} : (tensor<3xf32>) ->
}
)";

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "no");
    blessing_ = std::getenv("WEFT_BLESS") != nullptr;
    unsetenv("WEFT_BLESS");
  }
  void TearDown() override {
    if (blessing_) setenv("WEFT_BLESS", "1", 1);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << text;
    return path;
  }
  static std::string Read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path).rdbuf();
    return out.str();
  }
  // What RunGolden says of a file that should fail.
  std::string Failure(const std::string& name, const std::string& text) {
    const ::testing::AssertionResult result = RunGolden(Write(name, text));
    EXPECT_FALSE(result);
    return result.message();
  }
  static std::string Bless(const std::string& path) {
    setenv("WEFT_BLESS", "1", 1);
    EXPECT_TRUE(RunGolden(path));
    unsetenv("WEFT_BLESS");
    return Read(path);
  }

  const weft::fixtures::TempDir dir_;
  const std::filesystem::path folder_ = dir_.path();
  bool blessing_ = false;
};

TEST_F(Golden, BlessWritesAnExpectationThatThenHolds) {
  const std::string path = Write("a.ir", kTwice);
  EXPECT_THAT(Failure("b.ir", kTwice), HasSubstr("no EXPECT line"));
  const std::string blessed = Bless(path);
  EXPECT_EQ(blessed.rfind(kTwice, 0), 0u);
  EXPECT_TRUE(RunGolden(path));
  EXPECT_EQ(Bless(path), blessed);
}

TEST_F(Golden, TellsTheFirstLineThatDiffers) {
  std::string text = Bless(Write("a.ir", kTwice));
  const size_t relu = text.rfind("onnx.Relu");
  ASSERT_NE(relu, std::string::npos);
  text.replace(relu, 9, "onnx.Tanh");
  EXPECT_THAT(Failure("a.ir", text), HasSubstr("line 2 of the result differs"));
}

TEST_F(Golden, FailsWhenTheRuleDoesNotFire) {
  EXPECT_THAT(
      Failure("a.ir", std::string("// RUN: --rules test-relu-twice") + kRank1 + "// EXPECT\n"),
      HasSubstr("rule test-relu-twice did not fire"));
}

TEST_F(Golden, AcceptsANearMissWithTheReasonThatIsGiven) {
  EXPECT_TRUE(RunGolden(Write("no/a.ir", std::string("// RUN: --rules test-relu-twice\n"
                                                     "// REFUSED-BY: rank 2") +
                                             kRank1)));
}

TEST_F(Golden, RejectsANearMissThatAnotherCheckRefuses) {
  const std::string text =
      std::string("// RUN: --rules test-relu-twice\n// REFUSED-BY: constant") + kRank1;
  EXPECT_THAT(Failure("no/a.ir", text), HasSubstr("x has rank 2"));
}

TEST_F(Golden, RejectsANearMissThatNothingRefuses) {
  EXPECT_THAT(Failure("no/a.ir", std::string("// REFUSED-BY: rank 2\n") + kTwice),
              HasSubstr("rule test-relu-twice fires at"));
}

TEST_F(Golden, TellsMistakesInTheRunLine) {
  EXPECT_THAT(Failure("a.ir", "// RUN: --rules nobody\n{\n}\n"), HasSubstr("no rule nobody"));
  EXPECT_THAT(Failure("a.ir", "// RUN: --passes nobody\n{\n}\n"), HasSubstr("no pass nobody"));
  EXPECT_THAT(Failure("a.ir", "// RUN: --rulez x\n"), HasSubstr("unknown option --rulez"));
  EXPECT_THAT(Failure("a.ir", "// RUN:\n"), HasSubstr("no RUN line"));
  EXPECT_THAT(Failure("a.ir", "{\n}\n"), HasSubstr("no RUN line"));
}

TEST_F(Golden, FindsFilesInOrderAndNamesTests) {
  Write("b.ir", "");
  Write("no/a-b.ir", "");
  Write("c.txt", "");
  EXPECT_THAT(GoldenFiles(folder_.string()), ::testing::ElementsAre("b.ir", "no/a-b.ir"));
  EXPECT_TRUE(GoldenFiles((folder_ / "missing").string()).empty());
  EXPECT_EQ(GoldenTestName("no/a-b.ir"), "no_a_b");
}

}  // namespace
}  // namespace weft::fixtures
