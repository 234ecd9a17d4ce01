// passes/README.md and passes/rules.md say of rules and passes what is true of them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "drr/text/rule_text.h"
#include "passes/rule_registry.h"
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

// From the line with WEFT_RULE to the closing brace; 0 where something else makes the rule there.
size_t LinesOfRule(const passes::Transformation& it) {
  std::ifstream file(kRoot + "/" + it.file);
  std::vector<std::string> lines = {""};  // numbers begin at 1
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  auto begin = static_cast<size_t>(it.line);
  if (begin >= lines.size()) return 0;
  while (begin > 0 && !lines[begin].starts_with("WEFT_RULE(")) {
    if (lines[begin] == "}") return 0;
    --begin;
  }
  const auto end = std::find(lines.begin() + it.line, lines.end(), "}");
  return begin == 0 ? 0 : static_cast<size_t>(end - lines.begin()) - begin + 1;
}

// How long rules are, and how many of them the text form holds.
std::string RuleSizes() {
  ir::IrContext context;
  LoadGoldenDialects(context);
  size_t rules = 0, printed = 0;
  std::vector<size_t> lines;
  for (const passes::Transformation& it : passes::Transformations()) {
    if (it.IsPass() || IsOfATest(it)) continue;
    ++rules;
    const drr::BuildResult built = passes::FindRule(it.name)->build(&context);
    printed += built.ok() && drr::text::PrintRule(*built.rule).find("native") == std::string::npos;
    if (const size_t count = LinesOfRule(it); count > 0) lines.push_back(count);
  }
  std::sort(lines.begin(), lines.end());
  return fmt::format(
      "Of {} rules {} are a `WEFT_RULE`, which has {} lines in the median and {} at most, with its "
      "closing brace;\n"
      "{} ({:.1f} %) print as [text](../drr/text/README.md) that is read back.\n",
      rules, lines.size(), lines[lines.size() / 2], lines.back(), printed,
      100.0 * double(printed) / double(rules));
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

TEST(GeneratedReference, SaysHowLongRulesAre) {
  EXPECT_TRUE(HoldsGenerated(std::string(kRoot) + "/passes/rules.md", "sizes", RuleSizes()));
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
