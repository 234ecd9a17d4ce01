// ir-opt --check of models that do not run as a whole: what was rewritten, region by region.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/faults/wrong_rules.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// relu(-(-x)) before and after an operation that nobody knows, of which not even the rank of the result
// is known.
constexpr const char* kCustomBetween =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<?x?xf32>) {
 (%1) = "onnx.Neg" (%0) {} : (tensor<?x?xf32>) -> tensor<?x?xf32>
 (%2) = "onnx.Neg" (%1) {} : (tensor<?x?xf32>) -> tensor<?x?xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<?x?xf32>) -> tensor<?x?xf32>
 (%4) = "acme.Frobnicate" (%3) {} : (tensor<?x?xf32>) -> tensor<*xf32>
 (%5) = "onnx.Neg" (%4) {} : (tensor<*xf32>) -> tensor<*xf32>
 (%6) = "onnx.Neg" (%5) {} : (tensor<*xf32>) -> tensor<*xf32>
 (%7) = "onnx.Relu" (%6) {} : (tensor<*xf32>) -> tensor<*xf32>
 () = "builtin.return" (%7) {} : (tensor<*xf32>) ->
}
)";

class IrOptCheckOfRegions : public IrOpt {
 protected:
  Outcome RunRules(const std::string& rules, const std::string& program,
                   std::vector<std::string> flags = {}) {
    flags.insert(flags.end(), {Write("a.ir", program), "--rules-file", Write("r.weft", rules), "-o",
                               Path("out.ir"), "--check"});
    return Run(WithWrongRules(std::move(flags)));
  }
  bool HasWritten() const { return std::filesystem::exists(Path("out.ir")); }
};

TEST_F(IrOptCheckOfRegions, ComparesEachWhereTheWholeCannotRun) {
  const Outcome outcome = RunRules(kDropNegs, kCustomBetween, {"--numerics", "exact"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("check: 3 random inputs, exact: bit for bit"),
                                 HasSubstr("check: the original program does not run: input 'x'"),
                                 HasSubstr("; so each region that is rewritten is compared\n")));
  EXPECT_THAT(outcome.err, HasSubstr("region 1 at onnx.Neg: 2 onnx.Neg -> nothing\n"));
  EXPECT_THAT(outcome.err, HasSubstr("  %2: is what the original is, bit for bit\n"));
  EXPECT_THAT(outcome.err, HasSubstr("region 2 at onnx.Neg: 2 onnx.Neg -> nothing\n"));
  EXPECT_THAT(outcome.err,
              HasSubstr("check: 2 rewritten regions, 2 compared, 0 differ, 0 cannot run\n"));
  EXPECT_TRUE(HasWritten());
}

TEST_F(IrOptCheckOfRegions, WritesNothingWhenOneDiffers) {
  const Outcome outcome = RunRules(kReluToTanh, kCustomBetween);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, ContainsRegex("region 1 at onnx.Relu: [^\n]*onnx.Relu -> onnx.Tanh\n"));
  EXPECT_THAT(outcome.err, ContainsRegex("region 2 at onnx.Relu: [^\n]*onnx.Relu -> onnx.Tanh\n"));
  EXPECT_THAT(outcome.err, HasSubstr("2 compared, 2 differ, 0 cannot run\n"));
  EXPECT_THAT(outcome.err,
              ContainsRegex("ir-opt: error: check: region 1 at [^\n]*: outputs differ by "));
  EXPECT_FALSE(HasWritten());
}

TEST_F(IrOptCheckOfRegions, AllowsRoundingUnlessTheRunIsExact) {
  const std::string program =
      R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<20x?xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [2.7]>} : () -> tensor<f32>
 (%2) = "onnx.Tanh" (%0) {} : (tensor<20x?xf32>) -> tensor<20x?xf32>
 (%3) = "onnx.Add" (%2, %1) {} : (tensor<20x?xf32>, tensor<f32>) -> tensor<20x?xf32>
 () = "builtin.return" (%3) {} : (tensor<20x?xf32>) ->
}
)";
  EXPECT_EQ(RunRules(kTanhAwayAndBack, program).code, 0);
  const Outcome exact = RunRules(kTanhAwayAndBack, program, {"--numerics", "exact"});
  EXPECT_EQ(exact.code, 1);
  EXPECT_THAT(exact.err, HasSubstr("not bit for bit the same"));
}

TEST_F(IrOptCheckOfRegions, ComparesOneOfConstantsOnly) {
  const auto program = [](const char* op) {
    return std::string(
               R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<?xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<2xf32>, [1.0,-2.0]>} : () -> tensor<2xf32>
 (%2) = ")") +
           op + R"(" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%3) = "acme.Frobnicate" (%0, %2) {} : (tensor<?xf32>, tensor<2xf32>) -> tensor<?xf32>
 () = "builtin.return" (%3) {} : (tensor<?xf32>) ->
}
)";
  };
  const Outcome folded = RunRules(kDropNegs, program("onnx.Exp"));
  EXPECT_EQ(folded.code, 0) << folded.err;
  EXPECT_THAT(folded.err, AllOf(HasSubstr("region 1 at onnx.Exp: onnx.Exp -> builtin.constant\n"),
                                HasSubstr("1 compared, 0 differ, 0 cannot run\n")));
  const Outcome wrong = RunRules(kReluToTanh, program("onnx.Relu"));
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("1 compared, 1 differ, 0 cannot run\n"));
}

// relu(relu(x)) => relu(x), also where others read it
constexpr const char* kReluOnce = R"(
rule relu-once {
  numerics exact
  source {
    %0 = onnx.Relu(%x)
    %1 = onnx.Relu(%0)
    keep %0
  }
  result { }
  replace %1 with %0
}
)";

TEST_F(IrOptCheckOfRegions, TakesInWhatARuleReliedOnAndLeftWhereItWas) {
  const Outcome outcome = RunRules(
      kReluOnce,
      R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<?xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<?xf32>) -> tensor<?xf32>
 (%2) = "onnx.Relu" (%1) {} : (tensor<?xf32>) -> tensor<?xf32>
 (%3) = "onnx.Exp" (%1) {} : (tensor<?xf32>) -> tensor<?xf32>
 () = "builtin.return" (%2, %3) {} : (tensor<?xf32>, tensor<?xf32>) ->
}
)",
      {"--numerics", "exact"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("onnx.Relu -> nothing\n  with operations before it: 1\n"));
  EXPECT_THAT(outcome.err, HasSubstr("1 compared, 0 differ, 0 cannot run\n"));
}

// In a branch beside an operation that nobody knows: relu(-(-x)).
constexpr const char* kBranch =
    R"(module {input_names:strings["c","x"],output_names:strings["y"]} (%0: tensor<bool>, %1: tensor<2x3xf32>) {
 (%2) = "onnx.Exp" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.If" (%0) {} : (tensor<bool>) -> tensor<2x3xf32> ({
  ^():
  (%4) = "onnx.Neg" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  (%5) = "onnx.Neg" (%4) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  (%6) = "onnx.Relu" (%5) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  (%7) = "acme.Frobnicate" (%6) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  () = "builtin.return" (%7) {} : (tensor<2x3xf32>) ->
 }, {
  ^():
  () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
 })
 () = "builtin.return" (%3) {} : (tensor<2x3xf32>) ->
}
)";

TEST_F(IrOptCheckOfRegions, LooksIntoOperationsThatHoldOneThatCannotRun) {
  const Outcome good = RunRules(kDropNegs, kBranch);
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_THAT(good.err,
              HasSubstr("check: no kernel runs acme.Frobnicate inside of onnx.If; so each region"));
  EXPECT_THAT(good.err, HasSubstr("region 1 at onnx.Neg: 2 onnx.Neg -> nothing\n"));
  EXPECT_THAT(good.err, HasSubstr("1 compared, 0 differ, 0 cannot run\n"));
  // exp is never negative, so that what is in front of the region has to be in it.
  const Outcome bad = RunRules(kNegToAbs, kBranch);
  EXPECT_EQ(bad.code, 0) << bad.err;
  EXPECT_THAT(bad.err, HasSubstr("  with operations before it: 1\n"));
  const Outcome worse = RunRules(kReluToTanh, kBranch);
  EXPECT_EQ(worse.code, 1);
  EXPECT_THAT(worse.err, ContainsRegex("region 1 at onnx.Relu: [^\n]*onnx.Relu -> onnx.Tanh\n"));
}

constexpr const char* kComplex =
    R"(module {input_names:strings["s","x"],output_names:strings["t","y"]} (%0: tensor<3xc64>, %1: tensor<?xf32>) {
 (%2) = "onnx.Identity" (%0) {} : (tensor<3xc64>) -> tensor<3xc64>
 (%3) = "acme.Frobnicate" (%2) {} : (tensor<3xc64>) -> tensor<3xc64>
 (%4) = "onnx.Neg" (%1) {} : (tensor<?xf32>) -> tensor<?xf32>
 (%5) = "onnx.Neg" (%4) {} : (tensor<?xf32>) -> tensor<?xf32>
 () = "builtin.return" (%3, %5) {} : (tensor<3xc64>, tensor<?xf32>) ->
}
)";

TEST_F(IrOptCheckOfRegions, NamesThoseThatCannotRun) {
  const Outcome some = RunRules(kDropNegs, kComplex);
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_THAT(some.err, ContainsRegex("region [12] at onnx.Identity: onnx.Identity -> nothing\n"
                                      "  cannot be compared: [^\n]*c64"));
  EXPECT_THAT(some.err,
              HasSubstr("check: 2 rewritten regions, 1 compared, 0 differ, 1 cannot run\n"));
  EXPECT_TRUE(HasWritten());
}

TEST_F(IrOptCheckOfRegions, SaysWhenNoneCanRun) {
  std::string text = kComplex;
  for (size_t at; (at = text.find("onnx.Neg")) != std::string::npos;)
    text.replace(at, 8, "onnx.Sin");
  const Outcome none = Run({Write("a.ir", text), "-o", Path("out.ir"), "--check"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("ir-opt: error: check: no rewritten region can run: region 1 at "
                                  "onnx.Identity: onnx.Identity -> nothing: "));
  EXPECT_FALSE(HasWritten());
}

TEST_F(IrOptCheckOfRegions, HasNothingToCompareWhereNothingWasRewritten) {
  const Outcome outcome =
      Run({Write("a.ir", kCustomBetween), "-o", Path("out.ir"), "--check", "--pipeline", "none"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("check: 0 rewritten regions, 0 compared, 0 differ, 0 cannot run\n"));
  EXPECT_TRUE(HasWritten());
}

TEST_F(IrOptCheckOfRegions, TakesNoNoteOfConstantsThatAreMerged) {
  const Outcome outcome = Accept({Write("a.ir", R"(
module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<?xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [3.0]>} : () -> tensor<f32>
 (%2) = "onnx.Mul" (%0, %1) {} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
 (%3) = "builtin.constant" () {value:dense<tensor<f32>, [3.0]>} : () -> tensor<f32>
 (%4) = "onnx.Add" (%2, %3) {} : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
 () = "builtin.return" (%4) {} : (tensor<?xf32>) ->
}
)"),
                                  "--check"});
  EXPECT_EQ(CountOf(outcome.out, "builtin.constant"), 1u);
  EXPECT_THAT(outcome.err, HasSubstr("check: 0 rewritten regions, "));
}

TEST_F(IrOptCheckOfRegions, ServesBisect) {
  const std::string rules = std::string(kDropNegs) + kReluToTanh;
  const Outcome outcome =
      Run(WithWrongRules({Write("a.ir", kCustomBetween), "--rules-file", Write("r.weft", rules),
                          "--pipeline", "none", "--bisect", "-o", Path("near.ir")}));
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("relu-to-tanh at onnx.Relu: onnx.Relu -> onnx.Tanh\n"));
  EXPECT_THAT(outcome.out, HasSubstr("is wrong after ir-opt "));
  EXPECT_THAT(ReadFile(Path("near.ir")), AllOf(HasSubstr("onnx.Relu"), Not(HasSubstr("acme."))));
}

}  // namespace
}  // namespace weft::tools
