// What ir-run says of outputs that differ: in steps where they were rounded to a scale of
// quantisation, relative to the largest element elsewhere, and integers are exact.
#include <gmock/gmock.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// 2 x rounded to integers, steps of 0.5 of x; the same as floats, moved and bounded; a product of the integers.
constexpr const char* kModel =
    R"(module {input_names:strings["x"],output_names:strings["q","d","s"]} (%0: tensor<1x4xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [0.5]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<u8>, [10]>} : () -> tensor<u8>
 (%9) = "onnx.Div" (%0, %1) {} : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
 (%10) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%3) = "onnx.QuantizeLinear" (%9, %10, %2) {} : (tensor<1x4xf32>, tensor<f32>, tensor<u8>) -> tensor<1x4xu8>
 (%4) = "onnx.DequantizeLinear" (%3, %1, %2) {} : (tensor<1x4xu8>, tensor<f32>, tensor<u8>) -> tensor<1x4xf32>
 (%5) = "onnx.Transpose" (%4) {perm:array[1,0]} : (tensor<1x4xf32>) -> tensor<4x1xf32>
 (%6) = "onnx.Relu" (%5) {} : (tensor<4x1xf32>) -> tensor<4x1xf32>
 (%7) = "builtin.constant" () {value:dense<tensor<4x1xi8>, [127,-128,3,100]>} : () -> tensor<4x1xi8>
 (%8) = "onnx.MatMulInteger" (%3, %7) {} : (tensor<1x4xu8>, tensor<4x1xi8>) -> tensor<1x1xi32>
 () = "builtin.return" (%3, %6, %8) {} : (tensor<1x4xu8>, tensor<4x1xf32>, tensor<1x1xi32>) ->
}
)";

class IrRunCompare : public ProgramTest {
 protected:
  IrRunCompare() : ProgramTest("ir-run") {}
  // A run on x that expects an output to be what it is for 0, 1, 2, 3.
  Outcome Expect(const std::string& output, const std::vector<float>& x,
                 std::vector<std::string> flags = {}) {
    const std::string model = Write("a.ir", kModel);
    Accept({model, "--input", "x=" + WriteNpy("e.npy", "(1, 4)", {0, 1, 2, 3}), "--output-dir",
            Path("e")});
    const std::string index = output == "q" ? "0" : output == "d" ? "1" : "2";
    flags.insert(flags.end(), {model, "--input", "x=" + WriteNpy("x.npy", "(1, 4)", x), "--expect",
                               output + "=" + Path("e/output_" + index + ".pb")});
    return Run(flags);
  }
};

TEST_F(IrRunCompare, AllowsOneStepOfIntegersThatWereRounded) {
  const Outcome equal = Expect("q", {0, 1, 2, 3}), one = Expect("q", {0, 1, 2, 3.5f}),
                two = Expect("q", {0, 1, 1, 3});
  EXPECT_EQ(equal.code, 0);
  EXPECT_THAT(equal.out, HasSubstr("by 0 steps of 1 at most, in 0 of 4 elements (0 %)"));
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, HasSubstr("q: differs from what is expected by 1 step of 1 at most, in 1 of "
                                 "4 elements (25 %); one step is rounding"));
  EXPECT_EQ(two.code, 1);
  EXPECT_THAT(two.out, HasSubstr("2 steps of 1 at most, in 1 of 4 elements (25 %); more than one"));
  EXPECT_THAT(two.err, HasSubstr("outputs differ by more than one step"));
}

TEST_F(IrRunCompare, AllowsOneStepOfWhatTheIntegersStandFor) {
  const Outcome one = Expect("d", {0, 1.5f, 2, 3.5f}), two = Expect("d", {1, 1, 2, 3});
  EXPECT_EQ(one.code, 0);
  EXPECT_THAT(one.out, HasSubstr("by 1 step of 0.5 at most, in 2 of 4 elements (50 %)"));
  EXPECT_EQ(two.code, 1);
  EXPECT_THAT(two.out, HasSubstr("2 steps of 0.5"));
}

TEST_F(IrRunCompare, AllowsNoDifferenceOfOtherIntegers) {
  EXPECT_EQ(Expect("s", {0, 1, 2, 3}).code, 0);
  const Outcome other = Expect("s", {0, 1, 2.5f, 3});  // 3 of 1000
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out,
              AllOf(HasSubstr("of its largest element, too much"), Not(HasSubstr("step"))));
  EXPECT_THAT(other.err, HasSubstr("allowed are 0"));
}

TEST_F(IrRunCompare, TakesAToleranceForSteps) {
  const Outcome loose = Expect("q", {0, 1, 1, 3}, {"--tolerance", "0.2"});
  EXPECT_EQ(loose.code, 0);
  EXPECT_THAT(loose.out,
              AllOf(HasSubstr("by 0.125 of its largest element"), Not(HasSubstr("step"))));
  EXPECT_EQ(Expect("q", {0, 1, 2, 3.5f}, {"--tolerance", "1e-3"}).code, 1);
}

TEST_F(IrRunCompare, CountsStepsInComparisonsAndReports) {
  const std::string model = Write("a.ir", kModel);
  EXPECT_THAT(Accept({model, "--random-inputs", "1", "--compare", "reference"}).out,
              AllOf(HasSubstr("q: differs from the reference by 0 steps of 1"),
                    HasSubstr("d: differs from the reference by 0 steps of 0.5"),
                    HasSubstr("s: differs from the reference by 0 of its largest element")));
  EXPECT_THAT(Accept({model, "--random-inputs", "1", "--report"}).out,
              HasSubstr("quantised outputs            0 steps apart at most, 0 % of the elements"));
}

// 64 numbers, once more as integers.
constexpr const char* kMany =
    R"(module {input_names:strings["x"],output_names:strings["q"]} (%0: tensor<1x64xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<u8>, [10]>} : () -> tensor<u8>
 (%3) = "onnx.Mul" (%0, %1) {} : (tensor<1x64xf32>, tensor<f32>) -> tensor<1x64xf32>
 (%4) = "onnx.QuantizeLinear" (%3, %1, %2) {} : (tensor<1x64xf32>, tensor<f32>, tensor<u8>) -> tensor<1x64xu8>
 () = "builtin.return" (%4) {} : (tensor<1x64xu8>) ->
}
)";

TEST_F(IrRunCompare, AllowsOneStepInAQuarterOfManyElements) {
  const std::string model = Write("a.ir", kMany);
  std::vector<float> x(64, 3);
  Accept({model, "--input", "x=" + WriteNpy("e.npy", "(1, 64)", x), "--output-dir", Path("e")});
  const auto off = [&](size_t count) {
    std::fill(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count), 4.0f);
    return Run({model, "--input", "x=" + WriteNpy("x.npy", "(1, 64)", x), "--expect",
                "q=" + Path("e/output_0.pb")});
  };
  const Outcome quarter = off(16), more = off(17), all = off(64);
  EXPECT_EQ(quarter.code, 0) << quarter.out;
  EXPECT_EQ(more.code, 1);
  EXPECT_THAT(more.out, HasSubstr("1 step of 1 at most, in 17 of 64 elements (26.6 %); more than a "
                                  "quarter of the elements, too much"));
  EXPECT_THAT(more.err,
              HasSubstr("outputs differ by a step in more than a quarter of the elements"));
  EXPECT_EQ(all.code, 1);
}

TEST_F(IrRunCompare, CountsNoPartsOfSteps) {
  Expect("d", {0, 1, 2, 3});
  const Outcome off =
      Run({Path("a.ir"), "--input", "x=" + WriteNpy("x.npy", "(1, 4)", {0, 1, 2, 3}), "--expect",
           "d=" + WriteNpy("d.npy", "(4, 1)", {0, 1.2f, 2, 3})});
  EXPECT_EQ(off.code, 1);
  EXPECT_THAT(off.out, HasSubstr("by no whole number of steps of 0.5, in 1 of 4 elements"));
  EXPECT_THAT(off.err, HasSubstr("outputs differ by no whole number of steps"));
}

TEST_F(IrRunCompare, TellsIntegersApartThatAreOneDouble) {
  const auto model = [&](const std::string& name, const std::string& value) {
    return Write(name,
                 "module {output_names:strings[\"y\"]} () {\n (%0) = \"builtin.constant\" () "
                 "{value:dense<tensor<1xi64>, [" +
                     value +
                     "]>} : () -> tensor<1xi64>\n () = \"builtin.return\" (%0) {} : "
                     "(tensor<1xi64>) ->\n}\n");
  };
  Accept({model("e.ir", "9007199254740993"), "--output-dir", Path("e")});
  const std::string expect = "y=" + Path("e/output_0.pb");
  EXPECT_EQ(Run({Path("e.ir"), "--expect", expect}).code, 0);
  const Outcome other = Run({model("a.ir", "9007199254740992"), "--expect", expect});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("allowed are 0"));
}

TEST_F(IrRunCompare, ReportsNoDifferenceOfWhatWasNotComparedThatWay) {
  const Outcome steps = Accept({Write("a.ir", kMany), "--random-inputs", "1", "--report"});
  EXPECT_THAT(steps.out, AllOf(HasSubstr("quantised outputs   "), Not(HasSubstr("largest diff"))));
  EXPECT_THAT(Accept({Write("b.ir", kModel), "--random-inputs", "1", "--report"}).out,
              HasSubstr("largest difference           0 of the largest output"));
}

}  // namespace
}  // namespace weft::tools
