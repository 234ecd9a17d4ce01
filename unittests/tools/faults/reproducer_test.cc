// What ir-opt and ir-run leave behind when they crash or find a mistake of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "unittests/sanitizers.h"
#include "unittests/test_paths.h"
#include "unittests/tools/faults/wrong_rules.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kRelu =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
}
)";
// A rule that --paranoid finds to do nothing.
constexpr const char* kNothing = R"(
rule nothing {
  numerics exact
  source { %0 = onnx.Relu(%x) }
  result { !0 = onnx.Relu(%x) }
  replace %0 with !0
}
)";

class Reproducers : public IrOpt {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(Path("left"));
    setenv("WEFT_REPRODUCERS", Path("left").c_str(), 1);
  }
  void TearDown() override { unsetenv("WEFT_REPRODUCERS"); }
  // The one folder that was left.
  std::filesystem::path Left() const {
    std::vector<std::filesystem::path> folders;
    for (const auto& entry : std::filesystem::directory_iterator(Path("left")))
      folders.push_back(entry.path());
    EXPECT_EQ(folders.size(), 1u);
    return folders.empty() ? std::filesystem::path() : folders[0];
  }
  // What the script writes to stderr, run where the programs of this build are found.
  std::string ErrorsOfScript() const {
    const std::string command = "PATH=" + fixtures::BuildPath("/bin") + ":$PATH '" +
                                (Left() / "run.sh").string() + "' >/dev/null 2>'" + Path("errors") +
                                "'";
    EXPECT_NE(std::system(command.c_str()), 0);
    return ReadFile(Path("errors"));
  }
};

TEST_F(Reproducers, HoldTheFilesAndTheFlagsOfAnInternalError) {
  const std::vector<std::string> flags = {
      Write("a b.ir", kRelu), "--rules-file", Write("r.weft", kNothing),
      "--paranoid",           "--numerics",   "exact"};
  const Outcome outcome = Run(WithWrongRules(flags));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(CountOf(outcome.err, "\n"), 1u);
  EXPECT_THAT(outcome.err, HasSubstr("applied but changed nothing (" + Left().string() +
                                     "/run.sh runs it again)"));
  EXPECT_EQ(ReadFile(Left() / "a b.ir"), kRelu);
  EXPECT_EQ(ReadFile(Left() / "r.weft"), kNothing);
  std::filesystem::remove(Path("a b.ir"));
  EXPECT_THAT(ErrorsOfScript(), HasSubstr("applied but changed nothing"));
}

TEST_F(Reproducers, HoldTheModelThatStdinWas) {
  const std::vector<std::string> flags = {
      "ir-opt", "-", "--format", "ir", "--rules-file", Write("r.weft", kNothing), "--paranoid"};
  const Outcome outcome = RunProgram(WithWrongRules(flags), kRelu);
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_EQ(ReadFile(Left() / "stdin"), kRelu);
  EXPECT_THAT(ErrorsOfScript(), HasSubstr("applied but changed nothing"));
}

// A command that ends the program which runs it, by way of a shell.
TEST_F(Reproducers, RunCommandsThatWereCopied) {
  const std::string test =
      Write("cmd", "#!/bin/sh\nkill -SEGV $(cut -d ' ' -f 4 /proc/$PPID/stat)\nexit 1\n");
  std::filesystem::permissions(test, std::filesystem::perms::owner_all);
  const Outcome outcome =
      Run({Write("a.ir", kRelu), "--reduce", "--test", test, "-o", Path("b.ir")});
  EXPECT_THAT(outcome.err, HasSubstr("runs it again"));
  EXPECT_THAT(ReadFile(Left() / "run.sh"), HasSubstr(" --test ./cmd "));
  EXPECT_EQ(std::filesystem::status(Left() / "cmd").permissions(),
            std::filesystem::perms::owner_all);
}

TEST_F(Reproducers, FindFoldersAgain) {
  ASSERT_EQ(RunProgram({"ir-run", Write("a.ir", kRelu), "--random-inputs", "1", "--save-inputs",
                        Path("sets")})
                .code,
            0);
  const std::string sets = std::filesystem::relative(Path("sets")).string();
  Run(WithWrongRules({Write("a.ir", kRelu), "--rules-file", Write("r.weft", kNothing), "--paranoid",
                      "--quantize", "static", "--calibrate", sets}));
  const std::string script = ReadFile(Left() / "run.sh");
  EXPECT_THAT(script, HasSubstr(" --calibrate /"));
  EXPECT_THAT(script, HasSubstr("/sets"));
}

TEST_F(Reproducers, AreLeftByACrash) {
  bool killed = false;
  // In the two seconds of measuring after it has warned of so many threads.
  const Outcome outcome =
      RunProgram({"ir-run", kBertTiny, "--random-inputs", "1", "--threads", "256", "--bench"}, "",
                 [&](pid_t program, const std::string& err) {
                   if (!err.empty() && !std::exchange(killed, true)) kill(program, SIGSEGV);
                 });
  EXPECT_EQ(outcome.code, kSanitized ? 1 : -1);  // a sanitizer ends the program itself
  EXPECT_THAT(outcome.err, ContainsRegex("ir-run: error: crashed; .*/run.sh runs it again\n"));
  EXPECT_TRUE(ReadFile(Left() / "bert_tiny.onnx") == ReadFile(kBertTiny));
  EXPECT_THAT(ReadFile(Left() / "run.sh"),
              HasSubstr("exec ir-run bert_tiny.onnx --random-inputs 1 "));
}

TEST_F(Reproducers, AreNotLeftByMistakesOfTheUser) {
  Refusal({Write("a.ir", "nonsense")});
  Refusal({Write("a.ir", kRelu), "--dim", "=4"});
  EXPECT_TRUE(std::filesystem::is_empty(Path("left")));
}

TEST_F(Reproducers, CanBeTurnedOff) {
  setenv("WEFT_REPRODUCERS", "", 1);
  const Outcome outcome = Run(WithWrongRules(
      {Write("a.ir", kRelu), "--rules-file", Write("r.weft", kNothing), "--paranoid"}));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, Not(HasSubstr("runs it again")));
}

}  // namespace
}  // namespace weft::tools
