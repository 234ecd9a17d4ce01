// The table of transformations in the README says what is true.
#include "unittests/fixtures/transformation_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace weft::fixtures {
namespace {

constexpr char kReadme[] = WEFT_TEST_DATA_DIR "/../README.md";

std::string ReadReadme() {
  std::stringstream text;
  text << std::ifstream(kReadme, std::ios::binary).rdbuf();
  return text.str();
}

TEST(TransformationTable, IsInTheReadme) {
  const auto table =
      TransformationTable(WEFT_TEST_DATA_DIR "/passes", WEFT_TEST_DATA_DIR "/../passes/targets");
  ASSERT_TRUE(table.ok()) << table.status();
  const std::string readme = ReadReadme();
  const auto expected = WithTransformationTable(readme, *table);
  ASSERT_TRUE(expected.ok()) << expected.status();
  if (std::getenv("WEFT_BLESS")) {
    std::ofstream(kReadme, std::ios::binary) << *expected;
  } else {
    EXPECT_TRUE(readme == *expected) << "WEFT_BLESS=1 writes the table:\n" << *table;
  }
}

TEST(TransformationTable, NeedsItsPlace) {
  EXPECT_FALSE(WithTransformationTable("a text without marks", "| a |\n").ok());
}

}  // namespace
}  // namespace weft::fixtures
