#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"
#include "weft/version.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// y = 2.5 * (1 * x)
constexpr const char* kGains =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "acme.Gain" (%0) {factor:1.0} : (tensor<3xf32>) -> tensor<3xf32>
 (%2) = "acme.Gain" (%1) {factor:2.5} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%2) {} : (tensor<3xf32>) ->
}
)";

std::string Plugin(const std::string& name) { return fixtures::BuildPath("/plugins/") + name; }
const std::string kGood = Plugin("good.so");

class IrOptPlugin : public IrOpt {};
class IrRunPlugin : public ProgramTest {
 protected:
  IrRunPlugin() : ProgramTest("ir-run") {}
};

TEST_F(IrOptPlugin, ItsRuleRunsAndIsCounted) {
  const std::string in = Write("a.ir", kGains);
  const Outcome run = Accept({in, "--load", kGood, "--stats", "--fail-if", "drop-unit-gain<1"});
  EXPECT_EQ(CountOf(run.out, "acme.Gain"), 1u) << run.out;
  EXPECT_THAT(run.err, HasSubstr("drop-unit-gain"));
  EXPECT_EQ(Run({in, "--load", kGood, "--fail-if", "drop-unit-gain<2"}).code, 1);
}

TEST_F(IrOptPlugin, FlagsBeforeItKnowWhatItBrings) {
  const std::string in = Write("a.ir", kGains);
  EXPECT_THAT(Accept({"--list-rules", "--load", kGood}).out, HasSubstr("drop-unit-gain"));
  EXPECT_THAT(Accept({"--list-rules", "drop-unit-gain", "--load", kGood}).out,
              HasSubstr("canonicalize"));
  EXPECT_THAT(Accept({"--list-ops", "--load", kGood}).out, HasSubstr("acme.Gain"));
  EXPECT_THAT(Accept({"--list-passes", "--load", kGood}).out, HasSubstr("greet"));
  EXPECT_THAT(Accept({in, "--passes", "greet", "--load", kGood}).err, HasSubstr("greeted"));
  EXPECT_EQ(
      CountOf(Accept({in, "--disable-rule", "drop-unit-gain", "--load", kGood}).out, "acme.Gain"),
      2u);
  EXPECT_THAT(Accept({in, "--explain", "drop-unit-gain", "--load", kGood}).out,
              AllOf(HasSubstr("drop-unit-gain"), HasSubstr("acme.Gain")));
}

TEST_F(IrOptPlugin, WithoutItNobodyKnowsTheRule) {
  EXPECT_THAT(Refusal({"--list-rules", "drop-unit-gain"}), HasSubstr("drop-unit-gain"));
}

TEST_F(IrOptPlugin, ItsNumbersAreChecked) {
  const std::string in = Write("a.ir", kGains);
  const std::string checked = Accept({in, "--load", kGood, "--check"}).err;
  EXPECT_THAT(checked, HasSubstr("y"));
}

TEST_F(IrOptPlugin, GivenTwiceItIsLoadedOnce) {
  Accept({Write("a.ir", kGains), "--load", kGood, "--load", kGood});
}

TEST_F(IrOptPlugin, ANameWithoutAFolderIsAFileHere) {
  std::filesystem::copy_file(kGood, Path("mine.so"));
  const Outcome run = RunInShell("cd '" + folder_.string() + "' && exec \"$@\"",
                                 {"ir-opt", "--list-rules", "drop-unit-gain", "--load", "mine.so"});
  EXPECT_EQ(run.code, 0) << run.err;
}

TEST_F(IrRunPlugin, ItsKernelRuns) {
  const std::string in = Write("a.ir", kGains);
  const std::string x = WriteNpy("x.npy", "(3,)", {1, 2, 4});
  const std::string y = WriteNpy("y.npy", "(3,)", {2.5f, 5, 10});
  Accept({in, "--load", kGood, "--input", "x=" + x, "--expect", "y=" + y});
  Accept({in, "--load", kGood, "--can-run"});
  EXPECT_EQ(Run({in, "--can-run"}).code, 3);
  EXPECT_EQ(Run({in, "--load", kGood, "--input", "x=" + x, "--expect", "y=" + x}).code, 1);
}

TEST_F(IrRunPlugin, ItIsRefusedToo) {
  EXPECT_THAT(Refusal({Write("a.ir", kGains), "--load", Path("missing.so")}),
              EndsWith("missing.so: no such file\n"));
}

TEST_F(IrOptPlugin, AMissingFileIsRefused) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Path("missing.so")}),
              EndsWith("missing.so: no such file\n"));
  EXPECT_THAT(Refusal({"--list-rules", "--load", kGood, "--load", folder_.string()}),
              EndsWith(": not a file\n"));
}

TEST_F(IrOptPlugin, AnotherVersionIsRefused) {
  std::string file = ReadFile(kGood);
  const std::string version = WEFT_VERSION_STRING;
  const std::string owner("Weft\0\0\0\0", 8);
  const size_t note = file.find(owner + version);
  ASSERT_NE(note, std::string::npos);
  file[note + owner.size()] = '7';
  EXPECT_THAT(Refusal({"--list-rules", "--load", Write("other.so", file)}),
              EndsWith("other.so: built for Weft 7" + version.substr(1) + ", but this is Weft " +
                       version + "\n"));
}

TEST_F(IrOptPlugin, AFileThatStatesNoVersionIsRefusedBeforeItsCodeRuns) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("unstated.so")}),
              HasSubstr("unstated.so: not a plugin: it does not say, by WEFT_PLUGIN()"));
}

TEST_F(IrOptPlugin, WhatIsNoSharedObjectIsRefused) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Write("text.so", "not a shared object at all")}),
              EndsWith("text.so: not a shared object for this machine\n"));
  EXPECT_THAT(Refusal({"--list-rules", "--load", Write("empty.so", "")}),
              EndsWith("empty.so: not a shared object for this machine\n"));
}

// The loader would map what is not there, and the first read of it would be a fault.
TEST_F(IrOptPlugin, AFileThatIsCutShortIsRefused) {
  const std::string file = ReadFile(kGood);
  for (const size_t size : {20u, 63u, 64u, 200u, 700u, 4096u, 8192u}) {
    ASSERT_LT(size, file.size());
    SCOPED_TRACE(size);
    Refusal({"--list-rules", "--load", Write("cut.so", file.substr(0, size))});
  }
}

TEST_F(IrOptPlugin, ANameThatIsTakenIsRefused) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("taken_rule.so")}),
              EndsWith("taken_rule.so: two rules are called drop-unit-factor\n"));
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("taken_op.so")}),
              EndsWith("taken_op.so: two definitions of onnx.Relu\n"));
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("taken_kernel.so")}),
              EndsWith("taken_kernel.so: two kernels of the provider reference run onnx.Relu\n"));
}

TEST_F(IrOptPlugin, ARuleThatDoesNotBuildIsRefused) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("wrong_rule.so")}),
              AllOf(HasSubstr("wrong_rule.cc:"), HasSubstr("unbound")));
}

TEST_F(IrOptPlugin, WhatTheProgramDoesNotHaveIsNamed) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("undefined.so")}),
              AllOf(HasSubstr("undefined symbol"), HasSubstr("Absent")));
}

TEST_F(IrOptPlugin, OneThatRegistersNothingIsRefused) {
  EXPECT_THAT(Refusal({"--list-rules", "--load", Plugin("nothing.so")}),
              EndsWith("nothing.so: registers no rule, pass, operator or kernel\n"));
}

TEST_F(IrOptPlugin, NothingIsWrittenWhenOneIsRefused) {
  Refusal({Write("a.ir", kGains), "-o", Path("out.ir"), "--load", Plugin("nothing.so")});
  EXPECT_THAT(Files(), Not(::testing::Contains("out.ir")));
}

}  // namespace
}  // namespace weft::tools
