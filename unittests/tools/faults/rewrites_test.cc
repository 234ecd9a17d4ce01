// --max-rewrites and --print-rewrites.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// tanh(x * 1) * 1
constexpr const char* kUnits =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2 "m") = "onnx.Mul" (%0, %1) {} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
 (%3) = "onnx.Tanh" (%2) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%4) = "onnx.Mul" (%3, %1) {} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
 () = "builtin.return" (%4) {} : (tensor<2xf32>) ->
}
)";

size_t Products(const Outcome& outcome) { return CountOf(outcome.out, "onnx.Mul"); }

TEST_F(IrOpt, StopsAfterTheRewritesThatAreAllowed) {
  const std::string in = Write("a.ir", kUnits);
  EXPECT_EQ(Products(Accept({in})), 0u);
  EXPECT_EQ(Products(Accept({in, "--max-rewrites", "1"})), 1u);
  EXPECT_EQ(Products(Accept({in, "--max-rewrites", "0"})), 2u);
  EXPECT_EQ(Accept({in, "--max-rewrites", "1"}).err, "");
  EXPECT_THAT(Refusal({in, "--max-rewrites", "-1"}), HasSubstr("--max-rewrites"));
}

TEST_F(IrOpt, PrintsALineForEveryRewrite) {
  const Outcome all = Accept({Write("a.ir", kUnits), "--print-rewrites"});
  EXPECT_EQ(all.err,
            "1 canonicalize: drop-unit-factor at onnx.Mul: onnx.Mul -> nothing\n"
            "2 canonicalize: drop-unit-factor at onnx.Mul %m: onnx.Mul -> nothing\n");
  EXPECT_EQ(Products(all), 0u);
  EXPECT_THAT(Refusal({Path("a.ir"), "--print-rewrites=lines"}), HasSubstr("--print-rewrites"));
}

TEST_F(IrOpt, PrintsNoControlCharactersOfNames) {
  std::string text = kUnits;
  text.replace(text.find("%2 \"m\""), 6, R"(%2 "m\x1b[1m\nforged")");
  EXPECT_THAT(Accept({Write("a.ir", text), "--print-rewrites"}).err,
              HasSubstr(" at onnx.Mul %m\\x1b[1m\\x0aforged: onnx.Mul -> nothing\n"));
}

TEST_F(IrOpt, PrintsTheLinesThatARewriteChanges) {
  const Outcome one =
      Accept({Write("a.ir", kUnits), "--print-rewrites=diff", "--max-rewrites", "1"});
  EXPECT_THAT(one.err, StartsWith("1 canonicalize: drop-unit-factor at onnx.Mul: onnx.Mul -> "
                                  "nothing\n  -(%4) = \"onnx.Mul\" (%3, %1)"));
  EXPECT_THAT(one.err, HasSubstr("\n  -() = \"builtin.return\" (%4)"));
  EXPECT_THAT(one.err, HasSubstr("\n  +() = \"builtin.return\" (%3)"));
  EXPECT_THAT(one.err, Not(HasSubstr("onnx.Tanh")));
}

TEST_F(IrOpt, MakesOfARealModelWhatItMakesWithoutATrace) {
  Accept({kBertTiny, "--pipeline", "fuse", "-o", Path("plain.onnx")});
  const Outcome traced =
      Accept({kBertTiny, "--pipeline", "fuse", "--print-rewrites", "-o", Path("traced.onnx")});
  EXPECT_GT(CountOf(traced.err, "\n"), 20u);
  EXPECT_THAT(traced.err, HasSubstr("fuse-attention at "));
  EXPECT_TRUE(ReadFile(Path("plain.onnx")) == ReadFile(Path("traced.onnx")));
}

}  // namespace
}  // namespace weft::tools
