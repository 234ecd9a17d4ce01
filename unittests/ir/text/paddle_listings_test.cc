// The listings of seeds/paddle_drr_pass_demo.txt, copied with their log prefixes.
#include <gmock/gmock.h>

#include "ir/analysis/verifier.h"
#include "ir/dialects/pd.h"
#include "ir/walk.h"
#include "unittests/ir/text/text_test_util.h"

namespace weft::ir {
namespace {

// A line of our text from a line of a listing: no prefix, types and lists by their one name.
std::string Normalised(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

class Listing : public testing::TestWithParam<const char*> {};

TEST_P(Listing, ParsesVerbatimAndPrintsAsItStands) {
  const std::string listing = ReadTestFile(GetParam());
  IrContext context;
  const auto program = MustParse(context, listing);
  std::string expected;
  for (size_t at = 0; at < listing.size();) {
    const size_t end = listing.find('\n', at);
    std::string line = listing.substr(at + 5, end - at - 5);
    at = end + 1;
    if (line == "{" || line == "}" || line.substr(0, 3) == " (%") expected += line + "\n";
  }
  expected = Normalised(expected, "pd.tensor", "tensor");
  expected = Normalised(expected, "IntArray[", "array[");
  expected = Normalised(expected, "name:out", "name:\"out\"");
  EXPECT_EQ(PrintProgram(*program), expected);
  ExpectRoundTrip(*program);
}

TEST_P(Listing, IsTypedByThePaddleDialect) {
  IrContext context;
  LoadPdDialect(context);
  std::vector<std::string> warnings;
  const auto program = MustParse(context, ReadTestFile(GetParam()), {.warnings = &warnings});
  EXPECT_EQ(Message(Verify(*program)), "");
  EXPECT_THAT(warnings, testing::ElementsAre());
  Walk(*program, [&](Operation op) {
    EXPECT_NE(op.def(), nullptr) << op.name();
    if (op.Is<pd::MatMul>()) {
      EXPECT_TRUE(op.attr("transpose_x").Is(AttrKind::kBool));
    } else if (op.Is<pd::Full>()) {
      EXPECT_TRUE(op.attr("value").Is(AttrKind::kFloat));
      EXPECT_EQ(op.attr("place"), context.VerbatimAttr("Place(cpu)"));
      EXPECT_EQ(op.result().type().shape(), op.attrs_of<pd::Full>().shape);
    } else if (op.Is<pd::Scale>()) {
      EXPECT_TRUE(op.attr("bias").Is(AttrKind::kFloat));
      EXPECT_TRUE(op.attrs_of<pd::Scale>().bias_after_scale);
    } else if (op.Is<pd::Fetch>()) {
      EXPECT_EQ(op.attrs_of<pd::Fetch>().name, "out");
    }
  });
  const std::string text = PrintProgram(*program);
  EXPECT_EQ(text.find("transpose_x:0"), text.npos);
  EXPECT_EQ(PrintProgram(*MustParse(context, text)), text);
}

INSTANTIATE_TEST_SUITE_P(Seed, Listing,
                         testing::Values("paddle_transpose_before.ir", "paddle_transpose_after.ir",
                                         "paddle_attention_before.ir",
                                         "paddle_attention_after.ir"));

TEST(ResnetListing, ItsCompleteLinesParse) {
  const std::string listing = ReadTestFile("paddle_resnet50.ir");
  IrContext context;
  std::vector<std::string> warnings;
  const auto program = MustParse(
      context, listing, {.file_name = "resnet", .allow_undefined = true, .warnings = &warnings});
  std::vector<std::string> names;
  Walk(*program, [&](Operation op) { names.emplace_back(op.name()); });
  std::vector<std::string> expected(7, "builtin.get_parameter");
  for (const char* name : {"pd.feed", "pd.feed", "pd.conv2d", "pd.batch_norm", "pd.relu",
                           "builtin.constant", "pd.fetch", "pd.fetch", "pd.fetch"})
    expected.emplace_back(name);
  EXPECT_EQ(names, expected);
  EXPECT_THAT(warnings,
              testing::ElementsAre("resnet:17:1: warning: the operation is cut short and left out",
                                   "resnet:19:1: warning: the operation is cut short and left out",
                                   "resnet:1:1: warning: the listing has no closing brace"));
  const Block body = program->body();
  EXPECT_EQ(body.front().attr("parameter_name").AsString(), "batch_norm_0.b_0");
  EXPECT_EQ(body.num_arguments(), 4u);  // %318, %880, %884, %896
  ExpectRoundTrip(*program);
}

TEST(ResnetListing, IsTypedByThePaddleDialect) {
  IrContext context;
  LoadPdDialect(context);
  const auto program =
      MustParse(context, ReadTestFile("paddle_resnet50.ir"), {.allow_undefined = true});
  EXPECT_EQ(Message(Verify(*program)), "");
  int found = 0;
  Walk(*program, [&](Operation op) {
    if (op.Is<pd::Conv2d>()) {
      ++found;
      EXPECT_EQ(op.attrs_of<pd::Conv2d>().paddings, (Ints{3, 3}));
      EXPECT_EQ(op.attr("padding_algorithm").AsString(), "EXPLICIT");
    } else if (op.Is<pd::BatchNorm>()) {
      ++found;
      EXPECT_EQ(op.attrs_of<pd::BatchNorm>().epsilon, 1e-5f);
      EXPECT_FALSE(op.attrs_of<pd::BatchNorm>().is_test);
    }
  });
  EXPECT_EQ(found, 2);
}

TEST(ResnetListing, UndefinedValuesAreAnErrorUnlessAskedFor) {
  IrContext context;
  const std::string listing = ReadTestFile("paddle_resnet50.ir");
  EXPECT_EQ(ParseError(context, listing).substr(0, 15), "<text>:9:1: err");
}

}  // namespace
}  // namespace weft::ir
