// What ir-opt and ir-run read is never replaced by what they write.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/output_path.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;

// y = x + w, where w lies in the file `w.bin`.
constexpr const char* kAdd =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<300xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<300xf32>, file "w.bin" at 0 size 1200>} : () -> tensor<300xf32>
 (%2) = "onnx.Add" (%0, %1) {} : (tensor<300xf32>, tensor<300xf32>) -> tensor<300xf32>
 () = "builtin.return" (%2) {} : (tensor<300xf32>) ->
}
)";

class KeptFiles : public IrOpt {
 protected:
  const std::string model = Write("a.ir", kAdd), weights = Write("w.bin", std::string(1200, '?'));
  std::string RefusalOfRun(const std::vector<std::string>& arguments) const {
    std::vector<std::string> command = {"ir-run"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const Outcome outcome = RunProgram(command);
    EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
    return outcome.err;
  }
};

TEST_F(KeptFiles, AreWeightsOfTheModel) {
  const std::string before = ReadFile(weights);
  EXPECT_THAT(Refusal({model, "--html", weights}), HasSubstr("that file is read"));
  EXPECT_THAT(RefusalOfRun({model, "--random-inputs", "1", "--svg", weights}),
              HasSubstr("that file is read"));
  std::filesystem::create_hard_link(weights, Path("w.onnx"));
  EXPECT_THAT(Refusal({model, "-o", Path("w.onnx")}), HasSubstr("that file is read"));
  std::filesystem::create_symlink("w.bin", Path("linked.onnx"));
  EXPECT_THAT(Refusal({model, "-o", Path("linked.onnx")}), HasSubstr("that file is read"));
  EXPECT_EQ(ReadFile(weights), before);
}

TEST_F(KeptFiles, AreWeightsBesideTheOutput) {
  Accept({model, "-o", Path("b.ir")});
  std::filesystem::rename(Path("b.ir"), Path("c.ir"));
  const std::string before = ReadFile(Path("b.ir.weights"));
  EXPECT_THAT(Refusal({Path("c.ir"), "-o", Path("b.ir")}),
              HasSubstr("b.ir.weights: that file is read"));
  EXPECT_EQ(ReadFile(Path("b.ir.weights")), before);
  EXPECT_FALSE(std::filesystem::exists(Path("b.ir")));
}

TEST_F(KeptFiles, AreRules) {
  const std::string rules = Write("r.weft", "");
  EXPECT_THAT(Refusal({model, "--rules-file", rules, "--dot", rules}),
              HasSubstr("would overwrite"));
  EXPECT_THAT(RefusalOfRun({model, "--rules-file", rules, "--tune", rules}),
              HasSubstr("would overwrite"));
}

// An expected output that is written first would be what is expected.
TEST_F(KeptFiles, AreValues) {
  const std::string values = Path("v");
  std::filesystem::create_directory(values);
  ASSERT_EQ(RunProgram({"ir-run", model, "--random-inputs", "1", "--output-dir", values,
                        "--save-inputs", values})
                .code,
            0);
  const std::string x = ReadFile(values + "/input_0.pb"), y = ReadFile(values + "/output_0.pb");
  EXPECT_THAT(RefusalOfRun({model, "--random-inputs", "2", "--output-dir", values, "--expect",
                            "y=" + values + "/output_0.pb"}),
              HasSubstr("--output-dir " + values + ": would overwrite"));
  EXPECT_THAT(
      RefusalOfRun({model, "--save-inputs", values, "--input", "x=" + values + "/../v/input_0.pb"}),
      HasSubstr("--save-inputs " + values + ": would overwrite"));
  EXPECT_EQ(ReadFile(values + "/input_0.pb"), x);
  EXPECT_EQ(ReadFile(values + "/output_0.pb"), y);
}

// Of two that one run writes to one file, one would be lost.
TEST_F(KeptFiles, AreOtherOutputs) {
  const std::string values = Path("v");
  std::filesystem::create_directory(values);
  EXPECT_THAT(RefusalOfRun({model, "--random-inputs", "1", "--output-dir", values, "--svg",
                            values + "/output_0.pb"}),
              HasSubstr("--output-dir " + values + ": would overwrite"));
  EXPECT_THAT(RefusalOfRun({model, "--random-inputs", "1", "--save-inputs", values, "--dot",
                            values + "/../v/input_0.pb"}),
              HasSubstr("--save-inputs " + values + ": would overwrite"));
  EXPECT_TRUE(std::filesystem::is_empty(values));
}

TEST(OutputPath, IsOneFileHoweverItIsSpelt) {
  EXPECT_TRUE(NamesSameFile("no_such.onnx", "./no_such.onnx"));
  EXPECT_TRUE(NamesSameFile("no_such/a.svg", "no_such/./b/../a.svg"));
  EXPECT_TRUE(
      NamesSameFile("no_such.svg", (std::filesystem::current_path() / "no_such.svg").string()));
  EXPECT_FALSE(NamesSameFile("no_such.onnx", "no_such.svg"));
  EXPECT_THAT(CheckOutputPath("--svg", "./no_such.onnx", {"no_such.onnx"}).message(),
              HasSubstr("--svg ./no_such.onnx: would overwrite no_such.onnx"));
}

}  // namespace
}  // namespace weft::tools
