// Many models at once: ir-opt A B FOLDER --output-dir DIR.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

// y = op(x * 1)
std::string Model(const std::string& op) {
  return R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "onnx.Mul" (%0, %1) {} : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
 (%3) = "onnx.)" +
         op + R"(" (%2) {} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%3) {} : (tensor<3xf32>) ->
}
)";
}

class Batch : public IrOpt {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_ / "in/sub");
    Write("in/a.ir", Model("Relu"));
    Write("in/sub/b.ir", Model("Tanh"));
    Write("in/sub/notes.txt", "no model");
  }
  // Every file below the folder `name`, in order.
  std::vector<std::string> Below(const std::string& name) const {
    std::vector<std::string> files;
    if (!std::filesystem::exists(Path(name))) return files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(name)))
      if (entry.is_regular_file())
        files.push_back(entry.path().lexically_relative(Path(name)).string());
    std::sort(files.begin(), files.end());
    return files;
  }
};

TEST_F(Batch, ModelsOfFoldersKeepTheirPaths) {
  const Outcome run = Accept({Path("in"), kBertTiny, "--output-dir", Path("out"), "-j", "3"});
  EXPECT_THAT(Below("out"), ElementsAre("a.ir", "bert_tiny.onnx", "sub/b.ir"));
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, AllOf(ContainsRegex("^model +operations +after +seconds +error"),
                             ContainsRegex("in/a.ir +4 +2 +[0-9]+\\.[0-9][0-9]"),
                             ContainsRegex("in/sub/b.ir +4 +2 +[0-9]"),
                             ContainsRegex("bert_tiny.onnx +170 +[0-9]+ +[0-9]")));
  EXPECT_EQ(CountOf(run.err, "\n"), 4u);
}

TEST_F(Batch, TellsOfLinksThatLeadNowhere) {
  std::filesystem::create_symlink("no_such.onnx", Path("in/gone.onnx"));
  const Outcome run = Run({Path("in"), "--output-dir", Path("out")});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, ContainsRegex("in/gone.onnx .*No such file"));
  EXPECT_THAT(Below("out"), ElementsAre("a.ir", "sub/b.ir"));
}

TEST_F(Batch, TheFolderMayBeTheOneWeAreIn) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directory(Path("here"));
  std::filesystem::current_path(Path("here"));
  const Outcome run = RunProgram({"ir-opt", Path("in"), "--output-dir", "."});
  std::filesystem::current_path(before);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(Below("here"), ElementsAre("a.ir", "sub/b.ir"));
}

TEST_F(Batch, WritesWhatOneRunWrites) {
  Accept({Path("in/sub/b.ir"), kBertTiny, "--output-dir", Path("out"), "--pipeline", "fuse"});
  Accept({kBertTiny, "-o", Path("one.onnx"), "--pipeline", "fuse"});
  EXPECT_EQ(ReadFile(Path("out/bert_tiny.onnx")), ReadFile(Path("one.onnx")));
  Accept({Path("in/sub/b.ir"), "-o", Path("one.ir"), "--pipeline", "fuse"});
  EXPECT_EQ(ReadFile(Path("out/b.ir")), ReadFile(Path("one.ir")));
}

TEST_F(Batch, PrintsNoControlCharactersOfNames) {
  const std::string in = Write("c\nforged.ir", Model("Relu"));
  const Outcome run = Accept({in, "--output-dir", Path("out"), "--print-rewrites"});
  EXPECT_THAT(run.err, AllOf(HasSubstr("/c\\x0aforged.ir:\n1 canonicalize: "),
                             ContainsRegex("/c.x0aforged.ir +4 +2 +"), Not(HasSubstr("\nforged"))));
}

TEST_F(Batch, TheFormatChangesSuffixes) {
  Accept({Path("in"), "--output-dir", Path("out"), "--format", "onnx"});
  EXPECT_THAT(Below("out"), ElementsAre("a.onnx", "sub/b.onnx"));
  Accept({Path("in/a.ir"), "-o", Path("one.onnx")});
  EXPECT_EQ(ReadFile(Path("out/a.onnx")), ReadFile(Path("one.onnx")));
}

TEST_F(Batch, OneThatFailsLeavesTheOthersAlone) {
  Write("in/broken.onnx", "no model");
  const Outcome run = Run({Path("in"), Path("missing.ir"), "--output-dir", Path("out")});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(Below("out"), ElementsAre("a.ir", "sub/b.ir"));
  EXPECT_THAT(run.err, AllOf(ContainsRegex("in/broken.onnx +[0-9.]+ +[^ ].*not a valid model"),
                             ContainsRegex("missing.ir +[0-9.]+ +[^ ]"),
                             EndsWith("ir-opt: error: 2 of 4 models failed\n")));
}

TEST_F(Batch, TheExitCodeIsThatOfTheWorst) {
  const std::string neg = Write("neg.ir", Model("Neg"));
  const std::vector<std::string> bound = {"--output-dir", Path("out"), "--fail-if",
                                          "drop-unit-factor<1"};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), bound.begin(), bound.end());
    return Run(arguments).code;
  };
  const std::string plain = Write("plain.ir", R"(module {} (%0: tensor<3xf32>) {
 (%1) = "onnx.Relu" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%1) {} : (tensor<3xf32>) ->
}
)");
  const std::string paddle =
      Write("paddle.ir",
            R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<3xf32>) {
 (%1) = "pd.relu" (%0) {} : (tensor<3xf32>) -> tensor<3xf32>
 () = "builtin.return" (%1) {} : (tensor<3xf32>) ->
}
)");
  EXPECT_EQ(Run({paddle, neg, "--output-dir", Path("out"), "--format", "onnx"}).code, 3);
  EXPECT_THAT(Below("out"), ElementsAre("neg.onnx"));
  EXPECT_EQ(run({neg, Path("in")}), 0);
  EXPECT_EQ(run({neg, plain}), 1);
  EXPECT_THAT(Below("out"), Not(::testing::Contains("plain.ir")));
  EXPECT_EQ(run({plain, Path("missing.ir"), neg}), 2);
}

TEST_F(Batch, ACrashIsAnErrorOfOneModel) {
  const Outcome run = Run({Path("in"), "--output-dir", Path("out"), "--load",
                           fixtures::BuildPath("/plugins/crash.so"), "--passes", "crash-on-tanh"});
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(run.signal, 0);
  EXPECT_THAT(run.err, ContainsRegex("in/sub/b.ir +[0-9.]+ +Aborted"));
  EXPECT_THAT(Below("out"), ElementsAre("a.ir"));
}

TEST_F(Batch, WhatAModelSaysFollowsItsName) {
  const Outcome run = Accept({Path("in"), "--output-dir", Path("out"), "--timing"});
  EXPECT_THAT(run.err, AllOf(HasSubstr("in/a.ir:\n"), HasSubstr("in/sub/b.ir:\n")));
}

TEST_F(Batch, TwoInputsOfOneOutputAreRefusedBeforeAnythingIsDone) {
  Write("b.ir", Model("Relu"));
  EXPECT_THAT(Refusal({Path("b.ir"), Path("in/sub/b.ir"), "--output-dir", Path("out")}),
              HasSubstr("b.ir and " + Path("in/sub/b.ir") + " would both be written to " +
                        Path("out/b.ir")));
  EXPECT_THAT(Refusal({Path("b.ir"), Path("b.ir"), "--output-dir", Path("out")}),
              HasSubstr("would both be written to"));
  Write("in/a.onnx", "");
  EXPECT_THAT(Refusal({Path("in"), "--format", "ir", "--output-dir", Path("out")}),
              HasSubstr("would both be written to " + Path("out/a.ir")));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(Batch, InputsAreNeverOverwritten) {
  EXPECT_THAT(Refusal({Path("in"), "--output-dir", Path("in")}),
              HasSubstr("would overwrite the input"));
  std::filesystem::create_directory_symlink(Path("in"), Path("link"));
  EXPECT_THAT(Refusal({Path("in/a.ir"), Path("in/sub/b.ir"), "--output-dir", Path("link")}),
              HasSubstr("would overwrite the input " + Path("in/a.ir")));
  Write("in/a.ir.weights", "of a.ir");
  std::filesystem::create_directories(Path("out"));
  std::filesystem::create_hard_link(Path("in/a.ir.weights"), Path("out/a.ir.weights"));
  EXPECT_THAT(Refusal({Path("in/a.ir"), Path("in/sub/b.ir"), "--output-dir", Path("out")}),
              HasSubstr("would overwrite the input " + Path("in/a.ir.weights")));
  EXPECT_EQ(ReadFile(Path("in/a.ir")), Model("Relu"));
}

TEST_F(Batch, WhatWasWrittenBelowAFolderIsNotReadAgain) {
  for (int i = 0; i < 2; ++i) Accept({Path("in"), "--output-dir", Path("in/out")});
  EXPECT_THAT(Below("in/out"), ElementsAre("a.ir", "sub/b.ir"));
}

TEST_F(Batch, FlagsOfOneModelAreRefused) {
  const std::string a = Path("in/a.ir"), b = Path("in/sub/b.ir");
  const std::string need = "several models, or a folder of them, need --output-dir DIR\n";
  EXPECT_THAT(Refusal({a, b}), EndsWith(need));
  EXPECT_THAT(Refusal({Path("in")}), EndsWith(need));
  EXPECT_THAT(Refusal({a, b, "-o", Path("c.ir"), "--output-dir", Path("out")}),
              EndsWith("-o is for one model, --output-dir for several\n"));
  EXPECT_THAT(Refusal({a, "-", "--format", "ir", "--output-dir", Path("out")}),
              HasSubstr("- is one model"));
  EXPECT_THAT(Refusal({a, b, "--output-dir", Path("out"), "--explain", "drop-unit-factor"}),
              HasSubstr("--explain, --bisect, --reduce and pictures are for one model"));
  EXPECT_THAT(Refusal({a, b, "--output-dir", Path("out"), "-j", "0"}),
              HasSubstr("-j 0: expected 1 to 1024"));
  EXPECT_THAT(Refusal({a, b, "--output-dir", Path("out"), "--format", "onx"}),
              HasSubstr("did you mean 'onnx'?"));
  EXPECT_THAT(Refusal({a, b, "--output-dir", Path("out"), "--pipeline", "fues"}),
              HasSubstr("did you mean 'fuse'?"));
  EXPECT_THAT(Refusal({a, Path("in/sub/notes.txt"), "--output-dir", Path("out")}),
              HasSubstr("expected a name that ends in .onnx or .ir"));
  EXPECT_THAT(Refusal({"--output-dir", Path("out")}), HasSubstr("no model given"));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(Batch, FoldersThatCannotBeUsedAreRefused) {
  std::filesystem::create_directories(Path("empty"));
  EXPECT_THAT(Refusal({Path("empty"), "--output-dir", Path("out")}),
              EndsWith("empty: holds no .onnx or .ir file\n"));
  Write("file", "");
  EXPECT_THAT(Refusal({Path("in"), "--output-dir", Path("file")}), HasSubstr("/file"));
}

TEST_F(Batch, AfterAnInterruptNoMoreAreStarted) {
  std::vector<std::string> arguments = {"ir-opt", "--output-dir", Path("out"), "--timing"};
  for (int i = 0; i < 40; ++i) {
    const std::string name = "many/" + std::to_string(100 + i) + ".onnx";
    std::filesystem::create_directories(folder_ / "many");
    std::filesystem::copy_file(kBertTiny, Path(name));
    arguments.push_back(Path(name));
  }
  bool sent = false;
  const Outcome run = RunProgram(arguments, "", [&](pid_t program, const std::string& err) {
    if (sent || err.find("100.onnx:\n") == std::string::npos) return;
    kill(program, SIGINT);
    sent = true;
  });
  EXPECT_EQ(run.signal, 0);
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, AllOf(ContainsRegex("100.onnx +170 +[0-9]+ +[0-9.]+"),
                             ContainsRegex("139.onnx +not started"),
                             ContainsRegex("error: [0-9]+ of 40 models failed\n$")));
}

}  // namespace
}  // namespace weft::tools
