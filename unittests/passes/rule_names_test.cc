// A rule is found by its name: the class, the flag, the golden folder and the line of --list-rules
// have the same one, and its first word says what the rule does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "ir/base/source_path.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rules.h"
#include "unittests/fixtures/golden.h"
#include "unittests/test_paths.h"

namespace weft::passes {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kGoldens = fixtures::TestData("/passes");
const std::string kSources = fixtures::TestData("/../passes");

std::vector<RegisteredRule> LibraryRules() {
  std::vector<RegisteredRule> rules = RegisteredRules();
  std::erase_if(rules, [](const RegisteredRule& rule) {  // those of tests
    return !ir::SourcePath(rule.loc.file).starts_with("passes/");
  });
  return rules;
}

std::string KebabOf(const std::string& class_name) {
  char text[64] = {};
  class_name.copy(text, sizeof(text) - 1);
  return std::string(internal::KebabName(text).view().data());
}

// The classes that sources of the library register, by the file that does.
std::map<std::string, std::string> RegisteredClasses() {
  static const std::regex kRegisters(
      R"re((?:^|\n)WEFT_(?:RULE|REGISTER_RULE|REGISTER_OPT_IN_RULE)\((\w+),)re");
  std::map<std::string, std::string> classes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kSources)) {
    if (entry.path().extension() != ".cc" && entry.path().extension() != ".h") continue;
    std::stringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    const std::string source = text.str();
    for (std::sregex_iterator it(source.begin(), source.end(), kRegisters), end; it != end; ++it)
      classes[(*it)[1].str()] = entry.path().lexically_relative(kSources).string();
  }
  return classes;
}

std::vector<std::string> GroupsOf(const std::string& pass_name) {
  const std::unique_ptr<Pass> pass = MakePass(pass_name);
  const auto* patterns = dynamic_cast<const PatternRewritePass*>(pass.get());
  return patterns ? patterns->groups() : std::vector<std::string>();
}

TEST(RuleNames, AreThoseOfTheirClasses) {
  std::set<std::string> of_classes;
  for (const auto& [class_name, file] : RegisteredClasses()) {
    of_classes.insert(KebabOf(class_name));
    const RegisteredRule* rule = FindRule(KebabOf(class_name));
    EXPECT_TRUE(rule && rule->name == KebabOf(class_name)) << file << " has class " << class_name;
  }
  for (const RegisteredRule& rule : LibraryRules())
    EXPECT_TRUE(of_classes.count(std::string(rule.name))) << rule.name << " has no such class";
}

// drop- a no-op; merge- two of a kind; fold- to a constant, into weights or to fewer ops; fuse- into
// a fused op; lower- to simpler ops or those of a target; split-; sink- towards the outputs.
TEST(RuleNames, BeginWithAVerb) {
  for (const RegisteredRule& rule : LibraryRules())
    EXPECT_THAT(rule.name, AnyOf(StartsWith("drop-"), StartsWith("merge-"), StartsWith("fold-"),
                                 StartsWith("fuse-"), StartsWith("lower-"), StartsWith("split-"),
                                 StartsWith("sink-")));
}

TEST(RuleNames, AndAliasesAreUnique) {
  std::set<std::string> seen;
  for (const RegisteredPass& pass : RegisteredPasses()) seen.insert(std::string(pass.name));
  for (const RegisteredRule& rule : RegisteredRules()) {
    EXPECT_TRUE(seen.emplace(rule.name).second) << rule.name;
    for (std::string_view alias : rule.aliases) {
      EXPECT_TRUE(seen.emplace(alias).second) << alias << ", alias of " << rule.name;
      EXPECT_EQ(FindRule(alias)->name, rule.name);
    }
  }
}

TEST(RuleNames, AreThoseOfGoldenFoldersWithFiringProgramsAndNearMisses) {
  const auto names_it = [](const std::string& path, std::string_view rule) {
    const auto file = fixtures::ReadGoldenFile(path);
    return file.ok() && std::count(file->rules.begin(), file->rules.end(), rule) > 0;
  };
  for (const RegisteredRule& rule : LibraryRules()) {
    const std::string folder = fixtures::GoldenFolder(kGoldens, std::string(rule.name));
    EXPECT_THAT(folder, Not(IsEmpty())) << rule.name;
    const auto any = [&](const std::vector<std::string>& files) {
      return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        return names_it(folder + "/" + file, rule.name);
      });
    };
    EXPECT_TRUE(any(fixtures::FiringGoldenFiles(folder))) << rule.name << " fires in no golden";
    EXPECT_TRUE(any(fixtures::NearMissGoldenFiles(folder))) << rule.name << " has no near miss";
  }
}

TEST(RuleNames, AreOfGroupsThatAPipelineRuns) {
  std::set<std::string> of_passes, of_pipelines;
  for (const RegisteredPass& pass : RegisteredPasses())
    for (const std::string& group : GroupsOf(std::string(pass.name))) of_passes.insert(group);
  for (const Pipeline& pipeline : Pipelines())
    for (const std::string& pass : pipeline.passes)
      for (const std::string& group : GroupsOf(pass)) of_pipelines.insert(group);
  for (const RegisteredRule& rule : LibraryRules())
    EXPECT_THAT(rule.opt_in ? of_passes : of_pipelines, Contains(std::string(rule.group)))
        << rule.name;
}

}  // namespace
}  // namespace weft::passes
