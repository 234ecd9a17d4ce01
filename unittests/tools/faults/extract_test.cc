// ir-opt --extract FROM..TO.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// s = sin(x); p, q = split(s); y = p + tanh(q) * w, with a default for w.
constexpr const char* kSplit =
    R"(parameters {
 w: dense<tensor<2xf32>, [3.0,5.0]>
}
module {default_inputs:strings["w"],input_names:strings["x","m","w"],output_names:strings["y","z"]} (%0: tensor<4xf32>, %1: tensor<2xf32>, %2: tensor<2xf32>) {
 (%3 "s") = "onnx.Sin" (%0) {} : (tensor<4xf32>) -> tensor<4xf32>
 (%4 "p", %5 "q") = "onnx.Split" (%3) {axis:0,num_outputs:2} : (tensor<4xf32>) -> tensor<2xf32>, tensor<2xf32>
 (%6 "t") = "onnx.Tanh" (%5) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%7) = "onnx.Mul" (%6, %2) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 (%8) = "onnx.Add" (%4, %7) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 (%9 "z") = "onnx.Sub" (%8, %1) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%8, %9) {} : (tensor<2xf32>, tensor<2xf32>) ->
}
)";

// Both branches read values from outside, of which only one is an operand of the If.
constexpr const char* kBranches =
    R"(module {input_names:strings["c","x"],output_names:strings["y"]} (%0: tensor<bool>, %1: tensor<2xf32>) {
 (%2 "a") = "onnx.Sin" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%3 "b") = "onnx.Exp" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%4 "k") = "builtin.constant" () {value:dense<tensor<2xf32>, [3.0,4.0]>} : () -> tensor<2xf32>
 (%5 "r") = "onnx.If" (%0) {} : (tensor<bool>) -> tensor<2xf32> ({
  (%6 "inner") = "onnx.Mul" (%2, %4) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  () = "builtin.return" (%6) {} : (tensor<2xf32>) ->
 }, {
  () = "builtin.return" (%3) {} : (tensor<2xf32>) ->
 })
 (%7 "y") = "onnx.Relu" (%5) {} : (tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%7) {} : (tensor<2xf32>) ->
}
)";

constexpr const char* kConstant = "--fold-default-inputs";  // else a warning says that w is none
constexpr const char* kMiddle = "/layers.0/Add_2_output_0";

class IrOptExtract : public IrOpt {
 protected:
  std::string Extract(const std::string& model, const std::string& range) {
    return Accept({model, "--pipeline", "none", "--extract", range}).out;
  }
  std::string RunModel(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "ir-run");
    const Outcome outcome = RunProgram(std::move(arguments));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  }
};

TEST_F(IrOptExtract, CutsAModelInTwoThatTogetherComputeTheSame) {
  const std::string first = Path("first.onnx"), second = Path("second.onnx");
  Accept({kBertTiny, "--extract", std::string("x,mask..") + kMiddle, "-o", first});
  Accept({kBertTiny, "--extract", std::string(kMiddle) + ",mask..182", "-o", second});
  RunModel({kBertTiny, "--random-inputs", "1", "--pipeline", "none", "--save-inputs", Path("in"),
            "--output-dir", Path("whole")});
  const std::string mask = "mask=" + Path("in/input_1.pb");
  RunModel({first, "--input", "x=" + Path("in/input_0.pb"), "--input", mask, "--pipeline", "none",
            "--output-dir", Path("half")});
  const std::string middle = kMiddle;
  RunModel({second, "--input", middle + "=" + Path("half/output_0.pb"), "--input", mask,
            "--pipeline", "none", "--expect", "182=" + Path("whole/output_0.pb")});
}

TEST_F(IrOptExtract, GivesNoMoreThanWhatLiesBetween) {
  const std::string text =
      Extract(kBertTiny, "/layers.0/fc1/Add_output_0../layers.0/Mul_1_output_0");
  EXPECT_THAT(text, HasSubstr("input_names:strings[\"/layers.0/fc1/Add_output_0\"]"));
  EXPECT_THAT(text, HasSubstr("output_names:strings[\"/layers.0/Mul_1_output_0\"]"));
  EXPECT_EQ(CountOf(text, "\"onnx."), 5u) << text;
  EXPECT_EQ(CountOf(text, "\"builtin.constant\""), 3u) << text;
}

TEST_F(IrOptExtract, ComesBeforeShapesAndPasses) {
  const std::string text = Accept({Write("a.ir", kSplit), "--extract", "q..t", "--passes",
                                   "canonicalize", "--overwrite-input-shape", "q=7"})
                               .out;
  EXPECT_THAT(text, HasSubstr("(%0: tensor<7xf32>) {\n (%1 \"t\") = \"onnx.Tanh\" (%0)"));
}

TEST_F(IrOptExtract, WithoutOneSideTakesTheInputsOrOutputsOfTheModel) {
  const std::string in = Write("a.ir", kSplit);
  EXPECT_THAT(Extract(in, "..t"), AllOf(HasSubstr("input_names:strings[\"x\"]"),
                                        HasSubstr("output_names:strings[\"t\"]")));
  EXPECT_THAT(Extract(in, "s,m.."), AllOf(HasSubstr("input_names:strings[\"s\",\"m\",\"w\"]"),
                                          HasSubstr("output_names:strings[\"y\",\"z\"]")));
}

TEST_F(IrOptExtract, KeepsInputsThatMayBeLeftOut) {
  const std::string in = Write("a.ir", kSplit);
  const std::string text = Extract(in, "p,t..y");
  EXPECT_THAT(text, HasSubstr("default_inputs:strings[\"w\"]"));
  EXPECT_THAT(text, HasSubstr("dense<tensor<2xf32>, [3.0,5.0]>"));
  EXPECT_THAT(Extract(in, "x..t"), Not(HasSubstr("default_inputs")));
}

// The split stays for p, but q is what the caller gives.
TEST_F(IrOptExtract, TakesOneResultOfAnOperationWhoseOtherResultIsComputed) {
  const std::string text = Extract(Write("a.ir", kSplit), "q,x..y");
  EXPECT_THAT(text, HasSubstr("(%0: tensor<2xf32>, %1: tensor<4xf32>, %2: tensor<2xf32>)"));
  EXPECT_THAT(text, HasSubstr("(%4 \"p\", %5) = \"onnx.Split\" (%3)"));
  EXPECT_THAT(text, HasSubstr("\"onnx.Tanh\" (%0)"));
  Accept({Path("a.ir"), "--extract", "q,x..y", "-o", Path("b.onnx")});
  Accept({Path("b.onnx"), "-o", Path("c.ir")});
}

TEST_F(IrOptExtract, TakesValuesThatBranchesReadFromOutside) {
  const std::string in = Write("a.ir", kBranches);
  EXPECT_THAT(Extract(in, "c,a,b..r"), HasSubstr("input_names:strings[\"c\",\"a\",\"b\"]"));
  const std::string text = Extract(in, "c,x..y");
  for (const char* op : {"onnx.Sin", "onnx.Exp", "onnx.If", "onnx.Mul", "builtin.constant"})
    EXPECT_THAT(text, HasSubstr(op));
  EXPECT_THAT(Refusal({in, "--extract", "c,a..y"}),
              HasSubstr("'y' needs the input 'x', too, which no value of c, a stands for"));
}

TEST_F(IrOptExtract, TakesNumbersOfTheText) {
  const std::string text = Extract(Write("a.ir", kSplit), "%6,%2..%7");
  EXPECT_THAT(text, HasSubstr("input_names:strings[\"t\",\"w\"]"));
  EXPECT_THAT(text, HasSubstr("output_names:strings[\"value_7\"]"));
}

TEST_F(IrOptExtract, KeepsAnInputThatNothingReads) {
  EXPECT_THAT(Extract(Write("a.ir", kSplit), "m,q..t"),
              HasSubstr("input_names:strings[\"m\",\"q\"]"));
}

TEST_F(IrOptExtract, NamesTheInputsThatAreMissing) {
  const std::string in = Write("a.ir", kSplit);
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "q..z"}),
              HasSubstr("--extract: 'z' needs the inputs 'x', 'm', too, which no value of q "));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "m.."}),
              HasSubstr("the outputs need the input 'x', too"));
}

TEST_F(IrOptExtract, RefusesBadUsage) {
  const std::string in = Write("a.ir", kSplit), branches = Write("b.ir", kBranches);
  EXPECT_THAT(Refusal({kBertTiny, "--extract", "x,mask../layers.0/Ad_2_output_0"}),
              HasSubstr("unknown value '/layers.0/Ad_2_output_0'; did you mean "
                        "'/layers.0/Add_2_output_0'?"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "%99..y"}), HasSubstr("unknown value '%99'"));
  EXPECT_THAT(Refusal({branches, "--extract", "..inner"}),
              HasSubstr("'inner' is a value inside of an onnx.If"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "x"}), HasSubstr("expected FROM..TO"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", ".."}), HasSubstr("expected FROM..TO"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "x..s..y"}), HasSubstr("more than one '..'"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "x,..y"}), HasSubstr("a name is empty"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "x,x..y"}), HasSubstr("'x' is given twice"));
  EXPECT_THAT(Refusal({in, kConstant, "--extract", "x..t,t"}), HasSubstr("'t' is given twice"));
}

}  // namespace
}  // namespace weft::tools
