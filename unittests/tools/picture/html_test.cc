// ir-opt --html, --svg, --dot; ir-run --html.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unittests/tools/subprocess.h"

namespace weft::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class IrOptHtml : public IrOpt {};

class IrRunHtml : public ProgramTest {
 protected:
  IrRunHtml() : ProgramTest("ir-run") {}
};

TEST_F(IrOptHtml, WritesOneFileAndPrintsNothing) {
  const Outcome outcome = Accept({kBertTiny, "--pipeline", "fuse", "--html", Path("a.html")});
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_THAT(Files(), ElementsAre("a.html"));
  const std::string page = ReadFile(Path("a.html"));
  EXPECT_THAT(page, HasSubstr("<title>bert_tiny.onnx</title>"));
  EXPECT_THAT(page, HasSubstr("\"pipeline\":\"fuse\""));
}

TEST_F(IrOptHtml, DoesNotChangeWhatIsWritten) {
  Accept({kBertTiny, "--pipeline", "fuse", "-o", Path("a.onnx")});
  Accept({kBertTiny, "--pipeline", "fuse", "-o", Path("b.onnx"), "--html", Path("b.html")});
  EXPECT_TRUE(ReadFile(Path("a.onnx")) == ReadFile(Path("b.onnx")));
}

TEST_F(IrOptHtml, HasTheDifferencesOfCheck) {
  Accept(
      {kBertTiny, "--pipeline", "fuse", "--check", "-o", Path("a.onnx"), "--html", Path("a.html")});
  const std::string page = ReadFile(Path("a.html"));
  EXPECT_THAT(page, HasSubstr("\"outputs\":[{\"n\":\"182\",\"d\":"));
}

TEST_F(IrOptHtml, IsThereWhenTheCheckFails) {
  const Outcome outcome = Run({kBertTiny, "--pipeline", "fuse", "--check", "--tolerance", "0", "-o",
                               Path("a.onnx"), "--html", Path("a.html")});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(Files(), ElementsAre("a.html"));
  EXPECT_THAT(ReadFile(Path("a.html")), Not(HasSubstr("\"outputs\":[]")));
}

TEST_F(IrOptHtml, RefusesFilesThatItMustNotOrCannotWrite) {
  const std::string model = Write("a.ir", ReadFile(fixtures::TestData("/models/unit_factor.ir")));
  const std::string text = ReadFile(model);
  EXPECT_THAT(Refusal({model, "--html", model}), HasSubstr("would overwrite"));
  EXPECT_THAT(Refusal({model, "--html", Path("./a.ir.weights"), "-o", Path("b.ir")}),
              HasSubstr("would overwrite"));
  EXPECT_THAT(Refusal({model, "--html", Path("b.ir"), "-o", Path("b.ir")}),
              HasSubstr("would overwrite"));
  EXPECT_THAT(Refusal({model, "--html", Path("no/a.html")}), HasSubstr("there is no folder"));
  EXPECT_THAT(Refusal({model, "--html", folder_.string()}), HasSubstr("is a folder"));
  EXPECT_THAT(Refusal({model, "--html", "-"}), HasSubstr("expected a file"));
  EXPECT_THAT(
      Refusal({model, "--html", Path("a.html"), "--reduce", "--test", "true", "-o", Path("b.ir")}),
      HasSubstr("one run of the passes"));
  EXPECT_THAT(Refusal({model, model, "--html", Path("a.html"), "--output-dir", Path("out")}),
              HasSubstr("for one model"));
  EXPECT_EQ(ReadFile(model), text);
  EXPECT_THAT(Files(), ElementsAre("a.ir"));
}

TEST_F(IrOptHtml, DrawsForDocuments) {
  const Outcome outcome =
      Accept({kBertTiny, "--pipeline", "fuse", "--svg", Path("a.svg"), "--dot", Path("a.dot")});
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_THAT(Files(), ElementsAre("a.dot", "a.svg"));
  EXPECT_THAT(ReadFile(Path("a.svg")), HasSubstr(">fused.layer_norm</text>"));
  EXPECT_THAT(ReadFile(Path("a.dot")), HasSubstr("digraph picture {"));
  EXPECT_THAT(Refusal({kBertTiny, "--svg", Path("b"), "--dot", Path("b")}),
              HasSubstr("--dot " + Path("b") + ": would overwrite"));
}

TEST_F(IrRunHtml, ShowsTimeAndDifferences) {
  const Outcome outcome = Accept(
      {kBertTiny, "--random-inputs", "1", "--compare", "reference", "--html", Path("a.html")});
  EXPECT_THAT(outcome.out, HasSubstr("differs from the reference by"));
  EXPECT_THAT(Files(), ElementsAre("a.html"));
  const std::string page = ReadFile(Path("a.html"));
  EXPECT_THAT(page, HasSubstr("\"run\":{\"steps\":[{\"o\":"));
  EXPECT_THAT(page, HasSubstr("\"outputs\":[{\"n\":\"182\",\"d\":"));
}

TEST_F(IrRunHtml, IsThereWhenOutputsDiffer) {
  const Outcome outcome = Run({kBertTiny, "--threads", "1", "--random-inputs", "1", "--compare",
                               "reference", "--tolerance", "0", "--html", Path("a.html")});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  EXPECT_THAT(Files(), ElementsAre("a.html"));
}

TEST_F(IrRunHtml, RefusesWhatShowsNoRunAndWhatItReads) {
  const std::string x = WriteNpy("x.npy", "(2, 3)", {1, 2, 3, 4, 5, 6});
  const std::string model = fixtures::TestData("/models/unit_factor.ir");
  EXPECT_THAT(Refusal({model, "--html", Path("a.html"), "--can-run"}), HasSubstr("--can-run none"));
  EXPECT_THAT(Refusal({model, "--input", "x=" + x, "--html", x}), HasSubstr("would overwrite"));
  EXPECT_THAT(Files(), ElementsAre("x.npy"));
}

}  // namespace
}  // namespace weft::tools
