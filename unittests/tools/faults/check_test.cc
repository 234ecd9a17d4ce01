// ir-opt --check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/test_paths.h"
#include "unittests/tools/faults/wrong_rules.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// relu(x) * 1 and x * 1.
constexpr const char* kRelu =
    R"(module {input_names:strings["x"],output_names:strings["y","z"]} (%0: tensor<2x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.Mul" (%2, %1) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 (%4) = "onnx.Mul" (%0, %1) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 () = "builtin.return" (%3, %4) {} : (tensor<2x3xf32>, tensor<2x3xf32>) ->
}
)";

class IrOptCheck : public IrOpt {
 protected:
  // With rules of the test's own, on this program.
  Outcome RunRules(const std::string& rules, std::vector<std::string> flags = {},
                   const char* program = kRelu) {
    flags.insert(flags.end(), {Write("a.ir", program), "--rules-file", Write("r.weft", rules), "-o",
                               Path("out.ir"), "--check"});
    return Run(WithWrongRules(std::move(flags)));
  }
  bool HasWritten() const { return std::filesystem::exists(Path("out.ir")); }
};

TEST_F(IrOptCheck, TellsThatEveryOutputStayedTheSame) {
  const Outcome outcome =
      Accept({Write("a.ir", kRelu), "-o", Path("out.ir"), "--check", "--numerics", "exact"});
  EXPECT_THAT(outcome.err, HasSubstr("check: 3 random inputs, exact: bit for bit"));
  EXPECT_THAT(outcome.err, HasSubstr("\ny: is what the original is, bit for bit\n"));
  EXPECT_THAT(outcome.err, HasSubstr("\nz: is what the original is, bit for bit\n"));
  EXPECT_TRUE(HasWritten());
}

TEST_F(IrOptCheck, WritesNothingWhenAnOutputIsAnother) {
  const Outcome outcome = RunRules(kReluToTanh);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("\ny: differs from the original by "));
  EXPECT_THAT(outcome.err, HasSubstr(" of its largest element, too much\n"));
  EXPECT_THAT(outcome.err, HasSubstr("\nz: is what the original is, bit for bit\n"));
  EXPECT_THAT(outcome.err, HasSubstr("ir-opt: error: check: outputs differ by "));
  EXPECT_FALSE(HasWritten());
}

TEST_F(IrOptCheck, AllowsRoundingUnlessTheRunIsExact) {
  const Outcome loose = RunRules(kTanhAwayAndBack, {}, kTanh);
  EXPECT_EQ(loose.code, 0) << loose.err;
  EXPECT_THAT(loose.err, HasSubstr("y: differs from the original by "));
  const Outcome exact = RunRules(kTanhAwayAndBack, {"--numerics", "exact"}, kTanh);
  EXPECT_EQ(exact.code, 1) << exact.err;
  EXPECT_THAT(exact.err, AllOf(HasSubstr("y: differs from the original in "),
                               HasSubstr("not bit for bit the same")));
  const Outcome allowed =
      RunRules(kTanhAwayAndBack, {"--numerics", "exact", "--tolerance", "1e-5"}, kTanh);
  EXPECT_EQ(allowed.code, 0) << allowed.err;
  EXPECT_EQ(RunRules(kTanhAwayAndBack, {"--tolerance", "0"}, kTanh).code, 1);
}

TEST_F(IrOptCheck, TakesNanForNan) {
  constexpr const char* kSqrtOfNegative =
      R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [-5.0]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%3) = "onnx.Add" (%0, %1) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 (%4) = "onnx.Sqrt" (%3) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%5) = "onnx.Mul" (%4, %2) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 () = "builtin.return" (%5) {} : (tensor<2x3xf32>) ->
}
)";
  for (const char* numerics : {"exact", "reassociates"})
    EXPECT_THAT(Accept({Write("a.ir", kSqrtOfNegative), "--check", "--numerics", numerics}).err,
                HasSubstr("y: is what the original is, bit for bit"));
}

TEST_F(IrOptCheck, ChoosesSizesWithWhichTheModelRuns) {
  // n must be even.
  constexpr const char* kPairs =
      R"__(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"n"xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<2xi64>, [-1,2]>} : () -> tensor<2xi64>
 (%2) = "onnx.Reshape" (%0, %1) {} : (tensor<"n"xf32>, tensor<2xi64>) -> tensor<?x2xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<?x2xf32>) -> tensor<?x2xf32>
 () = "builtin.return" (%3) {} : (tensor<?x2xf32>) ->
}
)__";
  const Outcome outcome = Accept({Write("a.ir", kPairs), "--check=2"});
  EXPECT_THAT(outcome.err, HasSubstr("check: sizes n=2, n=4\n"));
  EXPECT_THAT(outcome.err, HasSubstr("y: is what the original is, bit for bit"));
  EXPECT_THAT(outcome.out, HasSubstr("tensor<\"n\"xf32>"));  // the model stays as general as it was
  EXPECT_EQ(RunRules(kReluToTanh, {}, kPairs).code, 1);
}

// reshape(x, [2 * (n / 2), -1]), whose first size is n where that is even.
TEST_F(IrOptCheck, TakesTheSizesThatPassesAreToldOf) {
  constexpr const char* kEven =
      R"__(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<"n"x"m"x4xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<1xi64>, [0]>} : () -> tensor<1xi64>
 (%2) = "builtin.constant" () {value:dense<tensor<1xi64>, [2]>} : () -> tensor<1xi64>
 (%3) = "builtin.constant" () {value:dense<tensor<1xi64>, [-1]>} : () -> tensor<1xi64>
 (%4) = "onnx.Shape" (%0) {} : (tensor<"n"x"m"x4xf32>) -> tensor<3xi64>
 (%5) = "onnx.Gather" (%4, %1) {axis:0} : (tensor<3xi64>, tensor<1xi64>) -> tensor<1xi64>
 (%6) = "onnx.Div" (%5, %2) {} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
 (%7) = "onnx.Mul" (%6, %2) {} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
 (%8) = "onnx.Concat" (%7, %3) {axis:0} : (tensor<1xi64>, tensor<1xi64>) -> tensor<2xi64>
 (%9) = "onnx.Reshape" (%0, %8) {} : (tensor<"n"x"m"x4xf32>, tensor<2xi64>) -> tensor<?x?xf32>
 () = "builtin.return" (%9) {} : (tensor<?x?xf32>) ->
}
)__";
  const std::vector<std::string> flags = {
      Write("a.ir", kEven), "--numerics", "approximate", "--enable-rule", "sampled-dynamic-reshape",
      "--dim-range",        "n=2..64*2",  "--dim-range", "m=3..3",        "--check"};
  const Outcome outcome = Accept(flags);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("check: sizes m=3 n="), HasSubstr("y: is what")));
  EXPECT_THAT(outcome.out, HasSubstr("[0,-1]"));
  EXPECT_THAT(Accept({flags[0], "--dim-range", "n=6..6000000000*2", "--check=2"}).err,
              ContainsRegex("check: sizes m=[0-9]+ n=(6|8|64), m=[0-9]+ n=(6|8|64)\n"));
  std::vector<std::string> contradicting = flags;
  contradicting[6] = "n=1..64";
  contradicting.pop_back();
  EXPECT_THAT(Refusal(contradicting), HasSubstr("pass sampled-dynamic-reshape: with m=3 n="));
}

TEST_F(IrOptCheck, PrintsNoControlCharactersOfNames) {
  constexpr const char* kForged =
      R"__(module {input_names:strings["x"],output_names:strings["y\nforged"]} (%0: tensor<"n\nforged"xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<"n\nforged"xf32>) -> tensor<"n\nforged"xf32>
 () = "builtin.return" (%1) {} : (tensor<"n\nforged"xf32>) ->
}
)__";
  EXPECT_THAT(Accept({Write("a.ir", kForged), "--check=1"}).err,
              AllOf(HasSubstr("check: sizes n\\x0aforged="),
                    HasSubstr("\ny\\x0aforged: is what the original is")));
}

constexpr const char* kOpaque =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Neg" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "acme.Frobnicate" (%1) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%3) {} : (tensor<2x3xf32>) ->
}
)";

TEST_F(IrOptCheck, ComparesWhatIsAroundOperationsThatNoKernelRuns) {
  const Outcome good = Accept({Write("a.ir", kOpaque), "--check"});
  EXPECT_THAT(good.err, HasSubstr("check: no kernel runs acme.Frobnicate (operations: 1)"));
  EXPECT_THAT(good.err, HasSubstr("operand 0 of acme.Frobnicate: is what the original is"));
  const Outcome after = RunRules(kReluToTanh, {}, kOpaque);  // behind it
  EXPECT_EQ(after.code, 1);
  EXPECT_THAT(after.err, AllOf(HasSubstr("y: differs from the original by"),
                               HasSubstr("operand 0 of acme.Frobnicate: is what the original is")));
  const Outcome before = RunRules(kNegToAbs, {}, kOpaque);  // in front of it
  EXPECT_EQ(before.code, 1);
  EXPECT_THAT(before.err, HasSubstr("operand 0 of acme.Frobnicate: differs from the original by"));
}

TEST_F(IrOptCheck, RefusesBadUsage) {
  const std::string in = Write("a.ir", kRelu);
  for (const char* count : {"--check=0", "--check=x", "--check=1001", "--check=-1"})
    EXPECT_THAT(Refusal({in, count}), HasSubstr("expected a number from 1 to 1000"));
  EXPECT_THAT(Refusal({in, "--check", "--convert", "f16"}), HasSubstr("--check is for programs"));
  EXPECT_THAT(Refusal({in, "--check", "--tolerance", "-1"}), HasSubstr("at least 0"));
  EXPECT_THAT(Files(), ElementsAre("a.ir"));
}

TEST_F(IrOptCheck, FindsNoDifferenceInTheModelsThatWeHave) {
  for (const char* model : {"bert_tiny", "gemma_decode", "gemma_prefill", "paddle_attn"}) {
    const std::string path = fixtures::TestData("/models/") + model + ".onnx";
    const Outcome outcome = Accept({path, "--pipeline", "fuse", "-o", Path("o.onnx"), "--check=2"});
    EXPECT_THAT(outcome.err, Not(HasSubstr("too much"))) << model;
  }
}

}  // namespace
}  // namespace weft::tools
