#include "passes/transformation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ir/base/contains.h"
#include "ir/base/source_path.h"
#include "ir/base/suggest.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/pipelines.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

// The groups whose rules the pass runs; none of a pass that rewrites by itself.
std::vector<std::string> GroupsOf(const Pass& pass) {
  const auto* patterns = dynamic_cast<const PatternRewritePass*>(&pass);
  return patterns ? patterns->groups() : std::vector<std::string>();
}

bool RunsGroup(const std::vector<std::string>& passes, std::string_view group) {
  return std::any_of(passes.begin(), passes.end(), [&](const std::string& name) {
    const std::unique_ptr<Pass> pass = MakePass(name);
    return pass && ir::Contains(GroupsOf(*pass), group);
  });
}

// The groups whose rules each of Pipelines() runs.
std::vector<std::vector<std::string>> GroupsOfPipelines() {
  std::vector<std::vector<std::string>> groups;
  for (const Pipeline& pipeline : Pipelines()) {
    groups.emplace_back();
    for (const std::string& pass : pipeline.passes)
      for (const std::string& group : GroupsOf(*MakePass(pass))) groups.back().push_back(group);
  }
  return groups;
}

void FindPipelines(const std::vector<std::vector<std::string>>& groups, Transformation* it) {
  for (size_t i = 0; i < groups.size(); ++i) {
    const Pipeline& pipeline = Pipelines()[i];
    const bool runs_it =
        it->IsPass() ? ir::Contains(pipeline.passes, it->name) : ir::Contains(groups[i], it->group);
    if (!runs_it) continue;
    if (pipeline.target) {
      it->pipelines.emplace_back(pipeline.name);
    } else {
      it->by_default = true;
    }
  }
}

}  // namespace

absl::Status CheckRuleName(std::string_view name, std::span<const std::string> rules) {
  absl::Status status = ir::CheckName("rule", name, rules);
  if (status.ok() || !MakePass(name)) return status;
  return ir::InvalidArgument(
      fmt::format("'{}' is a pass, not a rule, whose matches are explained and counted", name));
}

std::string Transformation::Runs() const {
  if (by_default) return "default";
  return pipelines.empty() ? "opt-in" : fmt::format("opt-in: {}", fmt::join(pipelines, ", "));
}

std::string Transformation::What() const {
  const RegisteredRule* rule = IsPass() ? nullptr : FindRule(name);
  return rule ? AlgebraOf(*rule) : what;
}

std::string Transformation::GoldenFolder() const {
  return fmt::format("unittests/{}/golden/{}", file.substr(0, file.rfind('/')), name);
}

std::vector<Transformation> Transformations() {
  std::vector<Transformation> all;
  const std::vector<std::vector<std::string>> groups = GroupsOfPipelines();
  for (const RegisteredRule& rule : RegisteredRules()) {
    Transformation it{.name = std::string(rule.name),
                      .seed = rule.seed,
                      .group = rule.group,
                      .numerics = rule.numerics,
                      .pipelines = {},
                      .aliases = rule.aliases,
                      .file = ir::SourcePath(rule.loc.file),
                      .line = rule.loc.line};
    if (!rule.opt_in) FindPipelines(groups, &it);
    all.push_back(std::move(it));
  }
  for (const RegisteredPass& registered : RegisteredPasses()) {
    const std::unique_ptr<Pass> pass = registered.make();
    if (!GroupsOf(*pass).empty()) continue;
    Transformation it{.name = pass->name(),
                      .seed = pass->traits().seed,
                      .group = {},
                      .numerics = pass->traits().numerics,
                      .pipelines = {},
                      .what = pass->description(),
                      .file = ir::SourcePath(registered.loc.file),
                      .line = registered.loc.line};
    FindPipelines(groups, &it);
    all.push_back(std::move(it));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

std::vector<std::string> RulesOutside(const std::vector<std::string>& passes,
                                      const std::vector<std::string>& enabled) {
  std::vector<std::string> rules;
  for (const std::string& name : enabled) {
    const RegisteredRule* rule = FindRule(name);
    if (rule && !RunsGroup(passes, rule->group)) rules.push_back(name);
  }
  return rules;
}

std::vector<std::string> WithEnabled(std::vector<std::string> passes,
                                     const std::vector<std::string>& enabled) {
  std::vector<std::string> more;
  if (enabled.empty()) return passes;
  for (const std::string& name : enabled)
    if (!FindRule(name) && !ir::Contains(passes, name) && !ir::Contains(more, name))
      more.push_back(name);
  if (!RulesOutside(passes, enabled).empty()) more.emplace_back(kEnabledRules);
  if (more.empty()) return passes;
  auto at = passes.end();
  if (BeginsWithCommonPasses(passes)) {
    at = std::find(passes.begin(), passes.end(), "common-subexpression-elimination");
    more.emplace_back("constant-folding");
  }
  passes.insert(at, more.begin(), more.end());
  return passes;
}

}  // namespace weft::passes
