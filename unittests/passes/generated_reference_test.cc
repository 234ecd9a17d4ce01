// passes/README.md and passes/rules.md say of rules and passes what is true of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "passes/transformation.h"
#include "passes/verify/badges.h"
#include "unittests/fixtures/generated_text.h"
#include "unittests/fixtures/golden.h"
#include "unittests/fixtures/transformation_table.h"
#include "unittests/test_paths.h"

namespace weft::fixtures {
namespace {

const std::string kTests = fixtures::TestData("");
const std::string kRoot = fixtures::TestData("/..");

bool IsOfATest(const passes::Transformation& it) { return it.file.starts_with("unittests/"); }

// "[targets/ascend/pool_conv.cc](targets/ascend/pool_conv.cc)", seen from passes/.
std::string SourceLink(const passes::Transformation& it) {
  const std::string path = it.file.substr(it.file.find('/') + 1);
  return fmt::format("[{0}]({0})", path);
}

std::string RuleTable() {
  std::string table =
      "| name | group | numbers | judged | runs | what becomes what | source | golden programs |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const passes::Transformation& it : passes::Transformations()) {
    if (IsOfATest(it)) continue;
    const std::string golden = GoldenFolder(std::string(kTests) + "/passes", it.name);
    table += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {} | {} |\n", it.name,
        it.IsPass() ? "(pass)" : std::string(it.group), drr::NumericClassName(it.numerics),
        passes::BadgeOf(it.name), it.Runs(), Cell(it.What()), SourceLink(it),
        golden.empty() ? "" : fmt::format("[{}](../{})", it.name, it.GoldenFolder()));
  }
  return table;
}

// How many rules of each group were judged to be what.
std::string BadgeTable() {
  const std::string all = "all";
  std::map<std::string, std::map<std::string, int>> counts;  // by group and badge
  for (const passes::Transformation& it : passes::Transformations()) {
    if (it.IsPass() || IsOfATest(it)) continue;
    for (const std::string& group : {std::string(it.group), all}) {
      ++counts[group][std::string(passes::BadgeOf(it.name))];
      ++counts[group]["rules"];
    }
  }
  std::vector<std::string> columns;
  for (const auto& [badge, number] : counts[all]) columns.push_back(badge);
  std::stable_sort(columns.begin(), columns.end(),
                   [&](const auto& a, const auto& b) { return counts[all][a] > counts[all][b]; });
  std::string table = fmt::format("| group | {} |\n|---|", fmt::join(columns, " | "));
  for (size_t i = 0; i < columns.size(); ++i) table += "---|";
  table += "\n";
  const auto add_row = [&](const std::string& group) {
    table += fmt::format("| {} |", group);
    for (const std::string& column : columns) table += fmt::format(" {} |", counts[group][column]);
    table += "\n";
  };
  for (const auto& [group, numbers] : counts)
    if (group != all) add_row(group);
  add_row(all);
  return table;
}

TEST(GeneratedReference, ListsEveryTransformationOfTheSeeds) {
  const auto table =
      TransformationTable(std::string(kTests) + "/passes", std::string(kRoot) + "/passes/targets");
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_TRUE(HoldsGenerated(std::string(kRoot) + "/passes/README.md", "transformations", *table));
}

TEST(GeneratedReference, ListsEveryRule) {
  EXPECT_TRUE(HoldsGenerated(std::string(kRoot) + "/passes/rules.md", "rules", RuleTable()));
}

TEST(GeneratedReference, CountsTheBadgesOfEachGroup) {
  EXPECT_TRUE(HoldsGenerated(std::string(kRoot) + "/passes/rules.md", "badges", BadgeTable()));
}

TEST(GeneratedReference, LeadsToTheSourceAndTheGoldenProgramsOfEachRule) {
  for (const passes::Transformation& it : passes::Transformations()) {
    if (IsOfATest(it)) continue;
    EXPECT_TRUE(it.file.starts_with("passes/")) << it.name << ": " << it.file;
    EXPECT_TRUE(std::filesystem::exists(std::string(kRoot) + "/" + it.file)) << it.name;
    EXPECT_GT(it.line, 0) << it.name;
    const std::string golden = GoldenFolder(std::string(kTests) + "/passes", it.name);
    EXPECT_TRUE(golden.empty() || golden == std::string(kTests) + it.GoldenFolder().substr(9))
        << it.name << ": " << golden << " is not " << it.GoldenFolder();
  }
}

TEST(GeneratedText, StandsBetweenItsMarks) {
  const std::string begin = "<!-- generated: a; tools/dev bless -R Generated -->\n";
  const auto text = WithGenerated("x\n" + begin + "old\n<!-- end of a -->\ny\n", "a", "new\n");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, "x\n" + begin + "new\n<!-- end of a -->\ny\n");
}

TEST(GeneratedText, NeedsItsMarks) {
  EXPECT_FALSE(WithGenerated("a text without marks", "a", "new\n").ok());
  EXPECT_FALSE(WithGenerated("<!-- end of a -->\n"
                             "<!-- generated: a; tools/dev bless -R Generated -->\n",
                             "a", "new\n")
                   .ok());
}

}  // namespace
}  // namespace weft::fixtures
