// ir-run --tune and --tuned: what is written, what is read, and that neither changes what a model computes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kSoftmax =
    R"(module {input_names:strings["x"],output_names:strings["y"]} (%0: tensor<2x3xf32>) {
 (%1) = "onnx.Softmax" (%0) {axis:-1} : (tensor<2x3xf32>) -> tensor<2x3xf32>
 () = "builtin.return" (%1) {} : (tensor<2x3xf32>) ->
}
)";

class IrRunTune : public ProgramTest {
 protected:
  IrRunTune() : ProgramTest("ir-run") {}
  std::string Tuned() const { return Path("tuned.txt"); }
  // As --tune writes it, for this machine, with other lines behind its own.
  std::string TableWith(const std::string& lines) {
    Accept({Write("m.ir", kSoftmax), "--random-inputs", "1", "--passes", "inplace", "--tune",
            Tuned(), "--isa", "portable", "--threads", "1"});
    return ReadFile(Tuned()) + lines;
  }
  Outcome RunTuned(const std::string& text, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {Write("m.ir", kSoftmax),
                                          "--random-inputs",
                                          "1",
                                          "--tuned",
                                          Write("given.txt", text),
                                          "--isa",
                                          "portable",
                                          "--threads",
                                          "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(IrRunTune, WritesWhatItMeasured) {
  const Outcome outcome = Accept(
      {Write("m.ir", kSoftmax), "--random-inputs", "1", "--tune", Tuned(), "--threads", "1"});
  EXPECT_THAT(outcome.err, IsEmpty());
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("without layout"), HasSubstr("with fuse-matmuls"),
                    HasSubstr("chosen"), HasSubstr("different operations: 1; run by")));
  EXPECT_THAT(ReadFile(Tuned()),
              AllOf(HasSubstr("weft kernel choices 1\nmachine: "), HasSubstr("; 1 thread\n")));
}

TEST_F(IrRunTune, IsFollowed) {
  const std::string table =
      TableWith("onnx.Softmax {axis:-1} (f32[2,3]) -> f32[2,3]: reference - 1.50\n");
  const Outcome outcome = RunTuned(table, {"--profile"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("reference"));
  EXPECT_EQ(RunTuned(table, {"--compare", "reference"}).code, 0);
}

TEST_F(IrRunTune, NamesPassesThatAreBetter) {
  const std::string table = TableWith("");
  EXPECT_EQ(RunTuned("passes: canonicalize,inplace\n" + table).code, 0);
  EXPECT_EQ(RunTuned("passes: canonicalize,inplace\r\n" + table).code, 0);
  const Outcome unknown = RunTuned("passes: canonicalise\n" + table);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, AllOf(HasSubstr("given.txt"), HasSubstr("unknown pass 'canonicalise'")));
  const Outcome both = RunTuned("passes: canonicalize\n" + table, {"--passes", "inplace"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, HasSubstr("names passes, as do --pipeline and --passes"));
}

TEST_F(IrRunTune, OfAnotherMachineIsNotUsed) {
  const Outcome outcome = RunTuned("weft kernel choices 1\nmachine: an abacus\n");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("not used, it is for an abacus and this is "));
}

TEST_F(IrRunTune, RefusesWhatIsNoTable) {
  const auto error = [&](const std::string& text) {
    const Outcome outcome = RunTuned(text);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(error("nonsense"), AllOf(HasSubstr("given.txt"), HasSubstr("line 1: expected")));
  EXPECT_THAT(error("passes: inplace\nweft kernel choices 1\nmachine: m\nx: y"),
              HasSubstr("line 4: "));
  EXPECT_THAT(error("passes: "), HasSubstr("unknown pass ''"));
  EXPECT_THAT(error("weft kernel choices 1\nmachine: m\nx: nativ - 1.2\n"),
              HasSubstr("line 3: unknown provider 'nativ'; did you mean 'native'?"));
}

TEST_F(IrRunTune, WarnsOfWhatIsOfAnotherModel) {
  const std::string other = "onnx.Softmax {axis:-1} (f32[2,4]) -> f32[2,4]: reference - 1.50\n";
  const Outcome none = RunTuned(TableWith(other));
  EXPECT_EQ(none.code, 0);
  EXPECT_THAT(none.err, HasSubstr("none of the 1 kernels that it chooses is of this model"));
  const Outcome one = RunTuned(
      TableWith(other + "onnx.Softmax {axis:-1} (f32[2,3]) -> f32[2,3]: reference - 1.50\n"));
  EXPECT_THAT(one.err, IsEmpty());
  EXPECT_THAT(RunTuned(TableWith("")).err, IsEmpty());
}

TEST_F(IrRunTune, OverwritesNoInputAndDoesNothingElse) {
  const std::string model = Write("m.ir", kSoftmax);
  const auto error = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {model, "--random-inputs", "1"});
    const Outcome outcome = Run(arguments);
    EXPECT_EQ(outcome.code, 2);
    return outcome.err;
  };
  EXPECT_THAT(error({"--tune", model}), HasSubstr("would overwrite"));
  EXPECT_EQ(ReadFile(model), kSoftmax);
  EXPECT_THAT(error({"--tune", Tuned(), "--bench"}), HasSubstr("--bench is for another run"));
  EXPECT_THAT(error({"--tune", Tuned(), "--tuned", Tuned()}), HasSubstr("--tuned"));
  EXPECT_THAT(error({"--tune", Tuned(), "--save-inputs", Path("in")}),
              HasSubstr("--tune finds what is best, --save-inputs is for another run"));
  EXPECT_THAT(error({"--tune", Tuned(), "--fail-if", "drop-unit-factor<1"}),
              HasSubstr("--tune finds what is best, --fail-if is for another run"));
}

}  // namespace
}  // namespace weft::tools
