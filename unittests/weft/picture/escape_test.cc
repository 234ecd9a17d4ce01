#include "weft/picture/escape.h"

#include <gtest/gtest.h>

namespace weft::picture {
namespace {

const std::string kReplacement = "\xef\xbf\xbd";

TEST(PictureEscape, KeepsMarkupOutOfXml) {
  EXPECT_EQ(EscapeXml("a<b>&\"c\"é漢"), "a&lt;b&gt;&amp;&quot;c&quot;é漢");
  EXPECT_EQ(EscapeXml(std::string_view("a\0\nb\x7f", 5)), "a  b ");
}

TEST(PictureEscape, ReplacesWhatIsNoUtf8) {
  EXPECT_EQ(EscapeXml("a\xff"), "a" + kReplacement);
  EXPECT_EQ(EscapeXml("\xc3"), kReplacement);                           // cut short
  EXPECT_EQ(EscapeXml("\xc0\x80"), kReplacement + kReplacement);        // overlong
  EXPECT_EQ(EscapeXml("\xed\xa0\x80").substr(0, 3), kReplacement);      // a surrogate
  EXPECT_EQ(EscapeXml("\xf4\x90\x80\x80").substr(0, 3), kReplacement);  // beyond Unicode
  EXPECT_EQ(EscapeXml("\xef\xbf\xbf").substr(0, 3), kReplacement);      // no character of XML
  EXPECT_EQ(EscapeXml("\xf0\x9f\x98\x80"), "\xf0\x9f\x98\x80");
}

TEST(PictureEscape, KeepsQuotesInsideOfDot) {
  EXPECT_EQ(EscapeDot("say \"\\n\"\n"), "say \\\"\\\\n\\\" ");
}

TEST(PictureEscape, ShortensByCharacters) {
  EXPECT_EQ(Shorten("déjà vu", 7), "déjà vu");
  EXPECT_EQ(Shorten("déjà vu", 4), "déj…");
  EXPECT_EQ(Shorten("", 4), "");
}

}  // namespace
}  // namespace weft::picture
