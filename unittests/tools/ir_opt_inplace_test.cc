// Marks of in-place execution through the tools: made, shown, refused, dropped, not exported.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

// The tanh with these attributes.
std::string Chain(const std::string& tanh) {
  return fmt::format(
      R"(module {{input_names:strings["x"],output_names:strings["y"]}} (%0: tensor<2x3xf32>) {{
 (%1) = "onnx.Relu" (%0) {{}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%2) = "onnx.Tanh" (%1) {{{}}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%3) = "onnx.Neg" (%1) {{}} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 (%4) = "onnx.Add" (%2, %3) {{}} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%4) {{}} : (tensor<2x3xf32>) ->
}}
)",
      tanh);
}

TEST_F(IrOpt, InplaceMarksAndReadsItsMarks) {
  const std::string marked = Accept({Write("a.ir", Chain("")), "--passes", "inplace"}).out;
  EXPECT_THAT(marked, AllOf(HasSubstr("\"onnx.Tanh\" (%1) {} "),
                            HasSubstr("\"onnx.Neg\" (%1) {inplace:array[0]} "),
                            HasSubstr("\"onnx.Add\" (%2, %3) {inplace:array[0]} ")));
  const std::string again = Write("b.ir", marked);
  EXPECT_EQ(Accept({again, "--pipeline", "none"}).out, marked);
  EXPECT_EQ(Accept({again, "--passes", "inplace"}).out, marked);
}

TEST_F(IrOpt, MarksThatLieAreOneLine) {
  const auto refusal = [&](const std::string& mark) {
    return Refusal({Write("a.ir", Chain(mark)), "--passes", "inplace"});
  };
  EXPECT_THAT(refusal("inplace:array[0]"),
              HasSubstr("onnx.Tanh: result 0 cannot be inplace over operand 0: its memory is read "
                        "later\n"));
  EXPECT_THAT(refusal("inplace:array[9223372036854775807]"), EndsWith("it is not given\n"));
  EXPECT_THAT(refusal("inplace:array[-2]"), EndsWith("it is not given\n"));
  for (const char* mark : {"inplace:array[]", "inplace:array[0,0]", "inplace:1", "inplace:\"0\"",
                           "inplace", "inplace:tensor<2xf32>"})
    EXPECT_THAT(refusal(mark), EndsWith("is not a list of one operand number per result\n"))
        << mark;
}

// What a pass rewrites may make them wrong.
TEST_F(IrOpt, OtherPassesDropMarks) {
  const std::string marked =
      Write("a.ir", Accept({Write("b.ir", Chain("")), "--passes", "inplace"}).out);
  EXPECT_THAT(Accept({marked, "--passes", "dead-code-elimination"}).out, Not(HasSubstr("inplace")));
  EXPECT_THAT(Accept({marked, "--pipeline", "fuse", "--verify-each"}).out,
              Not(HasSubstr("inplace")));
}

TEST_F(IrOpt, MarksAreNotExported) {
  const std::string in = Write("a.ir", Chain("")), out = Path("a.onnx");
  Accept({in, "--passes", "inplace", "-o", out});
  EXPECT_THAT(Accept({out, "--pipeline", "none"}).out,
              AllOf(HasSubstr("onnx.Neg"), Not(HasSubstr("inplace"))));
}

TEST_F(IrOpt, ListsTraits) {
  const std::string ops = Accept({"--list-ops"}).out;
  EXPECT_THAT(ops,
              MatchesRegex(".*\nonnx.Relu [^\n]* pure elementwise inplace read_only "
                           "value_semantics type_generic rank_generic atomic +any +max[^\n]*\n.*"));
  EXPECT_THAT(ops,
              MatchesRegex(".*\nonnx.Reshape [^\n]* pure read_only view type_generic  [^\n]*\n.*"));
  EXPECT_THAT(ops,
              MatchesRegex(".*\nfused.layer_norm [^\n]* inplace [^\n]* x, residual [^\n]*\n.*"));
}

}  // namespace
}  // namespace weft::tools
