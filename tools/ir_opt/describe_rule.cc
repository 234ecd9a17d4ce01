#include "tools/ir_opt/describe_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "ir/base/suggest.h"
#include "passes/rule_registry.h"
#include "passes/transformation.h"
#include "passes/verify/badges.h"
#include "tools/cli/program_main.h"
#include "weft/io/dialects.h"
#include "weft/optimize/rule_file_pass.h"

namespace weft::tools {
namespace {

std::string Line(std::string_view head, std::string_view text) {
  return text.empty() ? "" : fmt::format("{:<10}{}\n", head, text);
}

// The tests of golden programs are called after their folder: layout_lower_conv_to_nhwc_...
std::string TestsOf(const passes::Transformation& it) {
  constexpr std::string_view kPasses = "passes/";
  const std::string folder = it.file.substr(kPasses.size(), it.file.rfind('/') - kPasses.size());
  std::string tests = folder + "_" + it.name;
  std::replace_if(
      tests.begin(), tests.end(), [](char c) { return c == '/' || c == '-'; }, '_');
  return fmt::format("ctest --preset release -R '^passes/Golden.*/{}_'", tests);
}

std::string Describe(const passes::Transformation& it) {
  std::string text = Line("name", it.name) +
                     Line("aliases", fmt::format("{}", fmt::join(it.aliases, ", "))) +
                     Line("group", it.IsPass() ? "(pass)" : it.group) +
                     Line("numerics", drr::NumericClassName(it.numerics)) +
                     Line("judged", passes::BadgeOf(it.name)) + Line("runs", it.Runs()) +
                     Line("document", it.seed) + Line(it.IsPass() ? "does" : "becomes", it.What()) +
                     Line("source", fmt::format("{}:{}", it.file, it.line));
  if (it.file.starts_with("passes/"))
    text += Line("golden", it.GoldenFolder()) + Line("tests", TestsOf(it));
  return text;
}

std::string Describe(const drr::Rule& rule) {
  return Line("name", rule.name) + Line("numerics", drr::NumericClassName(rule.numerics)) +
         Line("becomes", rule.algebra) +
         Line("source", fmt::format("{}:{}", rule.graph.loc.file, rule.graph.loc.line));
}

absl::StatusOr<std::string> DescribeRuleOfFiles(const std::string& name,
                                                const std::vector<std::string>& files) {
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto rules, LoadRuleFiles(files, none, NoticesOf("ir-opt")));
  std::vector<std::string> names;
  for (const auto& rule : rules) {
    if (rule->name == name) return Describe(*rule);
    names.push_back(rule->name);
  }
  return ir::UnknownName("rule", name, names);
}

}  // namespace

absl::StatusOr<std::string> DescribeRule(const std::string& name,
                                         const std::vector<std::string>& files) {
  if (!files.empty()) return DescribeRuleOfFiles(name, files);
  const passes::RegisteredRule* rule = passes::FindRule(name);
  std::vector<std::string> names;
  for (const passes::Transformation& it : passes::Transformations()) {
    if (it.name == (rule ? rule->name : name)) return Describe(it);
    names.push_back(it.name);
  }
  return ir::UnknownName("rule", name, names);
}

}  // namespace weft::tools
