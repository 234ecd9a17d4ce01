// Where operations come from: ir-opt --print-origins, --explain, written ONNX; ir-run --profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

// softmax(relu(matmul(x, w) + b))
constexpr const char* kLinear =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<4x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<3x2xf32>, [1.0,2.0,3.0,4.0,5.0,6.0]>} : () -> tensor<3x2xf32>
 (%2) = "builtin.constant" () {value:dense<tensor<2xf32>, [1.0,2.0]>} : () -> tensor<2xf32>
 (%3) = "onnx.MatMul" (%0, %1) {} : (tensor<4x3xf32>, tensor<3x2xf32>) -> tensor<4x2xf32> loc("mm")
 (%4) = "onnx.Add" (%3, %2) {} : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xf32> loc("plus")
 (%5 "r") = "onnx.Relu" (%4) {} : (tensor<4x2xf32>) -> tensor<4x2xf32>
 (%6 "y") = "onnx.Softmax" (%5) {axis:-1} : (tensor<4x2xf32>) -> tensor<4x2xf32> loc("soft")
 () = "builtin.return" (%6) {} : (tensor<4x2xf32>) ->
}
)";
constexpr const char* kFused =
    "\"fused\\.linear\" [^\n]* from\\(\"mm\", \"plus\", \"%r\"\\) "
    "by\\(\"[^\n]*\"fuse-gemm\"";

class IrOptOrigins : public IrOpt {
 protected:
  void SetUp() override { in_ = Write("a.ir", kLinear); }
  std::string Print(const std::string& in, std::vector<std::string> more) const {
    more.insert(more.begin(), in);
    return Accept(more).out;
  }
  std::string in_;
};

TEST_F(IrOptOrigins, ArePrintedOnRequest) {
  EXPECT_THAT(Print(in_, {"--pipeline", "fuse"}), Not(HasSubstr("from(")));
  const std::string out = Print(in_, {"--pipeline", "fuse", "--print-origins"});
  EXPECT_THAT(out, ContainsRegex(kFused));
  EXPECT_THAT(out, HasSubstr("-> tensor<4x2xf32> loc(\"soft\")\n"));
  // What is printed is read, and printed again.
  EXPECT_EQ(Print(Write("b.ir", out), {"--pipeline", "fuse", "--print-origins"}), out);
}

TEST_F(IrOptOrigins, AreInTextFilesOnRequest) {
  Accept({in_, "-o", Path("b.ir"), "--pipeline", "fuse"});
  EXPECT_THAT(ReadFile(Path("b.ir")), Not(HasSubstr("from(")));
  Accept({in_, "-o", Path("b.ir"), "--pipeline", "fuse", "--print-origins"});
  EXPECT_THAT(ReadFile(Path("b.ir")), ContainsRegex(kFused));
}

TEST_F(IrOptOrigins, AreInWrittenModelsAndSurviveASecondRun) {
  Accept({in_, "-o", Path("b.onnx"), "--pipeline", "fuse"});
  EXPECT_THAT(ReadFile(Path("b.onnx")),
              AllOf(HasSubstr("mm+plus+%r"), HasSubstr("weft.sources"),
                    HasSubstr(R"(["mm","plus","%r"])"), HasSubstr("weft.rules")));
  EXPECT_THAT(Print(Path("b.onnx"), {"--print-origins"}), ContainsRegex(kFused));
  Accept({Path("b.onnx"), "-o", Path("c.onnx"), "--pipeline", "fuse"});
  EXPECT_EQ(ReadFile(Path("c.onnx")), ReadFile(Path("b.onnx")));
}

TEST_F(IrOptOrigins, OfAModelThatIsNotChangedAreNotWritten) {
  Accept({in_, "-o", Path("b.onnx"), "--pipeline", "none"});
  EXPECT_THAT(ReadFile(Path("b.onnx")), Not(HasSubstr("weft.")));
}

TEST_F(IrOptOrigins, AreShownByExplain) {
  const std::string out = Print(in_, {"--pipeline", "fuse", "--explain", "fuse-gemm@r"});
  EXPECT_THAT(out, ContainsRegex(kFused));
}

TEST_F(IrOptOrigins, AreShownByProfiles) {
  const Outcome run = RunProgram({"ir-run", in_, "--random-inputs", "1", "--profile"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, ContainsRegex("fused\\.linear [^\n]* mm\\+plus\\+%r  [^\n]*fuse-linear"));
  EXPECT_THAT(run.out, ContainsRegex("onnx\\.Softmax [^\n]* soft *\n"));
}

TEST_F(IrOptOrigins, ThatAreNoneAreRefusedInOneLine) {
  const std::string good = " from(\"a\") by(\"b\")";
  const auto with = [](const std::string& tail) {
    std::string text = kLinear;
    return text.replace(text.find(" loc(\"mm\")"), 10, tail);
  };
  Accept({Write("good.ir", with(good))});
  for (const char* tail : {" from(", " from()", " from(\"a\" \"b\")", " from(\"a\",)", " from(a)",
                           " from(\"a", " by(\"r\") from(\"a\")", " from(\"a\") from(\"a\")", " by",
                           " doc(1)", " origin(\"a\")", " from(\"\\xZZ\")"})
    EXPECT_THAT(Refusal({Write("bad.ir", with(tail)), "--print-origins", "-o", Path("out.ir")}),
                HasSubstr("bad.ir:"))
        << tail;
  EXPECT_THAT(Files(), Not(Contains("out.ir")));
}

}  // namespace
}  // namespace weft::tools
