// ir-run on models whose inputs and outputs are sequences, optionals and strings.
#include <gmock/gmock.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
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

TEST_F(IrRunValues, SaysThatAllAreNan) {
  const std::string model =
      Write("nan.ir",
            R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "onnx.Sqrt" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%1) {} : (tensor<2xf32>) ->
}
)");
  const auto run = [&](const std::vector<float>& x) {
    return Accept({model, "--input", "x=" + WriteNpy("x.npy", "(2,)", x)}).out;
  };
  EXPECT_EQ(run({-1, -2}), "y: f32[2] min nan mean nan max nan\n");
  EXPECT_EQ(run({-1, 4}), "y: f32[2] min 2 mean nan max 2\n");
}

TEST_F(IrRunValues, PrintsAndComparesComplexNumbers) {
  const std::string model =
      Write("complex.ir",
            R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xc64>) {
 (%1) = "onnx.Identity" (%0) {} : (tensor<2xc64>) -> tensor<2xc64>
 () = "builtin.return" (%1) {} : (tensor<2xc64>) ->
}
)");
  std::string npy = Npy("(2,)", {1, 2, 3, 4});
  npy.replace(npy.find("<f4"), 3, "<c8");
  const std::string x = Write("x.npy", npy);
  EXPECT_EQ(Accept({model, "--input", "x=" + x}).out, "y: c64[2]\n");
  EXPECT_EQ(Accept({model, "--input", "x=" + x, "--compare", "reference"}).out,
            "y: differs from the reference by 0 of its largest element\n");
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

// --- strings ----------------------------------------------------------------------------------

constexpr const char* kUpper =
    R"(module {input_names:strings["s"],output_names:strings["t"]} (%0: tensor<"n"xstr>) {
 (%1) = "onnx.StringNormalizer" (%0) {case_change_action:"UPPER"} : (tensor<"n"xstr>) -> tensor<"n"xstr>
 () = "builtin.return" (%1) {} : (tensor<"n"xstr>) ->
}
)";

// TensorProto: dims, data_type, string_data.
std::string Proto(const std::string& dims, const std::vector<std::string>& strings) {
  std::string bytes = dims + "\x10\x08";
  for (const std::string& s : strings) bytes += "\x32" + std::string(1, char(s.size())) + s;
  return bytes;
}

class IrRunStrings : public IrRunValues {
 protected:
  void SetUp() override {
    IrRunValues::SetUp();
    model = Write("upper.ir", kUpper);
    input = "s=" + Write("s.pb", Proto("\x08\x02", {"to", "be\n"}));
  }
  std::string model, input;
};

TEST_F(IrRunStrings, PrintsThem) {
  EXPECT_EQ(Accept({model, "--input", input}).out, "t: str[2] \"TO\" \"BE\\n\"\n");
}

TEST_F(IrRunStrings, MakesRandomOnes) {
  const std::string out = Accept({model, "--random-inputs", "1", "--dim", "n=12"}).out;
  EXPECT_THAT(out, MatchesRegex("t: str.12.( \"[A-Z]+\")+ ...\n"));
  EXPECT_EQ(out, Accept({model, "--random-inputs", "1", "--dim", "n=12"}).out);
  EXPECT_THAT(Refusal({model, "--random-inputs", "1", "--dim", "n=2", "--input-range", "s=0,1"}),
              HasSubstr("the range 0 to 1 does not fit the element type str"));
}

TEST_F(IrRunStrings, ComparesAndWritesThem) {
  Accept({model, "--input", input, "--output-dir", Path("out")});
  const std::string expected = "t=" + Path("out/output_0.pb");
  EXPECT_EQ(Accept({model, "--input", input, "--expect", expected}).out,
            "t: is equal to what is expected\n");
  EXPECT_EQ(Accept({model, "--input", input, "--compare", "reference"}).out,
            "t: is equal to the reference\n");
  const std::string other = "s=" + Write("o.pb", Proto("\x08\x02", {"to", "do"}));
  const Outcome differs = Run({model, "--input", other, "--expect", expected});
  EXPECT_EQ(differs.code, 1);
  EXPECT_EQ(differs.out, "t: differs from what is expected in 1 string\n");
  EXPECT_THAT(differs.err, HasSubstr("outputs differ in strings"));
  const std::string shorter = "s=" + Write("p.pb", Proto("\x08\x01", {"to"}));
  EXPECT_EQ(Run({model, "--input", shorter, "--expect", expected}).code, 1);
}

TEST_F(IrRunStrings, RefusesBadOnes) {
  const auto refusal = [&](const std::string& bytes) {
    return Refusal({model, "--input", "s=" + Write("bad.pb", bytes)});
  };
  EXPECT_THAT(refusal(Proto("\x08\x03", {"a"})), HasSubstr("holds 1 strings but its type needs 3"));
  // 2^62, and the product of two of those.
  const std::string huge = "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40";
  EXPECT_THAT(refusal(Proto(huge, {"a"})), HasSubstr("holds 1 strings"));
  EXPECT_THAT(refusal(Proto(huge + huge, {"a"})), HasSubstr("has more than 2^63 bytes"));
  EXPECT_THAT(refusal(Proto("\x08\x01\x08\x01", {"a"})), HasSubstr("input 's'"));
  EXPECT_THAT(refusal("\x08\x01\x10\x08\x4a\x01z"), HasSubstr("a string tensor has raw_data"));
}

}  // namespace
}  // namespace weft::tools
