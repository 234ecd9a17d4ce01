// - for stdin and stdout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// y = relu(x) + c
constexpr const char* kModel =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<3xf32>, [1.5,2.0,-3.25]>} : () -> tensor<3xf32>
 (%2) = "onnx.Relu" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 (%3) = "onnx.Add" (%2, %1) {} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
 (%4) = "onnx.Identity" (%3) {} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%4) {} : (tensor<3xf32>) ->
}
)";

class IrOptStream : public IrOpt {};
class IrRunStream : public ProgramTest {
 protected:
  IrRunStream() : ProgramTest("ir-run") {}
};

TEST_F(IrOptStream, TextComesFromStdinAndIsPrinted) {
  const Outcome run = Accept({"-", "--format", "ir"}, kModel);
  EXPECT_THAT(run.out, HasSubstr("onnx.Add"));
  EXPECT_EQ(CountOf(run.out, "onnx.Identity"), 0u);
}

TEST_F(IrOptStream, OnnxOfStdoutIsThatOfAFile) {
  const std::string in = Write("a.ir", kModel);
  Accept({in, "-o", Path("a.onnx")});
  const Outcome run = Accept({in, "-o", "-", "--format", "onnx"});
  EXPECT_EQ(run.out, ReadFile(Path("a.onnx")));
  const Outcome again = Accept({"-", "--format", "onnx", "-o", "-"}, run.out);
  EXPECT_EQ(again.out, run.out);
  EXPECT_EQ(again.err, "");
}

TEST_F(IrOptStream, TextOnStdoutIsWhole) {
  Accept({kBertTiny, "-o", Path("file.ir"), "--full-weights"});
  EXPECT_EQ(Accept({kBertTiny, "-o", "-", "--format", "ir"}).out, ReadFile(Path("file.ir")));
}

TEST_F(IrOptStream, AModelOfAPipeIsCheckedToo) {
  EXPECT_THAT(Accept({"-", "--format", "ir", "-o", Path("b.onnx"), "--check"}, kModel).err,
              HasSubstr("y"));
  EXPECT_THAT(Files(), ::testing::ElementsAre("b.onnx"));
}

TEST_F(IrOptStream, StdinNeedsAFormat) {
  EXPECT_THAT(Refusal({"-"}), EndsWith("stdin needs --format onnx or --format ir\n"));
  EXPECT_THAT(Refusal({"-", "--format", "onx"}),
              HasSubstr("unknown format 'onx'; did you mean 'onnx'?"));
}

TEST_F(IrOptStream, AFormatNeedsAStream) {
  EXPECT_THAT(Refusal({Write("a.ir", kModel), "--format", "onnx"}),
              EndsWith("--format is for stdin, stdout (- in place of a file) and --output-dir\n"));
}

TEST_F(IrOptStream, WhatIsNoModelIsRefused) {
  const auto refusal = [&](const std::string& input, const std::string& format) {
    const Outcome run = Run({"-", "--format", format, "-o", "-"}, input);
    EXPECT_EQ(run.code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(CountOf(run.err, "\n"), 1u) << run.err;
    EXPECT_THAT(run.err, StartsWith("ir-opt: error: stdin: "));
    return run.err;
  };
  EXPECT_THAT(refusal("", "ir"), HasSubstr("expected a model, but it is empty"));
  EXPECT_THAT(refusal("module {", "ir"), HasSubstr("1:"));
  EXPECT_THAT(refusal(kModel, "onnx"), HasSubstr("stdin"));
  refusal(Accept({Write("a.ir", kModel), "-o", "-", "--format", "onnx"}).out, "ir");
}

TEST_F(IrRunStream, AModelComesFromStdin) {
  const std::string x = WriteNpy("x.npy", "(3,)", {-1, 2, 4});
  const std::string y = WriteNpy("y.npy", "(3,)", {1.5f, 4, 0.75f});
  Accept({"-", "--format", "ir", "--input", "x=" + x, "--expect", "y=" + y}, kModel);
  Accept({"-", "--format", "ir", "--can-run"}, kModel);
}

TEST_F(IrRunStream, ItNeedsAFormatAndStdinForItself) {
  EXPECT_THAT(Refusal({"-"}), EndsWith("stdin needs --format onnx or --format ir\n"));
  EXPECT_THAT(Refusal({Write("a.ir", kModel), "--format", "ir"}),
              EndsWith("--format is for stdin: - in place of a file\n"));
  EXPECT_THAT(Refusal({"-", "--format", "ir", "--bench-blocks"}),
              EndsWith("--bench-blocks reads stdin, which is the model\n"));
}

}  // namespace
}  // namespace weft::tools
