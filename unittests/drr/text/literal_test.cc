#include "drr/text/literal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::drr::text {
namespace {

using testing::HasSubstr;

// A compact notation in which tuples and lists look alike.
std::string Show(const Literal& l) {
  std::string text;
  switch (l.kind) {
    case Literal::kString:
      return "<" + l.text + ">";
    case Literal::kList:
    case Literal::kTuple:
      for (const Literal& item : l.items) text += (text.empty() ? "" : " ") + Show(item);
      return "[" + text + "]";
    case Literal::kDict:
      for (size_t i = 0; i < l.items.size(); i += 2)
        text += (text.empty() ? "" : " ") + Show(l.items[i]) + ":" + Show(l.items[i + 1]);
      return "{" + text + "}";
    default:
      return l.Describe();
  }
}

std::string Parsed(std::string_view text) {
  Diagnostics mistakes("f");
  const std::optional<Literal> literal = ParseLiteral(text, &mistakes);
  EXPECT_EQ(literal.has_value(), mistakes.ok());
  return literal ? Show(*literal) : mistakes.errors().at(0);
}

TEST(Literal, ReadsPython) {
  EXPECT_EQ(Parsed("{0: [(1, 'a'), (2, \"b\",)], 'k': (), 'n': None, -3: True}"),
            "{0:[[1 <a>] [2 <b>]] <k>:[] <n>:None -3:True}");
  EXPECT_EQ(Parsed("# a comment\nconfig = [  # another\n 1.5, +2, .5e-1, (3)]\n"),
            "[1.5 2 0.05 3]");
  EXPECT_EQ(Parsed(R"(['it\'s', "\x41\u00e9\n\\"])"), "[<it's> <A\xc3\xa9\n\\>]");
}

TEST(Literal, ReadsJson) {
  EXPECT_EQ(Parsed(R"({"a": [true, false, null], "b": {"c": -1e3}, "d": "\/\ud83d\ude00"})"),
            "{<a>:[True False None] <b>:{<c>:-1000} <d>:</\xf0\x9f\x98\x80>}");
}

TEST(Literal, SaysWhereAMistakeIs) {
  EXPECT_EQ(Parsed("{'a': 1,\n 'b' 2}"), "f:2:6: error: expected ':' after the key but found '2'");
  EXPECT_EQ(Parsed("[1 2]"), "f:1:4: error: expected ',' or ']' but found '2'");
  EXPECT_EQ(Parsed("{'a': 1 'b': 2}"), "f:1:9: error: expected ',' or '}' but found '''");
  EXPECT_EQ(Parsed("['a"), "f:1:2: error: the string has no end");
  EXPECT_EQ(Parsed("[1]\n]"), "f:2:1: error: expected the end of the file but found ']'");
  EXPECT_EQ(Parsed("{'a': 1, 'a': 2}"), "f:1:10: error: the key 'a' is there twice");
  EXPECT_EQ(Parsed("{[1]: 1}"), "f:1:2: error: a key must be a string or a number, not a list");
  EXPECT_EQ(Parsed("[maybe]"), "f:1:2: error: expected a value but found the name 'maybe'");
  EXPECT_EQ(Parsed("[f'x']"), "f:1:2: error: strings with the prefix 'f' are not read");
  EXPECT_EQ(Parsed("[1x]"), "f:1:2: error: '1x' is no number");
  EXPECT_EQ(Parsed("[-inf]"), "f:1:2: error: '-inf' is no number");
  EXPECT_EQ(Parsed("[99999999999999999999]"),
            "f:1:2: error: the number 99999999999999999999 is out of range");
  EXPECT_EQ(Parsed("['\\q']"), "f:1:4: error: unknown escape in a string");
  EXPECT_EQ(Parsed("['\\ud800']"), "f:1:4: error: half a surrogate pair in a string");
  EXPECT_EQ(Parsed(""), "f:1:1: error: expected a value but found the end of the file");
  EXPECT_EQ(Parsed(std::string_view("[\0]", 3)),
            "f:1:2: error: expected a value but found the byte 0x00");
}

TEST(Literal, RefusesWhatIsTooDeepTooLongOrTooMuch) {
  EXPECT_THAT(Parsed(std::string(100'000, '[')), HasSubstr("more than 64 levels deep"));
  EXPECT_THAT(Parsed(std::string(100'000, '(')), HasSubstr("more than 64 levels deep"));
  EXPECT_THAT(Parsed(std::string(kMaxRuleFileBytes + 1, ' ')), HasSubstr("must have at most"));
  std::string many = "[";
  for (int i = 0; i < 300'000; ++i) many += "1,";
  EXPECT_THAT(Parsed(many + "]"), HasSubstr("more than 200000 values"));
}

}  // namespace
}  // namespace weft::drr::text
