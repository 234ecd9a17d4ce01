// ir-opt's answers about rules: --explain, --stats, --fail-if, --numerics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// Two pairs of transposes; the second pair is one too, but for the relu in between.
constexpr const char* kTransposes =
    R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2x3x4xf32>) {
 (%1) = "onnx.Transpose" (%0) {perm:array[2,0,1]} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
 (%2 "y") = "onnx.Transpose" (%1) {perm:array[0,2,1]} : (tensor<4x2x3xf32>) -> tensor<4x3x2xf32>
 (%3) = "onnx.Transpose" (%0) {perm:array[1,0,2]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
 (%4 "middle") = "onnx.Softmax" (%3) {axis:-1} : (tensor<3x2x4xf32>) -> tensor<3x2x4xf32> loc("m.onnx:/softmax")
 (%5 "z") = "onnx.Transpose" (%4) {perm:array[1,0,2]} : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
 () = "builtin.return" (%2, %5) {} : (tensor<4x3x2xf32>, tensor<2x3x4xf32>) ->
}
)";

class IrOptRules : public IrOpt {
 protected:
  void SetUp() override { in_ = Write("a.ir", kTransposes); }
  std::string Explain(const std::string& what, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {in_, "--explain", what});
    return Accept(more).out;
  }
  std::string in_;
};

// --- --explain -----------------------------------------------------------------------

TEST_F(IrOptRules, ExplainsBothEndsOfTheRunInPlaceOfTheProgram) {
  const std::string out = Explain("merge-transposes");
  EXPECT_THAT(out, StartsWith("pass canonicalize: merge-transposes was applied 1 time\n"));
  EXPECT_THAT(out, HasSubstr("\nbefore pass canonicalize\n"
                             "merge-transposes fits at 1 place\n"
                             "  (%2 \"y\") = \"onnx.Transpose\" (%1)"));
  EXPECT_THAT(out, HasSubstr("\nafter the run\n"
                             "merge-transposes does not fit; with 1 of 2 operations found it "
                             "fails at\n"));
  EXPECT_THAT(out, Not(HasSubstr("builtin.return")));
}

TEST_F(IrOptRules, ExplainsAValueByItsNameOrItsNumberAfterTheRun) {
  for (const char* value : {"z", "%4"}) {
    const std::string out = Explain(std::string("merge-transposes@") + value);
    EXPECT_EQ(CountOf(out, "expected onnx.Transpose but found onnx.Softmax"), 2u) << out;
    EXPECT_EQ(CountOf(out, "loc(\"m.onnx:/softmax\")"), 2u) << out;
    EXPECT_THAT(out, HasSubstr("\n  (%5 \"z\") = \"onnx.Transpose\""));
    EXPECT_THAT(out, HasSubstr("\n  (%4 \"z\") = \"onnx.Transpose\""));
  }
  EXPECT_THAT(Explain("merge-transposes@middle"), HasSubstr("expected onnx.Transpose but found"));
}

TEST_F(IrOptRules, TheProgramStillGoesWhereItIsToldTo) {
  EXPECT_THAT(Explain("merge-transposes", {"-o", Path("b.ir")}), HasSubstr("after the run"));
  EXPECT_THAT(ReadFile(Path("b.ir")), HasSubstr("builtin.return"));
  const Outcome both = Accept({in_, "--explain", "merge-transposes", "-o", "-"});
  EXPECT_THAT(both.out, AllOf(HasSubstr("builtin.return"), Not(HasSubstr("after the run"))));
  EXPECT_THAT(both.err, HasSubstr("after the run"));
}

TEST_F(IrOptRules, SuggestsTheRuleOrValueThatWasMeant) {
  EXPECT_THAT(Refusal({in_, "--explain", "merge-transpose"}),
              HasSubstr("unknown rule 'merge-transpose'; did you mean 'merge-transposes'?"));
  for (const auto& [option, value] :
       {std::pair("--explain", "gather-to-split"), std::pair("--fail-if", "gather-to-split<1")})
    EXPECT_THAT(Refusal({in_, option, value}),
                HasSubstr("'gather-to-split' is a pass, not a rule"));
  EXPECT_THAT(Refusal({in_, "--explain", "merge-transposes@midle"}),
              HasSubstr("unknown value 'midle'; did you mean 'middle'?"));
  EXPECT_THAT(Refusal({in_, "--explain", "merge-transposes@%99"}),
              HasSubstr("unknown value '%99'; after the run there is %0 to %4"));
  EXPECT_THAT(Refusal({in_, "--explain", "merge-transposes@"}), HasSubstr("expected RULE@VALUE"));
}

TEST_F(IrOptRules, ExplainsThatARuleWasNotRunAtAll) {
  EXPECT_THAT(Explain("merge-transposes", {"--disable-rule", "merge-transposes"}),
              AllOf(HasSubstr("pass canonicalize: merge-transposes was not run: it is disabled"),
                    HasSubstr("after the run\nmerge-transposes fits at 1 place")));
  EXPECT_THAT(Explain("fold-batch-norm-into-conv", {"--numerics", "exact"}),
              HasSubstr("fold-batch-norm-into-conv was not run: its numeric class is reassociates, "
                        "the run allows exact at most\n"));
  EXPECT_THAT(Explain("fuse-linear-bias"),
              StartsWith("fuse-linear-bias was not run: no pass of this run has it, but "
                         "fuse-epilogue would\n"));
}

// --- --stats -------------------------------------------------------------------------

TEST_F(IrOptRules, StatisticsComeAsJsonToo) {
  const Outcome outcome = Accept({in_, "--stats=json", "--numerics", "exact"});
  const auto json = nlohmann::json::parse(outcome.err);
  const auto& all = json["passes"];
  const auto found = std::find_if(all.begin(), all.end(),
                                  [](const auto& pass) { return pass["pass"] == "canonicalize"; });
  ASSERT_NE(found, all.end());
  const auto& canonicalize = *found;
  EXPECT_EQ(canonicalize["ops_before"], 6);
  EXPECT_EQ(canonicalize["ops_after"], 5);
  size_t idle = 0;
  for (const auto& rule : canonicalize["rules"]) {
    if (rule["rule"] == "merge-transposes") {
      EXPECT_EQ(rule["applied"], 1);
      EXPECT_GE(rule["tried"], 1);
      EXPECT_EQ(rule["ops_created"], 1);
    }
    idle += rule["tried"] == 0;
  }
  EXPECT_GT(idle, 3u);  // zero rows too
  bool folding_skipped = false;
  for (const auto& rule : canonicalize["not_run"])
    folding_skipped |= rule["rule"] == "fold-batch-norm-into-conv";
  EXPECT_TRUE(folding_skipped);
}

TEST_F(IrOptRules, StatisticsTellWhichRulesAreNotEligible) {
  const std::string err = Accept({in_, "--stats=all", "--numerics", "exact"}).err;
  EXPECT_THAT(err, ContainsRegex("pass +rule +not run because\n"));
  EXPECT_THAT(err, ContainsRegex("canonicalize +fold-batch-norm-into-conv +its numeric class is "
                                 "reassociates, the run allows exact at most\n"));
  EXPECT_THAT(Accept({in_, "--stats=all", "--numerics", "approximate"}).err,
              Not(HasSubstr("not run because")));
  EXPECT_THAT(Refusal({in_, "--stats=jsn"}), HasSubstr("did you mean 'json'?"));
}

TEST_F(IrOptRules, StatisticsCountWhatEachConstraintRefused) {
  const std::string in = Write("keep.ir", R"(
module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Transpose" (%0) {perm:array[1,0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
 (%2) = "onnx.Transpose" (%0) {perm:array[1,0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
 () = "builtin.return" (%1, %2) {} : (tensor<3x2xf32>, tensor<3x2xf32>) ->
}
)");
  const std::vector<std::string> passes = {in, "--passes", "canonicalize", "--stats=all"};
  EXPECT_THAT(Accept(passes).err,
              ContainsRegex("\npass +rule +declined +because\n"
                            "(canonicalize .*\n)*"
                            "canonicalize +drop-identity-transpose +2 +does not hold: perm moves "
                            "no axis"));
  const auto json =
      nlohmann::json::parse(Accept({in, "--passes", "canonicalize", "--stats=json"}).err);
  bool found = false;
  for (const auto& rule : json["passes"][0]["rules"])
    if (rule["rule"] == "drop-identity-transpose")
      for (const auto& decline : rule["declines"]) found |= decline["count"] == 2;
  EXPECT_TRUE(found);
}

TEST_F(IrOptRules, ParanoidModeChangesNothingButTheTimeItTakes) {
  EXPECT_EQ(Accept({in_, "--paranoid"}).out, Accept({in_}).out);
  EXPECT_EQ(Accept({kBertTiny, "--paranoid", "--pipeline", "fuse"}).out,
            Accept({kBertTiny, "--pipeline", "fuse"}).out);
}

// --- --fail-if -----------------------------------------------------------------------

TEST_F(IrOptRules, FailsWhenARuleAppliesLessOrMoreOftenThanExpected) {
  const auto passes = [&](const std::string& bound) { Accept({in_, "--fail-if", bound}); };
  const auto fails = [&](const std::string& bound) {
    return Refusal({in_, "--fail-if", bound, "-o", Path("b.ir")}, 1);
  };
  passes("merge-transposes<1");
  passes("merge-transposes>1");
  passes("merge-transposes=0");
  passes("merge-transposes>=2");
  passes("merge-transposes<=0");
  EXPECT_THAT(fails("merge-transposes<12"),
              HasSubstr("rule merge-transposes: expected at least 12 applications, got 1\n"));
  EXPECT_THAT(fails("merge-transposes>0"), HasSubstr("expected at most 0 applications, got 1\n"));
  EXPECT_THAT(fails("merge-transposes=1"), HasSubstr("expected other than 1 application, got 1"));
  EXPECT_THAT(fails("merge-transposes>=1"), HasSubstr("expected fewer than 1 application"));
  EXPECT_THAT(fails("merge-transposes<=1"), HasSubstr("expected more than 1 application, got 1"));
  EXPECT_FALSE(std::filesystem::exists(Path("b.ir")));
}

TEST_F(IrOptRules, TakesARuleByAnAliasToo) {
  Accept({in_, "--fail-if", "compose-transposes<1"});
  EXPECT_THAT(Refusal({in_, "--fail-if", "compose-transposes>0", "-o", Path("b.ir")}, 1),
              HasSubstr("rule merge-transposes: expected at most 0 applications, got 1\n"));
  EXPECT_EQ(Accept({in_, "--disable-rule", "compose-transposes"}).out,
            Accept({in_, "--disable-rule", "merge-transposes"}).out);
  EXPECT_THAT(Refusal({in_, "--enable-rule", "topk-fix", "--disable-rule", "lower-topk-indices"}),
              HasSubstr("both enabled and disabled"));
}

TEST_F(IrOptRules, NamesEveryBoundThatIsMissedAndWhyARuleWasNotRun) {
  EXPECT_THAT(Refusal({in_, "--fail-if", "drop-identity<1", "--fail-if", "fuse-linear-bias<2",
                       "--fail-if", "merge-transposes<1", "-o", Path("b.ir")},
                      1),
              HasSubstr("rule drop-identity: expected at least 1 application, got 0; rule "
                        "fuse-linear-bias: expected at least 2 applications, got 0 (no pass of "
                        "this run has it)\n"));
}

TEST_F(IrOptRules, RefusesABoundThatMakesNoSense) {
  EXPECT_THAT(Refusal({in_, "--fail-if", "merge-transpose<1"}),
              HasSubstr("unknown rule 'merge-transpose'; did you mean 'merge-transposes'?"));
  EXPECT_THAT(Refusal({in_, "--fail-if", "merge-transposes<x"}),
              HasSubstr("--fail-if merge-transposes<x: 'x' is not a count"));
  for (const char* bound : {"merge-transposes", "<3", "merge-transposes!3"})
    EXPECT_THAT(Refusal({in_, "--fail-if", bound}), HasSubstr("expected RULE<COUNT"));
}

TEST_F(IrOptRules, AFailedExpectationCanBeExplainedInTheSameRun) {
  const Outcome outcome =
      Run({in_, "--fail-if", "merge-transposes<2", "--explain", "merge-transposes"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.out, HasSubstr("after the run"));
  EXPECT_THAT(outcome.err, HasSubstr("expected at least 2 applications, got 1"));
}

// --- --analyse-rules -----------------------------------------------------------------

TEST_F(IrOptRules, AnalysesTheRulesOfThePassesThatAreChosen) {
  const std::string out = Accept({"--analyse-rules", "--passes", "named-operators"}).out;
  EXPECT_THAT(out, ContainsRegex("^pass named-operators: [0-9]+ of [0-9]+ rules analysed, [0-9]+ "
                                 "pairs, 0 findings\n"));
  EXPECT_EQ(CountOf(out, "pass "), 1u) << out;
}

// --- rules of a file -------------------------------------------------------------------

// Each of the two makes what the other looks for.
constexpr const char* kUndoingRules = R"weft(rule relu-to-leaky {
  numerics approximate
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.LeakyRelu{alpha: 0.5}(%x) }
  replace %0 with !0
}
rule leaky-to-relu {
  numerics approximate
  source { %0 = onnx.LeakyRelu{alpha: 0.5}(%x) }
  result { !0 = onnx.Relu(%x) }
  replace %0 with !0
}
)weft";

TEST_F(IrOptRules, AnalysisNamesTheRulesOfAFileThatUndoEachOtherWithAProgram) {
  const std::string file = Write("undo.weft", kUndoingRules);
  const Outcome outcome = Run({"--analyse-rules", "--rules-file", file, "--numerics", "approximate",
                               "--passes", "dead-code-elimination"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("1 finding about rules"));
  EXPECT_THAT(outcome.out,
              StartsWith("pass rules-file: 2 of 2 rules analysed, 2 pairs, 1 finding\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("  relu-to-leaky, leaky-to-relu undo each other: after "
                                         "[0-9]+ rewrites? the program is one it was before\n"));
  EXPECT_THAT(outcome.out, ContainsRegex("\n     \\(%[0-9]+\\) = \"onnx.Relu\""));
}

TEST_F(IrOptRules, RulesOfAFileAreExplainedAndCounted) {
  const std::string file = Write("undo.weft", kUndoingRules);
  const auto run = [&](std::vector<std::string> more, const char* numerics = "approximate") {
    more.insert(more.begin(), {in_, "--rules-file", file, "--trust-rules", "--numerics", numerics});
    return Run(more);
  };
  EXPECT_THAT(run({"--explain", "relu-to-leaky"}).out,
              AllOf(StartsWith("pass rules-file: relu-to-leaky was applied 0 times\n"),
                    HasSubstr("relu-to-leaky does not fit: there is no onnx.Relu\n")));
  EXPECT_THAT(run({"--explain", "relu-to-leaky"}, "exact").out,
              StartsWith("pass rules-file: relu-to-leaky was not run: its numeric class is "
                         "approximate, the run allows exact at most\n"));
  EXPECT_THAT(run({"--explain", "relu-to-leaky", "--disable-rule", "relu-to-leaky"}).out,
              StartsWith("pass rules-file: relu-to-leaky was not run: it is disabled\n"));
  const Outcome unknown = run({"--explain", "relu-to-leaki"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'relu-to-leaky'?"));
  EXPECT_EQ(run({"--disable-rule", "relu-to-leaki"}).code, 2);
  const Outcome counted = run({"--fail-if", "relu-to-leaky<3"});
  EXPECT_EQ(counted.code, 1);
  EXPECT_THAT(counted.err,
              HasSubstr("rule relu-to-leaky: expected at least 3 applications, got 0"));
  EXPECT_EQ(run({"--fail-if", "relu-to-leaki<3"}).code, 2);
}

// x * hard_sigmoid(x; 1/6, 1/2), which is a HardSwish from opset 14 on.
constexpr const char* kHardSwish =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.HardSigmoid" (%0) {alpha:0.16666667,beta:0.5} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Mul" (%0, %1) {} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%2) {} : (tensor<2x3xf32>) ->
}
)";

TEST_F(IrOpt, RunsNoRuleWhoseResultTheTargetOpsetLacks) {
  const std::string in = Write("a.ir", kHardSwish), out = Path("b.onnx");
  const std::vector<std::string> flags = {in, "-o", out, "--fail-if", "fuse-hard-swish<1"};
  const auto with = [&](const std::string& opset) {
    std::vector<std::string> all = flags;
    all.insert(all.end(), {"--stats=all", "--target-opset", opset});
    return Run(all);
  };
  const Outcome old = with("13");
  EXPECT_EQ(old.code, 1);
  EXPECT_THAT(old.err,
              HasSubstr("its result has HardSwish, which came with opset 14, and the model "
                        "is written for 13"));
  EXPECT_EQ(with("14").code, 0);
  EXPECT_THAT(Refusal({in, "-o", out, "--target-opset", "12"}),
              HasSubstr("--target-opset 12: expected 13 to 27"));
  EXPECT_THAT(Refusal({in, "-o", out, "--target-opset", "28"}), HasSubstr("expected 13 to 27"));
}

}  // namespace
}  // namespace weft::tools
