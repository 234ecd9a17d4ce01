#include "tools/cli/tables/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/cli/tables/progress_line.h"
#include "tools/cli/tables/table.h"

namespace weft::tools {
namespace {

using ::testing::ElementsAre;

TEST(WrapText, PartsAtSpacesWhichGo) {
  EXPECT_THAT(WrapText("one two  three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(WrapText("one two", 6), ElementsAre("one", "two"));
  EXPECT_THAT(WrapText("one", 3), ElementsAre("one"));
  EXPECT_THAT(WrapText("", 3), ElementsAre(""));
}

TEST(WrapText, PartsLongWordsAfterPunctuationElseAnywhere) {
  EXPECT_THAT(WrapText("fuse-layer-norm", 12), ElementsAre("fuse-layer-", "norm"));
  EXPECT_THAT(WrapText("abcdef", 4), ElementsAre("abcd", "ef"));
  EXPECT_THAT(WrapText("abc", 1), ElementsAre("a", "b", "c"));
}

TEST(WrapText, CountsCharactersAndPartsNone) {
  EXPECT_EQ(CharactersIn("\u00e4\u00f6 1"), 4u);
  EXPECT_THAT(WrapText("\u00e4\u00f6\u00fc", 2), ElementsAre("\u00e4\u00f6", "\u00fc"));
}

TEST(Table, IsAsWideAsItsCellsWhereNoTerminalShowsIt) {
  Table table({"rule", "applied"});
  table.AddRow({std::string(300, 'x'), "12"}, Style::kRed);
  table.AddRow({"y"});
  std::FILE* const file = std::tmpfile();
  const std::string text = table.ToString(file);
  std::fclose(file);
  EXPECT_EQ(text, "rule" + std::string(298, ' ') + "applied\n" + std::string(300, 'x') +
                      "       12\ny\n");
}

TEST(Table, ShowsControlCharactersOfItsCells) {
  Table table({"name"});
  table.AddRow({"e\x1b[1m\nforged"});
  std::FILE* const file = std::tmpfile();
  const std::string text = table.ToString(file);
  std::fclose(file);
  EXPECT_EQ(text, "name\ne\\x1b[1m\\x0aforged\n");
}

TEST(ClockText, HasMinutesAndHours) {
  EXPECT_EQ(ClockText(0), "0:00");
  EXPECT_EQ(ClockText(6.1), "0:07");
  EXPECT_EQ(ClockText(754), "12:34");
  EXPECT_EQ(ClockText(3723), "1:02:03");
}

}  // namespace
}  // namespace weft::tools
