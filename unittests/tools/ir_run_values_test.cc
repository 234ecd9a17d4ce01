// ir-run on models whose inputs and outputs are sequences and optionals.
#include <gmock/gmock.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// A sequence of x and x, and an optional without an element.
constexpr const char* kMake =
    R"(module {input_names:strings["x"],output_names:strings["s","o"]} (%0: tensor<2xf32>) {
 (%1) = "onnx.SequenceConstruct" (%0, %0) {} : (tensor<2xf32>, tensor<2xf32>) -> seq<tensor<2xf32>>
 (%2) = "onnx.Optional" () {type:type<tensor<f32>>} : () -> optional<tensor<f32>>
 () = "builtin.return" (%1, %2) {} : (seq<tensor<2xf32>>, optional<tensor<f32>>) ->
}
)";
// Whether the optional has an element, and one element of the sequence.
constexpr const char* kTake =
    R"(module {input_names:strings["s","o","i"],output_names:strings["has","y"]} (%0: seq<tensor<?xf32>>, %1: optional<tensor<f32>>, %2: tensor<i64>) {
 (%3) = "onnx.OptionalHasElement" (%1) {} : (optional<tensor<f32>>) -> tensor<bool>
 (%4) = "onnx.SequenceAt" (%0, %2) {} : (seq<tensor<?xf32>>, tensor<i64>) -> tensor<?xf32>
 () = "builtin.return" (%3, %4) {} : (tensor<bool>, tensor<?xf32>) ->
}
)";
// The sequence joined along an axis.
constexpr const char* kJoin =
    R"(module {input_names:strings["s"],output_names:strings["y"]} (%0: seq<tensor<*xf32>>) {
 (%1) = "onnx.ConcatFromSequence" (%0) {axis:0} : (seq<tensor<*xf32>>) -> tensor<*xf32>
 () = "builtin.return" (%1) {} : (tensor<*xf32>) ->
}
)";

class IrRunValues : public ProgramTest {
 protected:
  IrRunValues() : ProgramTest("ir-run") {}
  void SetUp() override {
    ProgramTest::SetUp();
    sequence = "s=" + Path("made/output_0.pb");
    nothing = "o=" + Path("made/output_1.pb");
    Accept({Write("make.ir", kMake), "--random-inputs", "1", "--output-dir", Path("made")});
  }
  std::string sequence, nothing;
};

TEST_F(IrRunValues, PrintsThem) {
  const std::string out = Accept({Path("make.ir"), "--random-inputs", "1"}).out;
  EXPECT_THAT(out, StartsWith("s: a sequence of 2\n  f32[2] min "));
  EXPECT_THAT(out, HasSubstr("\no: nothing\n"));
}

TEST_F(IrRunValues, ReadsWhatItWrote) {
  const std::string take = Write("take.ir", kTake);
  const std::string out =
      Accept({take, "--input", sequence, "--input", nothing, "--random-inputs", "1"}).out;
  EXPECT_THAT(out, StartsWith("has: bool[] min 0 mean 0 max 0\ny: f32[2] "));
  EXPECT_THAT(Accept({take, "--input", sequence, "--random-inputs", "1"}).out,
              StartsWith("has: bool[] min 1"));
  EXPECT_THAT(
      Accept({Path("make.ir"), "--random-inputs", "1", "--expect", sequence, "--expect", nothing})
          .out,
      HasSubstr("s: differs from what is expected by 0 of"));
}

TEST_F(IrRunValues, ComparesThem) {
  EXPECT_THAT(Accept({Path("make.ir"), "--random-inputs", "1", "--compare", "reference"}).out,
              HasSubstr("s: differs from the reference by 0 of"));
  const Outcome other = Run({Path("make.ir"), "--random-inputs", "2", "--expect", sequence});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("s: differs from what is expected by "));
}

TEST_F(IrRunValues, MakesRandomOnes) {
  EXPECT_THAT(Accept({Write("join.ir", kJoin), "--random-inputs", "1"}).out,
              StartsWith("y: f32[4,3] "));
  Accept({Path("join.ir"), "--random-inputs", "1", "--bench", "--profile"});
}

TEST_F(IrRunValues, RefusesBadOnes) {
  const std::string join = Write("join.ir", kJoin), take = Write("take.ir", kTake);
  EXPECT_THAT(Refusal({join, "--input", "s=" + Write("bad.pb", "garbage")}), HasSubstr("bad.pb"));
  EXPECT_THAT(Refusal({join}), HasSubstr("input 's' (seq<tensor<*xf32>>) is not given"));
  std::string text = kMake;
  text.replace(text.find("type<tensor<f32>>"), 17, "type<tensor<i64>>");
  EXPECT_THAT(Refusal({Write("type.ir", text), "--random-inputs", "1"}),
              HasSubstr("onnx.Optional"));
  text = kTake;
  text.replace(text.find("SequenceAt"), 10, "SequenceXX");
  EXPECT_THAT(Refusal({Write("op.ir", text), "--random-inputs", "1"}, 3),
              HasSubstr("onnx.SequenceXX: no kernel runs this op"));
}

}  // namespace
}  // namespace weft::tools
