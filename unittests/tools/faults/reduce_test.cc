// ir-opt --reduce.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class IrOptReduce : public IrOpt {
 protected:
  Outcome Reduce(const std::string& model, const std::string& test,
                 const std::string& out = "small.ir") {
    return Accept({model, "-o", Path(out), "--reduce", "--test", test});
  }
};

TEST_F(IrOptReduce, KeepsOfARealModelWhatTheTestAsksFor) {
  const Outcome outcome = Reduce(kBertTiny, "grep -q onnx.Softmax");
  EXPECT_THAT(outcome.out, HasSubstr("operations became 1 in "));
  EXPECT_THAT(outcome.out, HasSubstr("the test ends with exit 0"));
  const std::string small = ReadFile(Path("small.ir"));
  EXPECT_EQ(CountOf(small, "\"onnx."), 1u) << small;
  EXPECT_THAT(small, HasSubstr("\"onnx.Softmax\""));
  EXPECT_EQ(RunProgram({"ir-run", Path("small.ir"), "--random-inputs", "1"}).code, 0);
}

// y = sum of a chain of which two operations matter, far from each other.
constexpr const char* kChain =
    R"(module {input_names:strings["x","w"],output_names:strings["a","y"]} (%0: tensor<2xf32>, %1: tensor<2xf32>) {
 (%2) = "onnx.Sin" (%0) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%3) = "onnx.Exp" (%2) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%4) = "onnx.Neg" (%3) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%5) = "onnx.Abs" (%4) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%6) = "onnx.Tanh" (%5) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%7) = "onnx.Relu" (%6) {} : (tensor<2xf32>) -> tensor<2xf32>
 (%8) = "onnx.Add" (%7, %1) {} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
 () = "builtin.return" (%4, %8) {} : (tensor<2xf32>, tensor<2xf32>) ->
}
)";

TEST_F(IrOptReduce, BypassesWhatStandsBetweenTheOperationsThatMatter) {
  // One that reads what the other makes: exp and, somewhere behind it, tanh.
  const std::string test =
      Write("test.sh",
            "#!/bin/sh\nv=$(sed -n 's/.*(\\(%[0-9]*\\)) = \"onnx.Exp\".*/\\1/p' "
            "\"$1\")\n[ -n \"$v\" ] && grep -q onnx.Tanh \"$1\" && "
            "! grep -q \"return\\\" ($v\" \"$1\"\n");
  Reduce(Write("a.ir", kChain), "sh " + test);
  const std::string small = ReadFile(Path("small.ir"));
  EXPECT_EQ(CountOf(small, "\"onnx."), 2u) << small;
  EXPECT_THAT(small, HasSubstr("\"onnx.Tanh\" (%1)"));
}

TEST_F(IrOptReduce, KeepsTheExitCodeOfACommandThatFails) {
  const std::string test = Write("test.sh", "#!/bin/sh\ngrep -q Abs \"$1\" && exit 7\nexit 1\n");
  for (const char* out : {"small.onnx", "small.ir"}) {
    const Outcome outcome = Reduce(Write("a.ir", kChain), "sh " + test, out);
    EXPECT_THAT(outcome.out, HasSubstr("reduce: 7 operations became 1 in ")) << out;
    EXPECT_THAT(outcome.out, HasSubstr("the test ends with exit 7\n")) << out;
  }
}

TEST_F(IrOptReduce, LeavesNothingBehindWhenInterrupted) {
  std::filesystem::create_directory(Path("tmp"));
  setenv("TMPDIR", Path("tmp").c_str(), 1);
  const Outcome outcome = Run({Write("a.ir", kChain), "-o", Path("small.ir"), "--reduce", "--test",
                               "exec sh " + Write("test.sh", "#!/bin/sh\nkill -INT $PPID\n")});
  unsetenv("TMPDIR");
  EXPECT_EQ(outcome.code, 2) << outcome.signal;
  EXPECT_EQ(outcome.err, "ir-opt: error: interrupted\n");
  EXPECT_TRUE(std::filesystem::is_empty(Path("tmp")));
  EXPECT_THAT(Files(), ElementsAre("a.ir", "test.sh", "tmp"));
}

TEST_F(IrOptReduce, RefusesBadUsage) {
  const std::string in = Write("a.ir", kChain);
  EXPECT_THAT(Refusal({in, "--reduce", "--test", "true"}), HasSubstr("--reduce needs -o OUT"));
  EXPECT_THAT(Refusal({in, "--reduce", "-o", Path("b.ir")}), HasSubstr("--reduce needs --test"));
  EXPECT_THAT(Refusal({in, "--reduce", "-o", Path("b.ir"), "--test", "./none"}),
              HasSubstr("'./none' cannot be run"));
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {in, "--reduce", "-o", Path("b.ir"), "--test", "true"});
    return Refusal(flags);
  };
  EXPECT_THAT(with({"--fail-if", "drop-unit-factor<1"}),
              HasSubstr("--reduce runs no pass, --fail-if is for one run"));
  EXPECT_THAT(with({"--explain", "drop-unit-factor"}), HasSubstr("--explain is for one run"));
  EXPECT_THAT(with({"--check"}), HasSubstr("--reduce runs no pass, so that there is nothing for "));
  EXPECT_THAT(with({"--convert", "f16"}), HasSubstr("nothing for --convert"));
  EXPECT_THAT(with({"--quantize", "dynamic"}), HasSubstr("nothing for --quantize"));
  EXPECT_THAT(with({"--stats"}), HasSubstr("nothing for --stats"));
  EXPECT_THAT(Files(), ElementsAre("a.ir"));
}

}  // namespace
}  // namespace weft::tools
