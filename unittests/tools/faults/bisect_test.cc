// ir-opt --bisect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/faults/wrong_rules.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// neg(neg(x)) => x, which is right; and relu-to-tanh.
std::string RightAndWrong() { return std::string(kDropNegs) + kReluToTanh; }

// A chain of neg(neg(exp(...))), `pairs` long, with a relu in the middle.
std::string Chain(int pairs) {
  const std::string type = "tensor<2x3xf32>";
  std::string text =
      "module {input_names:strings[\"x\"],output_names:strings[\"y\"]} (%0: " + type + ") {\n";
  int last = 0;
  const auto add = [&](const std::string& op) {
    text += " (%" + std::to_string(last + 1) + ") = \"onnx." + op + "\" (%" + std::to_string(last) +
            ") {} : (" + type + ") -> " + type + "\n";
    ++last;
  };
  for (int i = 0; i < pairs; ++i) {
    add("Neg");
    add("Neg");
    add("Sin");
    if (i == pairs / 2) add("Relu");
  }
  return text + " () = \"builtin.return\" (%" + std::to_string(last) + ") {} : (" + type +
         ") ->\n}\n";
}

class IrOptBisect : public IrOpt {
 protected:
  // A chain of 40 rewrites that are right and one that is wrong.
  Outcome Bisect(std::vector<std::string> flags) {
    flags.insert(flags.end(),
                 {Write("a.ir", Chain(40)), "--rules-file", Write("r.weft", RightAndWrong()),
                  "--pipeline", "none", "--bisect", "-o", Path("near.ir")});
    return Run(WithWrongRules(std::move(flags)));
  }
  Outcome RunNear(const std::string& model) {
    return Run(
        WithWrongRules({model, "--pipeline", "none", "--rules-file", Path("r.weft"), "--check"}));
  }
};

TEST_F(IrOptBisect, FindsTheOneWrongRewriteInLogarithmicallyManyRuns) {
  const Outcome outcome = Bisect({});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out,
              HasSubstr("bisect: 41 rewrites, 8 runs; the first one that is wrong:\n"));
  EXPECT_THAT(outcome.out,
              HasSubstr(" rules-file: relu-to-tanh at onnx.Relu: onnx.Relu -> onnx.Tanh\n"
                        "y: differs from the original by "));
}

TEST_F(IrOptBisect, WritesAModelOfThatRewriteThatIsWrongByItself) {
  const Outcome outcome = Bisect({});
  EXPECT_THAT(outcome.out,
              HasSubstr(Path("near.ir") + " holds what is around it and is wrong after ir-opt " +
                        Path("near.ir") + " --pipeline none --rules-file"));
  const std::string near = ReadFile(Path("near.ir"));
  EXPECT_EQ(CountOf(near, "\"onnx.Relu\""), 1u) << near;
  EXPECT_LE(CountOf(near, "onnx."), 30u);
  EXPECT_EQ(RunNear(Path("near.ir")).code, 1);
}

// With all that the check depended on; so that a shell takes it.
TEST_F(IrOptBisect, PrintsACommandThatFailsAsItDid) {
  const std::string plugin = fixtures::BuildPath("/plugins/good.so");
  const std::vector<std::string> flags = {Write("a.ir", Chain(4)),
                                          "--rules-file",
                                          Write("it's mine.weft", RightAndWrong()),
                                          "--pipeline",
                                          "none",
                                          "--bisect",
                                          "-o",
                                          Path("near me.ir"),
                                          "--check=5",
                                          "--tolerance",
                                          "0.001",
                                          "--dim-range",
                                          "n=2..8*2",
                                          "--load",
                                          plugin};
  const Outcome outcome = Run(WithWrongRules(flags));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const size_t at = outcome.out.find("ir-opt '");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  const std::string command = outcome.out.substr(at);
  EXPECT_EQ(command, "ir-opt '" + Path("near me.ir") + "' --pipeline none --load " + plugin +
                         " --rules-file '" + Path("it'\\''s mine.weft") +
                         "' --trust-rules --dim-range 'n=2..8*2' --check=5 --tolerance 0.001\n");
  const Outcome again =
      RunProgram({"/bin/sh", "-c", "PATH=" + fixtures::BuildPath("/bin") + ":$PATH; " + command});
  EXPECT_EQ(again.code, 1) << again.err;
  EXPECT_THAT(again.err, HasSubstr("differs from the original by "));
}

TEST_F(IrOptBisect, AsksTheCommandOfTheUser) {
  const std::string test = Write("test.sh", "#!/bin/sh\n! grep -q onnx.Tanh \"$1\"\n");
  const Outcome outcome = Bisect({"--test", "sh " + test});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("relu-to-tanh at onnx.Relu"),
                                 HasSubstr("the test ended with exit 1")));
  EXPECT_EQ(CountOf(ReadFile(Path("near.ir")), "onnx."), 1u);
}

// Not that of the next attempt, which another pass makes.
TEST_F(IrOptBisect, NamesThePassOfARewriteThatWasItsLast) {
  constexpr const char* kUnitFactor =
      R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "onnx.Mul" (%0, %1) {} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
 (%3) = "onnx.Relu" (%2) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%3) {} : (tensor<2x3xf32>) ->
}
)";
  const Outcome outcome = Run({Write("a.ir", kUnitFactor), "--bisect", "-o", Path("near.ir"),
                               "--test", "grep -q onnx.Mul"});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 canonicalize: drop-unit-factor at onnx.Mul"),
                                 HasSubstr("is wrong after ir-opt " + Path("near.ir") +
                                           " --passes canonicalize -o MODEL")));
}

TEST_F(IrOptBisect, PrintsTheFlagsOfAConversion) {
  const std::string test = Write("test.sh", "#!/bin/sh\n! grep -q f16 \"$1\"\n");
  const Outcome outcome =
      Run({Write("a.ir", Chain(2)), "--pipeline", "none", "--convert", "f16", "--keep-io", "--keep",
           "Relu,Neg", "--bisect", "-o", Path("near.ir"), "--test", "sh " + test});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr(" convert-floats"),
                                 HasSubstr("is wrong after ir-opt " + Path("near.ir") +
                                           " --pipeline none --convert f16 --keep-io --keep "
                                           "Relu,Neg -o MODEL")));
}

TEST_F(IrOptBisect, TakesACrashOfTheCommandForAFailure) {
  const std::string test =
      Write("test.sh", "#!/bin/sh\nif grep -q onnx.Tanh \"$1\"; then kill -SEGV $$; fi\n");
  const Outcome outcome = Bisect({"--test", "sh " + test});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("relu-to-tanh at onnx.Relu"),
                                 HasSubstr("the test ended with exit 139")));
}

TEST_F(IrOptBisect, FindsARuleThatBreaksThePasses) {
  const std::string same = Write("same.weft", R"(
rule same {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Relu(%x) }
  replace %0 with !0
}
)");
  const Outcome outcome =
      Bisect({"--rules-file", same, "--disable-rule", "relu-to-tanh", "--paranoid"});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("rules-file: same at onnx.Relu"),
                                 HasSubstr("rule same was applied but changed nothing")));
}

TEST_F(IrOptBisect, SaysThatNothingIsWrong) {
  const std::vector<std::string> flags = {Write("a.ir", Chain(4)), "--bisect", "-o",
                                          Path("near.ir")};
  const Outcome outcome = Run(flags);
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("ir-opt: error: --bisect: nothing is wrong after all "));
  EXPECT_THAT(Files(), ElementsAre("a.ir"));
}

TEST_F(IrOptBisect, SaysThatTheModelIsWrongBeforeAnyRewrite) {
  const Outcome outcome = Bisect({"--test", "false"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--bisect: the program is wrong before any rewrite"));
}

// The test runs in a copy of a copy of the program.
TEST_F(IrOptBisect, LeavesNothingBehindWhenInterrupted) {
  std::filesystem::create_directory(Path("tmp"));
  const std::string test =
      Write("test.sh", "#!/bin/sh\nkill -INT $(cut -d' ' -f4 /proc/$PPID/stat)\nexit 1\n");
  setenv("TMPDIR", Path("tmp").c_str(), 1);
  const Outcome outcome = Bisect({"--test", "exec sh " + test});
  unsetenv("TMPDIR");
  EXPECT_EQ(outcome.code, 2) << outcome.signal;
  EXPECT_EQ(outcome.err, "ir-opt: error: interrupted\n");
  EXPECT_TRUE(std::filesystem::is_empty(Path("tmp")));
  EXPECT_THAT(Files(), ElementsAre("a.ir", "r.weft", "test.sh", "tmp"));
}

TEST_F(IrOptBisect, RefusesBadUsage) {
  const std::string in = Write("a.ir", Chain(1));
  EXPECT_THAT(Refusal({in, "--bisect"}), HasSubstr("--bisect needs -o OUT"));
  EXPECT_THAT(Refusal({in, "--test", "true"}), HasSubstr("--test needs --bisect or --reduce"));
  EXPECT_THAT(Refusal({in, "-o", Path("b.ir"), "--bisect", "--reduce", "--test", "true"}),
              HasSubstr("two searches"));
  EXPECT_THAT(Refusal({in, "-o", Path("b.ir"), "--bisect", "--test", "./no-such-command"}),
              HasSubstr("'./no-such-command' cannot be run"));
  EXPECT_THAT(Refusal({in, "-o", Path("b.ir"), "--bisect", "--fail-if", "drop-unit-factor<1"}),
              HasSubstr("--bisect runs the passes many times, --fail-if is for one run"));
}

// Every folded constant is a rewrite of its own.
TEST_F(IrOptBisect, CountsFoldedConstants) {
  constexpr const char* kSums =
      R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [2.0]>} : () -> tensor<f32>
 (%2) = "onnx.Exp" (%1) {} : (tensor<f32>) -> tensor<f32>
 (%3) = "onnx.Sin" (%2) {} : (tensor<f32>) -> tensor<f32>
 (%4) = "onnx.Add" (%0, %3) {} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
 () = "builtin.return" (%4) {} : (tensor<2xf32>) ->
}
)";
  const Outcome outcome =
      Run({Write("a.ir", kSums), "--bisect", "-o", Path("near.ir"), "--test", "grep -q onnx.Sin"});
  EXPECT_EQ(outcome.code, 0) << outcome.err << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("2 constant-folding: fold at onnx.Sin: "));
}

}  // namespace
}  // namespace weft::tools
