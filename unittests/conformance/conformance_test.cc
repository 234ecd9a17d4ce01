// The program, on data that the tests write.
#include <gmock/gmock.h>

#include <cstdlib>

#include "ir/dialects/onnx.h"
#include "ir/text/parser.h"
#include "tools/onnx/export.h"
#include "tools/onnx/tensor_file.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModel =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x2xf32>) {
 (%1) = "onnx.OP" (%0) {} : (tensor<2x2xf32>) -> tensor<2x2xf32>
 () = "builtin.return" (%1) {} : (tensor<2x2xf32>) ->
})";

class Conformance : public ProgramTest {
 protected:
  Conformance() : ProgramTest("conformance") {}

  void SetUp() override {
    ProgramTest::SetUp();
    unsetenv("WEFT_BLESS");  // of tools/dev bless, which the program would obey
    ir::LoadOnnxDialect(context_);
  }

  void WriteModel(const std::string& path, const std::string& op) {
    std::string text = kModel;
    text.replace(text.find("OP"), 2, op);
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    const auto program = ir::ParseProgram(context_, text);
    ASSERT_EQ(program.status().message(), "");
    ASSERT_EQ(onnx::ExportOnnx(**program, Path(path)).message(), "");
  }
  void WriteTensor(const std::string& path, const std::vector<float>& values,
                   const ir::Shape& dims = {2, 2}) {
    std::filesystem::create_directories(std::filesystem::path(Path(path)).parent_path());
    const ir::Type type = context_.TensorType(ir::DataType::kF32, dims);
    const auto dense = context_.DenseAttrOf<float>(type, values);
    ASSERT_EQ(onnx::WriteTensorFile(Path(path), dense, "t").message(), "");
  }
  void WriteCase(const std::string& name, const std::string& op,
                 const std::vector<float>& expected) {
    const std::string folder = "data/node/" + name;
    WriteModel(folder + "/model.onnx", op);
    WriteTensor(folder + "/test_data_set_0/input_0.pb", {-1, 0.5f, -2, 4});
    WriteTensor(folder + "/test_data_set_0/output_0.pb", expected);
  }
  Outcome RunData(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"--data-only", "--data", Path("data"), "--tables", Path("tables")});
    return Run(more);
  }

  ir::IrContext context_;
};

// Its output is as many steps off as `expected` is from 2, 3, 1, 6.
constexpr const char* kQuantized =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x2xf32>) {
 (%1) = "builtin.constant" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>
 (%2) = "builtin.constant" () {value:dense<tensor<u8>, [2]>} : () -> tensor<u8>
 (%4) = "onnx.Mul" (%0, %1) {} : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
 (%3) = "onnx.QuantizeLinear" (%4, %1, %2) {} : (tensor<2x2xf32>, tensor<f32>, tensor<u8>) -> tensor<2x2xu8>
 () = "builtin.return" (%3) {} : (tensor<2x2xu8>) ->
})";

TEST_F(Conformance, AllowsOneStepOfQuantizedValuesAndSaysSo) {
  const auto expect = [&](const std::vector<uint8_t>& y) {
    const std::string folder = Path("data/node/test_q");
    std::filesystem::create_directories(folder + "/test_data_set_0");
    const auto program = ir::ParseProgram(context_, kQuantized);
    ASSERT_EQ(program.status().message(), "");
    ASSERT_EQ(onnx::ExportOnnx(**program, folder + "/model.onnx").message(), "");
    WriteTensor("data/node/test_q/test_data_set_0/input_0.pb", {0, 1, -1, 4});
    const ir::Type type = context_.TensorType(ir::DataType::kU8, ir::Shape{2, 2});
    ASSERT_EQ(onnx::WriteTensorFile(folder + "/test_data_set_0/output_0.pb",
                                    context_.DenseAttrOf<uint8_t>(type, y), "t")
                  .message(),
              "");
  };
  expect({2, 3, 1, 6});
  EXPECT_EQ(RunData({"--bless", "--report", Path("r.md")}).code, 0);
  EXPECT_THAT(ReadFile(Path("r.md")), Not(HasSubstr("step")));
  expect({2, 4, 1, 5});
  EXPECT_EQ(RunData({"--report", Path("r.md")}).code, 0);
  EXPECT_THAT(ReadFile(Path("r.md")),
              HasSubstr("`node/test_q` (fuse) pass: output 0 (y): 1 step of 1 off in 2 of 4 values "
                        "(50 %)\n"));
  expect({2, 5, 1, 6});
  EXPECT_EQ(RunData().code, 1);
}

TEST_F(Conformance, BlessesATableAndFailsOnARegressionFromIt) {
  WriteCase("test_relu", "Relu", {0, 0.5f, 0, 4});
  WriteCase("test_abs", "Abs", {1, 0.5f, 2, 4});
  EXPECT_THAT(RunData().out, HasSubstr("not in the table: node/test_abs\n"));
  EXPECT_EQ(RunData({"--bless"}).code, 0);
  EXPECT_THAT(ReadFile(Path("tables/data.txt")),
              HasSubstr("\nnode/test_abs pass\nnode/test_relu pass\n"));
  const Outcome same = RunData();
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_THAT(same.out, Not(HasSubstr("bless")));

  WriteCase("test_abs", "Abs", {1, 0.5f, -2, 4});
  const Outcome worse = RunData();
  EXPECT_EQ(worse.code, 1);
  EXPECT_EQ(worse.err, "conformance: error: 2 regressions\n");
  EXPECT_THAT(worse.out,
              HasSubstr("regression: node/test_abs (fuse): fail, was pass: output 0 (y): "
                        "1 of 4 values differ, first at [1,0]: 2, expected -2\n"));
  EXPECT_EQ(RunData({"--filter", "relu"}).code, 0);
}

TEST_F(Conformance, SaysToBlessAnImprovement) {
  WriteCase("test_relu", "Relu", {0, 0.5f, 0, 4});
  std::filesystem::create_directories(Path("tables"));
  Write("tables/data.txt", "node/test_relu crash\n");
  const Outcome better = RunData();
  EXPECT_EQ(better.code, 0) << better.err;
  EXPECT_THAT(better.out, HasSubstr("improvement: node/test_relu (none): pass, was crash\n"));
  EXPECT_THAT(better.out, HasSubstr("2 improvements"));
  EXPECT_THAT(better.out, HasSubstr("--bless"));
}

TEST_F(Conformance, TellsRefusalsFromWrongResults) {
  WriteCase("test_shape", "Relu", {0, 0.5f, 0, 4});
  WriteTensor("data/node/test_shape/test_data_set_0/output_0.pb", {0, 0.5f, 0, 4}, {4});
  WriteCase("test_input", "Relu", {0, 0.5f, 0, 4});
  WriteTensor("data/node/test_input/test_data_set_0/input_0.pb", {0, 1}, {2});
  WriteCase("test_no_kernel", "NoSuchOp", {0, 0.5f, 0, 4});
  WriteCase("test_garbage", "Relu", {0, 0.5f, 0, 4});
  Write("data/node/test_garbage/model.onnx", "no model");
  EXPECT_EQ(RunData({"--bless"}).code, 0);
  const std::string table = ReadFile(Path("tables/data.txt"));
  EXPECT_THAT(table, HasSubstr("\nnode/test_garbage error: "));
  EXPECT_THAT(table, HasSubstr("\nnode/test_input error: input 'x'"));
  EXPECT_THAT(table, HasSubstr("\nnode/test_no_kernel unsupported: onnx.NoSuchOp: "));
  EXPECT_THAT(table,
              HasSubstr("\nnode/test_shape fail: output 0 (y): shape [2,2], expected [4]\n"));
  EXPECT_THAT(table, Not(HasSubstr(Path("data"))));
}

TEST_F(Conformance, FeedsLightModelsARamp) {
  WriteModel("data/light_relu.onnx", "Relu");
  WriteTensor("data/light_relu_output_0.pb", {0, 0.25f, 0.5f, 0.75f});
  EXPECT_EQ(RunData({"--bless"}).code, 0);
  EXPECT_THAT(ReadFile(Path("tables/data.txt")), HasSubstr("\nlight/test_light_relu pass\n"));
}

TEST_F(Conformance, WritesAReportWithALinePerOperator) {
  WriteCase("test_relu", "Relu", {0, 0.5f, 0, 4});
  WriteCase("test_abs", "Abs", {1, 0.5f, 2, 5});
  EXPECT_EQ(RunData({"--report", Path("report/r.md"), "--pipeline", "none"}).code, 0);
  const std::string report = ReadFile(Path("report/r.md"));
  EXPECT_THAT(report, HasSubstr("\n| data | node | 1 |  |  |  | 1 |  |  | 2 |\n"));
  EXPECT_THAT(report, HasSubstr("\n| Abs |  |  |  |  | 1 |  |  | 1 |\n| Relu | 1 |"));
  EXPECT_THAT(report, HasSubstr("- `data` `node/test_abs` (none) fail: output 0 (y): 1 of 4"));
}

TEST_F(Conformance, RefusesWhatItCannotUse) {
  std::filesystem::create_directories(Path("empty"));
  WriteCase("test_relu", "Relu", {0, 0.5f, 0, 4});
  const std::string data = Path("data");
  EXPECT_THAT(Refusal({"--data-only", "--data", Path("empty")}), HasSubstr("no tests; expected"));
  EXPECT_THAT(Refusal({"--data-only", "--data", Path("none")}), HasSubstr("not a folder"));
  EXPECT_THAT(Refusal({"--data-only", "--data", data, "--filter", "("}),
              HasSubstr("not a regular"));
  EXPECT_THAT(Refusal({"--data-only", "--data", data, "--filter", "zz"}), HasSubstr("no test has"));
  EXPECT_THAT(Refusal({"--data-only", "--data", data, "--pipeline", "fus"}), HasSubstr("'fuse'"));
  EXPECT_THAT(Refusal({"--data-only"}, /*code=*/3), HasSubstr("libonnx-testdata"));
}

}  // namespace
}  // namespace weft::tools
