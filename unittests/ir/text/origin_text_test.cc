// Where operations come from, in the text form.
#include <gmock/gmock.h>

#include "ir/origin/origin.h"
#include "unittests/ir/text/text_test_util.h"

namespace weft::ir {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Line(const std::string& tail) {
  return "{\n (%0) = \"t.x\" () {} : () -> tensor<2xf32>" + tail +
         "\n () = \"t.sink\" (%0) {} : (tensor<2xf32>) -> " + tail.substr(tail.empty() ? 0 : 1) +
         "\n}\n";
}

TEST(OriginText, RoundTripsBehindTheLocation) {
  for (const char* tail :
       {" loc(\"here\") from(\"a\", \"b\") by(\"r\", \"s\") doc(\"one\", \"two\\n\")",
        " from(\"a\")", " by(\"r\")", " from(\"\")", " doc(\"d\")", " from(\"a\") doc(\"d\")",
        ""}) {
    IrContext context;
    const auto program = MustParse(context, Line(tail));
    EXPECT_EQ(ExpectRoundTrip(*program, {.locations = true}), Line(tail));
    EXPECT_FALSE(RecordsOrigins(*program));
  }
}

TEST(OriginText, SaysWhatARecordedOperationComesFromIfItWasRewritten) {
  IrContext context;
  const auto program = MustParse(context, Line(" loc(\"here\")"));
  const std::string before = PrintProgram(*program, {.locations = true});
  RecordOrigins(*program);
  EXPECT_EQ(PrintProgram(*program, {.locations = true}), before);
  const Operation op = program->body().front();
  SetOrigin(op, {.sources = {Name("p\"q")}, .rules = {Name("r")}, .docs = {}});
  EXPECT_THAT(PrintProgram(*program, {.locations = true}),
              HasSubstr("loc(\"here\") from(\"p\\\"q\") by(\"r\")\n"));
  EXPECT_THAT(PrintProgram(*program), Not(HasSubstr("from(")));
}

TEST(OriginText, KeepsOneOfEqualNames) {
  IrContext context;
  const auto program = MustParse(context, Line(" from(\"a\", \"a\", \"b\", \"a\")"));
  EXPECT_EQ(ExpectRoundTrip(*program, {.locations = true}), Line(" from(\"a\", \"b\")"));
}

TEST(OriginText, RefusesWhatIsNoOrigin) {
  IrContext context;
  const auto error = [&](const std::string& tail) { return ParseError(context, Line(tail)); };
  EXPECT_THAT(error(" from()"), HasSubstr("<text>:2:"));
  EXPECT_THAT(error(" from x"), HasSubstr("before the names of an origin"));
  EXPECT_THAT(error(" from(\"a\""), HasSubstr("after the names of an origin"));
  EXPECT_THAT(error(" from(\"a\",)"), HasSubstr("<text>:2:"));
  EXPECT_THAT(error(" from(a)"), HasSubstr("<text>:2:"));
  for (const char* tail : {" by(\"r\") from(\"a\")", " from(\"a\") loc(\"l\")",
                           " from(\"a\") from(\"b\")", " doc(\"d\") by(\"r\")", " from(\"\\q\")"})
    EXPECT_NE(error(tail), "") << tail;
}

}  // namespace
}  // namespace weft::ir
