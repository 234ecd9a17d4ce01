// Rules of files are judged before they are applied, and what was found is remembered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "unittests/tools/faults/wrong_rules.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// relu(-(-x))
constexpr const char* kModel =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Neg" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Neg" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%3) {} : (tensor<2x3xf32>) ->
}
)";

// No program has it.
constexpr const char* kImpossible = R"(
rule two-ranks {
  numerics exact
  source { %y = onnx.Relu(%x) }
  require "x has rank 2" rank_is(%x, 2)
  require "x has rank 3" rank_is(%x, 3)
  result { !0 = onnx.Tanh(%x) }
  replace %y with !0
}
)";

class RuleTrusts : public IrOpt {
 protected:
  void SetUp() override { in_ = Write("a.ir", kModel); }
  void TearDown() override { setenv("XDG_CACHE_HOME", "/dev/null", 1); }
  // On the model, without other passes.
  Outcome Apply(const std::string& rules, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {in_, "--pipeline", "none", "--rules-file", Write("r.weft", rules),
                               "-o", Path("b.ir")});
    return Run(std::move(flags));
  }
  bool HasWritten() const { return std::filesystem::exists(Path("b.ir")); }
  void Remember() const { setenv("XDG_CACHE_HOME", Path("cache").c_str(), 1); }
  std::vector<std::filesystem::path> Remembered() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(Path("cache/weft")))
      files.push_back(entry.path());
    return files;
  }
  std::string in_;
};

TEST_F(RuleTrusts, ARuleThatIsRightIsAppliedWithoutAWord) {
  const Outcome outcome = Apply(kDropNegs);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(ReadFile(Path("b.ir")), Not(HasSubstr("onnx.Neg")));
}

TEST_F(RuleTrusts, ARefutedRuleIsShownToBeWrongAndNothingIsWritten) {
  const Outcome outcome = Apply(std::string(kDropNegs) + kReluToTanh);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, ContainsRegex("ir-opt: error: [^\n]*/r.weft: relu-to-tanh is refuted: "
                                         "not bit for bit the same, on [a-z ]+\nmodule "));
  EXPECT_THAT(outcome.err, HasSubstr("\"onnx.Relu\" (%0)"));
  EXPECT_THAT(outcome.err, HasSubstr("\n// input 0: "));
  EXPECT_THAT(
      outcome.err,
      HasSubstr("ir-opt: error: rules of files: 1 rule refuted: relu-to-tanh (a run that trusts "
                "rules applies what is refuted, too)\n"));
  EXPECT_FALSE(HasWritten());
}

TEST_F(RuleTrusts, IrRunJudgesToo) {
  const std::vector<std::string> run = {
      "ir-run", in_, "--random-inputs", "1", "--rules-file", Write("r.weft", kReluToTanh)};
  const Outcome outcome = RunProgram(run);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("relu-to-tanh is refuted"));
  EXPECT_EQ(RunProgram(WithWrongRules(run)).code, 0);
}

TEST_F(RuleTrusts, ATrustedRuleIsAppliedAndTheStatisticsSaySo) {
  const Outcome outcome = Apply(kReluToTanh, {"--trust-rules", "--stats"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(ReadFile(Path("b.ir")), HasSubstr("onnx.Tanh"));
  EXPECT_THAT(outcome.err, ContainsRegex("rules not judged \\(trusted\\) +1\n"));
  EXPECT_THAT(Apply(kDropNegs, {"--stats=json"}).err, HasSubstr("\"rules judged\": 1"));
}

TEST_F(RuleTrusts, OnlyRulesThatTheRunAppliesAreJudged) {
  EXPECT_EQ(Apply(kReluToTanh, {"--disable-rule", "relu-to-tanh"}).code, 0);
  std::string approximate(kReluToTanh);
  approximate.replace(approximate.find("exact"), 5, "approximate");
  EXPECT_EQ(Apply(approximate).code, 0);
  EXPECT_EQ(Apply(approximate, {"--numerics", "approximate"}).code, 1);
}

TEST_F(RuleTrusts, AnUnjudgedRuleIsAWarningUnlessAllMustBeJudged) {
  const Outcome warned = Apply(kImpossible);
  EXPECT_EQ(warned.code, 0) << warned.err;
  EXPECT_THAT(warned.err,
              ContainsRegex("^ir-opt: warning: [^\n]*/r.weft: two-ranks is unjudged: [^\n]*no "
                            "program found on which it applies: [^\n]*x has rank [23]\n$"));
  EXPECT_TRUE(HasWritten());
  std::filesystem::remove(Path("b.ir"));
  const Outcome refused = Apply(kImpossible, {"--require-judged"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("ir-opt: error: rules of files: 1 rule unjudged: two-ranks"));
  EXPECT_FALSE(HasWritten());
  EXPECT_EQ(Apply(kDropNegs, {"--require-judged"}).code, 0);
}

TEST_F(RuleTrusts, ToTrustAndToRequireContradictEachOther) {
  EXPECT_THAT(Refusal({in_, "--trust-rules", "--require-judged"}),
              HasSubstr("--trust-rules judges no rule and --require-judged needs all judged"));
}

TEST_F(RuleTrusts, ListingAndAnalysingJudgeNothing) {
  const std::string file = Write("r.weft", kReluToTanh);
  EXPECT_EQ(Run({"--list-rules", "--rules-file", file}).err, "");
  EXPECT_EQ(Run({"--list-rules", "relu-to-tanh", "--rules-file", file}).err, "");
  EXPECT_THAT(Run({"--analyse-rules", "--passes", "inplace", "--rules-file", file}).err,
              Not(HasSubstr("refuted")));
}

TEST_F(RuleTrusts, AJudgementIsRememberedAndListed) {
  Remember();
  const std::string list_none =
      Run({"--list-rules", "--rules-file", Write("r.weft", kDropNegs)}).out;
  EXPECT_THAT(list_none, Not(HasSubstr("tested")));
  EXPECT_THAT(Apply(kDropNegs, {"--stats"}).err, Not(HasSubstr("judged by an earlier run")));
  ASSERT_EQ(Remembered().size(), 1u);
  const Outcome again = Apply(kDropNegs, {"--stats"});
  EXPECT_THAT(again.err, ContainsRegex("rules judged +1\n *judged by an earlier run +1\n"));
  const Outcome list = Run({"--list-rules", "--rules-file", Path("r.weft")});
  EXPECT_THAT(list.out, ContainsRegex("drop-negs +r.weft +exact +tested [0-9]+ +default"));
  // With another text it is another rule.
  std::string other(kDropNegs);
  other.replace(other.find("onnx.Neg"), 8, "onnx.Abs");
  EXPECT_EQ(Apply(other).code, 1);
  EXPECT_EQ(Remembered().size(), 2u);
}

TEST_F(RuleTrusts, ARefutationIsRememberedWithItsCounterexample) {
  Remember();
  const Outcome first = Apply(kReluToTanh), again = Apply(kReluToTanh);
  EXPECT_EQ(first.code, 1);
  EXPECT_EQ(again.code, 1);
  EXPECT_EQ(first.err, again.err);
  EXPECT_FALSE(HasWritten());
}

TEST_F(RuleTrusts, VerifyRulesRemembersTooAndSaysSo) {
  Remember();
  const std::vector<std::string> verify = {"--verify-rules", "--rules-file",
                                           Write("r.weft", std::string(kDropNegs) + kReluToTanh)};
  const Outcome first = Run(verify), again = Run(verify);
  EXPECT_EQ(first.code, 1);
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(first.out, Not(HasSubstr("earlier runs")));
  EXPECT_EQ(again.out, first.out + "\n2 of 2 judgements are those of earlier runs, in " +
                           Path("cache/weft") + "\n");
  const Outcome registered = Accept({"--verify-rules", "drop-identity"});
  EXPECT_THAT(registered.out, ContainsRegex("drop-identity +exact +(proved|tested)"));
  EXPECT_THAT(Accept({"--verify-rules", "drop-identity,drop-single-concat"}).out,
              HasSubstr("1 of 2 judgements are those of earlier runs"));
}

TEST_F(RuleTrusts, VerifyRulesRefusesWhatIsNoRule) {
  EXPECT_THAT(Refusal({"--verify-rules", "drop-identitty"}), HasSubstr("did you mean"));
  EXPECT_THAT(Refusal({"--verify-rules", "fuse-quantized-lookup"}),
              HasSubstr("'fuse-quantized-lookup' is a pass; rules are judged"));
}

TEST_F(RuleTrusts, WhatIsKeptIsNotBelievedWhenItIsDamaged) {
  Remember();
  EXPECT_EQ(Apply(kReluToTanh).code, 1);
  ASSERT_EQ(Remembered().size(), 1u);
  const std::string path = Remembered()[0].string(), whole = ReadFile(path);
  for (const std::string& damaged :
       {std::string(), whole.substr(0, whole.size() / 2), std::string(1 << 16, '\xff'),
        std::string("weft judgement 1\n"), whole + whole}) {
    std::ofstream(path, std::ios::binary) << damaged;
    const Outcome outcome = Apply(kReluToTanh);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("relu-to-tanh is refuted"));
    EXPECT_FALSE(ReadFile(path) == damaged);  // judged anew
  }
  std::filesystem::remove(path);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(Apply(kReluToTanh).code, 1);
}

TEST_F(RuleTrusts, AFolderThatCannotBeWrittenIsNoError) {
  for (const std::string& folder : {std::string("/proc/1"), Write("file", "")}) {
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
    const Outcome outcome = Apply(kDropNegs);
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.err, IsEmpty());
  }
}

TEST_F(RuleTrusts, BisectJudgesOnceUnlessTheRulesAreTrusted) {
  const Outcome outcome = Apply(kReluToTanh, {"--bisect"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(CountOf(outcome.err, "relu-to-tanh is refuted"), 1u);
  const Outcome trusted = Apply(kReluToTanh, {"--bisect", "--trust-rules"});
  EXPECT_EQ(trusted.code, 0) << trusted.err;
  EXPECT_THAT(trusted.out, ContainsRegex("--rules-file [^\n]*/r.weft --trust-rules --check"));
}

}  // namespace
}  // namespace weft::tools
