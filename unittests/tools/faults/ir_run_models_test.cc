// ir-run --compare with another model, --save-inputs, and the flags for passes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/faults/wrong_rules.h"
#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// y = op(a * 1) + b, with the inputs in this order.
std::string Model(const std::string& op, const std::string& first, const std::string& second,
                  const std::string& output = "y") {
  const std::string a = first == "a" ? "%0" : "%1", b = first == "a" ? "%1" : "%0";
  return "module {input_names:strings[\"" + first + "\",\"" + second +
         "\"],output_names:strings[\"" + output +
         "\"]} (%0: tensor<4xf32>, %1: tensor<4xf32>) {\n"
         " (%2) = \"builtin.constant\" () {value:dense<tensor<f32>, [1.0]>} : () -> tensor<f32>\n"
         " (%3) = \"onnx.Mul\" (" +
         a + ", %2) {} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>\n (%4) = \"onnx." + op +
         "\" (%3) {} : (tensor<4xf32>) -> tensor<4xf32>\n (%5) = \"onnx.Add\" (%4, " + b +
         ") {} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>\n () = \"builtin.return\" (%5) "
         "{} : (tensor<4xf32>) ->\n}\n";
}

class IrRunModels : public ProgramTest {
 protected:
  IrRunModels() : ProgramTest("ir-run") {}
  void SetUp() override { relu_ = Write("relu.ir", Model("Relu", "a", "b")); }
  Outcome Compare(const std::string& model) {
    return Run({relu_, "--random-inputs", "1", "--compare", Write("other.ir", model)});
  }
  std::string relu_;
};

TEST_F(IrRunModels, AreComparedByTheNamesOfInputsAndOutputs) {
  const Outcome swapped = Compare(Model("Relu", "b", "a"));
  EXPECT_EQ(swapped.code, 0) << swapped.err;
  EXPECT_EQ(swapped.out, "y: differs from " + Path("other.ir") + " by 0 of its largest element\n");
  const Outcome other = Compare(Model("Tanh", "a", "b"));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr("of its largest element, too much"));
  EXPECT_THAT(other.err, HasSubstr("outputs differ by"));
}

TEST_F(IrRunModels, AreOnlyComparedWhenTheyHaveTheSameInterface) {
  EXPECT_THAT(Compare(Model("Relu", "a", "c")).err, HasSubstr("other.ir: has an input 'c'"));
  EXPECT_THAT(Compare(Model("Relu", "a", "b", "z")).err, HasSubstr("other.ir: has no output 'y'"));
  EXPECT_THAT(Refusal({relu_, "--random-inputs", "1", "--compare", Path("missing.onnx")}),
              HasSubstr("missing.onnx"));
}

TEST_F(IrRunModels, GetTheInputsThatAnotherRunHasSaved) {
  const std::string saved = Path("saved");
  const Outcome first =
      Accept({relu_, "--random-inputs", "7", "--save-inputs", saved, "--output-dir", saved});
  EXPECT_THAT(first.out, testing::IsEmpty());
  const std::vector<std::string> inputs = {"--input", "a=" + saved + "/input_0.pb", "--input",
                                           "b=" + saved + "/input_1.pb"};
  std::vector<std::string> again = {relu_, "--expect", "y=" + saved + "/output_0.pb", "--tolerance",
                                    "0"};
  again.insert(again.end(), inputs.begin(), inputs.end());
  EXPECT_THAT(Accept(again).out, HasSubstr("differs from what is expected by 0 of"));
  again[0] = Write("tanh.ir", Model("Tanh", "a", "b"));
  EXPECT_EQ(Run(again).code, 1);
}

TEST_F(IrRunModels, TakeTheFlagsForPassesOfIrOpt) {
  const std::vector<std::string> run = {relu_, "--random-inputs", "1"};
  const auto with = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), run.begin(), run.end());
    return flags;
  };
  EXPECT_THAT(Accept(with({"--passes", "canonicalize", "--stats=all"})).err,
              AllOf(HasSubstr("drop-unit-factor"), Not(HasSubstr("fuse-elementwise"))));
  EXPECT_THAT(Accept(with({"--print-rewrites", "--max-rewrites", "1"})).err,
              testing::StartsWith("1 "));
  EXPECT_EQ(Run(with({"--fail-if", "drop-unit-factor<1"})).code, 0);
  EXPECT_EQ(Run(with({"--fail-if", "drop-unit-factor>=1"})).code, 1);
  EXPECT_EQ(
      Run(with({"--disable-rule", "drop-unit-factor", "--fail-if", "drop-unit-factor<1"})).code, 1);
  EXPECT_THAT(Refusal(with({"--numerics", "exakt"})), HasSubstr("did you mean 'exact'?"));
  EXPECT_THAT(Refusal(with({"--report", "--passes", "canonicalize"})), HasSubstr("--report"));
  const Outcome wrong = Run(WithWrongRules(
      with({"--rules-file", Write("r.weft", kReluToTanh), "--compare", "reference"})));
  EXPECT_EQ(wrong.code, 1) << wrong.err;
  EXPECT_THAT(wrong.out, HasSubstr("y: differs from the reference by"));
}

TEST_F(IrRunModels, SayWhereTheFlagsForPassesAreExplained) {
  EXPECT_THAT(Accept({"--help"}).out,
              AllOf(HasSubstr("flags for passes that ir-opt has"), HasSubstr("--save-inputs DIR"),
                    Not(HasSubstr("--verify-each"))));
}

}  // namespace
}  // namespace weft::tools
