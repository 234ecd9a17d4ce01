// ir-opt --quantize: what is written, what it says, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// relu(x . w + b) . v; the largest of each column of w is 1.27, 0.254.
constexpr const char* kModel =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<4x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<3x2xf32>, [1.27,-0.1,0.5,0.254,-0.3,0.2]>} : () -> tensor<3x2xf32>
 (%2) = "builtin.constant" () {value:dense<tensor<2xf32>, [0.25,-0.125]>} : () -> tensor<2xf32>
 (%3) = "onnx.MatMul" (%0, %1) {} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
 (%4) = "onnx.Add" (%3, %2) {} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32>
 (%5) = "onnx.Relu" (%4) {} : (tensor<4x2xf32>) -> tensor<4x2xf32>
 () = "builtin.return" (%5) {} : (tensor<4x2xf32>) ->
}
)";

class IrOptQuantize : public IrOpt {};

TEST_F(IrOptQuantize, RoundsWeightsPerChannel) {
  const Outcome made = Run({Write("a.ir", kModel), "--quantize", "static"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("tensor<3x2xi8>, [127,-50,50,127,-30,100]"),
                              HasSubstr("tensor<2xf32>, [0.01,0.002]"),
                              HasSubstr("onnx.QuantizeLinear"), HasSubstr("tensor<2xi32>")));
  EXPECT_THAT(made.err,
              AllOf(HasSubstr("1 operations quantised (static), on 4 sets of random inputs"),
                    HasSubstr("SNR")));
}

// In units of another scale it would be rounded to 0.
TEST_F(IrOptQuantize, KeepsTheBiasOfAChannelWhoseWeightsAreZero) {
  std::string text = kModel;
  text.replace(text.find("[1.27"), 30, "[1.27,0.0,0.5,0.0,-0.3,0.0]");
  text.replace(text.find("-0.125"), 6, "-0.0001");
  const std::string out = Accept({Write("a.ir", text), "--quantize", "static"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("tensor<3x2xi8>, [127,0,50,0,-30,0]"), HasSubstr(",-1048576]")));
}

TEST_F(IrOptQuantize, PrintsNoControlCharactersOfNames) {
  std::string text = kModel;
  text.replace(text.find(R"("y")"), 3, R"("y\nforged")");
  EXPECT_THAT(Accept({Write("a.ir", text), "--quantize", "static"}).err,
              HasSubstr("\n  y\\x0aforged "));
}

TEST_F(IrOptQuantize, WritesWhatBecomesOneProductOfIntegers) {
  const std::string path = Path("q.onnx");
  const Outcome made = Run({Write("a.ir", kModel), "--quantize", "static", "-o", path});
  ASSERT_EQ(made.code, 0) << made.err;
  const Outcome fused = Run({path, "--pipeline", "fuse"});
  ASSERT_EQ(fused.code, 0) << fused.err;
  EXPECT_THAT(fused.out, AllOf(HasSubstr("fused.qlinear"), Not(HasSubstr("onnx.MatMul"))));
}

TEST_F(IrOptQuantize, QuantizesActivationsAsTheyComeIfDynamic) {
  const Outcome made = Run({Write("a.ir", kModel), "--quantize", "dynamic"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("onnx.DynamicQuantizeLinear"),
                              HasSubstr("onnx.MatMulInteger"), Not(HasSubstr("onnx.MatMul\""))));
}

// sqrt(|x| * (0.1049 - 0.1048)): 8 bits round those to 0.1 and 0.1024.
TEST_F(IrOptQuantize, TellsOfOutputsThatAreNoNumbersAnyMore) {
  const Outcome made = Run(
      {Write("a.ir",
             R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<4x1xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<2x2xf32>, [1.27,1.0,0.1049,0.1048]>} : () -> tensor<2x2xf32>
 (%2) = "builtin.constant" () {value:dense<tensor<4x1xf32>, [0.0,0.0,0.0,0.0]>} : () -> tensor<4x1xf32>
 (%3) = "onnx.Abs" (%0) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
 (%4) = "onnx.Concat" (%2, %3) {axis:1} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
 (%5) = "onnx.MatMul" (%4, %1) {} : (tensor<4x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
 (%6, %7) = "onnx.Split" (%5) {axis:1} : (tensor<4x2xf32>) -> tensor<4x1xf32>, tensor<4x1xf32>
 (%8) = "onnx.Sub" (%6, %7) {} : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
 (%9) = "onnx.Sqrt" (%8) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
 () = "builtin.return" (%9) {} : (tensor<4x1xf32>) ->
}
)"),
       "--quantize", "dynamic"});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, ContainsRegex("y +inf +inf +-inf\n"));
}

TEST_F(IrOptQuantize, IsForNumbers) {
  EXPECT_THAT(
      Refusal(
          {Write(
               "a.ir",
               R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xstr>) {
 (%1) = "onnx.Identity" (%0) {} : (tensor<2xstr>) -> tensor<2xstr>
 () = "builtin.return" (%1) {} : (tensor<2xstr>) ->
}
)"),
           "--quantize", "dynamic"},
          3),
      HasSubstr("'x' is tensor<2xstr>, no tensor of numbers"));
}

TEST_F(IrOptQuantize, IsPartOfThePicture) {
  Accept({Write("a.ir", kModel), "--quantize", "dynamic", "--html", Path("a.html"), "-o",
          Path("b.ir")});
  const std::string page = ReadFile(Path("a.html"));
  EXPECT_THAT(page, HasSubstr("\"MatMul\""));
  EXPECT_THAT(page, HasSubstr("{\"n\":\"quantize\""));
}

// Of u8 from -1 to 1.5: 2.5 / 255 a step, 102 of them below 0.
TEST_F(IrOptQuantize, TakesScalesFromGivenInputs) {
  const std::string model = Write("a.ir", kModel);
  std::vector<float> x(12, 0.5f);
  x[3] = -1, x[7] = 1.5f;
  WriteNpy("x.npy", "(4, 3)", x);
  const Outcome made = Run({model, "--quantize", "static", "--calibrate", folder_.string()});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("1 operations quantised (static), on 1 sets of inputs"));
  EXPECT_THAT(made.out, AllOf(HasSubstr("[0.009803922]"), HasSubstr("tensor<u8>, [102]")));
  const Outcome random = Run({model, "--quantize", "static"});
  EXPECT_THAT(random.out, Not(HasSubstr("[0.009803922]")));

  // A second set makes the range wider: from -1 to 4.1.
  std::filesystem::create_directories(folder_ / "more");
  x[3] = 0, x[7] = 4.1f;
  WriteNpy("more/input_0.npy", "(4, 3)", x);  // no name that is looked for
  EXPECT_THAT(Run({model, "--quantize", "static", "--calibrate", folder_.string()}).out,
              HasSubstr("[0.009803922]"));
  WriteNpy("more/x.npy", "(4, 3)", x);
  const Outcome two = Run({model, "--quantize", "static", "--calibrate", folder_.string()});
  EXPECT_THAT(two.err, HasSubstr("on 2 sets of inputs"));
  EXPECT_THAT(two.out, AllOf(HasSubstr("[0.02]"), HasSubstr("tensor<u8>, [50]")));
}

// A mask of attention: in 8 bits, its step would be larger than all scores.
TEST_F(IrOptQuantize, LeavesWhatIsTooWideInF32) {
  for (const char* least : {"-3.4e38", "-inf"}) {
    std::string masked = kModel;
    const std::string mask =
        std::string(" (%6) = \"builtin.constant\" () {value:dense<tensor<4x2xf32>, [") + least +
        ",0.0,0.0,0.0,0.0,0.0,0.0," + least +
        "]>} : () -> tensor<4x2xf32>\n"
        " (%8) = \"onnx.Neg\" (%5) {} : (tensor<4x2xf32>) -> tensor<4x2xf32>\n"
        " (%7) = \"onnx.Min\" (%8, %6) {} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>\n"
        " (%9) = \"onnx.Add\" (%5, %7) {} : (tensor<4x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>\n"
        " () = \"builtin.return\" (%9)";
    masked.replace(masked.find(" () = \"builtin.return\" (%5)"), 28, mask);
    const Outcome made = Run({Write("a.ir", masked), "--quantize", "static"});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err,
                AllOf(HasSubstr("1 operations quantised"), HasSubstr("too wide for 8 bits"),
                      HasSubstr(least[1] == 'i' ? "from -inf to" : "from -3.4e+38 to")));
    EXPECT_THAT(made.out, HasSubstr("tensor<2xi32>"));
  }
}

TEST_F(IrOptQuantize, LeavesSizesOpen) {
  std::string open = kModel;
  for (size_t at = 0; (at = open.find("tensor<4x", at)) != std::string::npos;)
    open.replace(at, 9, "tensor<\"N\"x");
  for (const char* mode : {"static", "dynamic"}) {
    const Outcome made = Run({Write("a.ir", open), "--quantize", mode});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("on 4 sets of random inputs, sizes N=2, N=3, N=5, N=4\n"));
    EXPECT_THAT(made.out, HasSubstr("(%0: tensor<\"N\"x3xf32>)"));
  }
}

TEST_F(IrOptQuantize, QuantizesNothingTwice) {
  const std::string once = Path("once.ir");
  Accept({Write("a.ir", kModel), "--quantize", "static", "-o", once});
  const Outcome twice = Run({once, "--quantize", "static"});
  EXPECT_THAT(twice.err, HasSubstr("0 operations quantised"));
  EXPECT_EQ(twice.out, ReadFile(once));
}

TEST_F(IrOptQuantize, RefusesFoldersWithoutInputsThatFit) {
  const std::string model = Write("a.ir", kModel);
  const auto refusal = [&](const std::string& folder) {
    return Refusal({model, "--quantize", "static", "--calibrate", folder});
  };
  EXPECT_THAT(refusal(Path("none")), HasSubstr("none: No such file or directory"));
  EXPECT_THAT(refusal(model), HasSubstr("a.ir: Not a directory"));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("no input_<i>.pb, NAME.pb or NAME.npy"));
  WriteNpy("x.npy", "(3, 4)", std::vector<float>(12));
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("input 'x' has type f32[3,4]"));
  std::vector<float> x(12, 0.5f);
  x[4] = NAN;
  WriteNpy("x.npy", "(4, 3)", x);
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("calibration met NaN in %0"));
  Write("x.npy", "garbage");
  EXPECT_THAT(refusal(folder_.string()), HasSubstr("not a valid .npy file"));
}

TEST_F(IrOptQuantize, RefusesWhatItCannotQuantize) {
  const std::string model = Write("a.ir", kModel);
  EXPECT_THAT(Refusal({model, "--quantize", "statik"}, 2), HasSubstr("did you mean 'static'?"));
  EXPECT_THAT(Refusal({model, "--calibrate", "."}, 2), HasSubstr("--calibrate needs --quantize"));
  EXPECT_THAT(Refusal({model, "--quantize", "static", "--calibrate", Path("none")}, 2),
              HasSubstr("none"));
  std::string infinite = kModel;
  infinite.replace(infinite.find("1.27"), 4, "inf");
  EXPECT_THAT(Run({Write("b.ir", infinite), "--quantize", "static"}).err,
              AllOf(HasSubstr("%4 is from 0 to inf"), HasSubstr("0 operations quantised")));
  EXPECT_THAT(Refusal({Write("b.ir", infinite), "--quantize", "dynamic"}, 2),
              HasSubstr("cannot quantise weights that are not all finite"));
}

}  // namespace
}  // namespace weft::tools
