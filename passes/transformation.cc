#include "passes/transformation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rule_registry.h"

namespace weft::passes {
namespace {

template <class Name>
bool Contains(const std::vector<std::string>& list, const Name& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// The groups whose rules the pass runs; none of a pass that rewrites by itself.
std::vector<std::string> GroupsOf(const Pass& pass) {
  const auto* patterns = dynamic_cast<const PatternRewritePass*>(&pass);
  return patterns ? patterns->groups() : std::vector<std::string>();
}

bool RunsGroup(const std::vector<std::string>& passes, std::string_view group) {
  return std::any_of(passes.begin(), passes.end(), [&](const std::string& name) {
    const std::unique_ptr<Pass> pass = MakePass(name);
    return pass && Contains(GroupsOf(*pass), group);
  });
}

bool RunsIt(const Pipeline& pipeline, const Transformation& it) {
  return it.IsPass() ? Contains(pipeline.passes, it.name) : RunsGroup(pipeline.passes, it.group);
}

void FindPipelines(bool opt_in, Transformation* it) {
  if (opt_in) return;
  for (const Pipeline& pipeline : Pipelines()) {
    if (!RunsIt(pipeline, *it)) continue;
    if (!pipeline.target) it->by_default = true;
    if (pipeline.target) it->pipelines.emplace_back(pipeline.name);
  }
}

}  // namespace

std::string Transformation::Runs() const {
  if (by_default) return "default";
  return pipelines.empty() ? "opt-in" : fmt::format("opt-in: {}", fmt::join(pipelines, ", "));
}

std::vector<Transformation> Transformations() {
  std::vector<Transformation> all;
  for (const RegisteredRule& rule : RegisteredRules()) {
    Transformation it{.name = std::string(rule.name),
                      .seed = rule.seed,
                      .group = rule.group,
                      .numerics = rule.numerics,
                      .pipelines = {},
                      .what = std::string(rule.algebra)};
    FindPipelines(rule.opt_in, &it);
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
                      .what = pass->description()};
    FindPipelines(/*opt_in=*/false, &it);
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
  for (const std::string& name : enabled)
    if (!FindRule(name) && !Contains(passes, name) && !Contains(more, name)) more.push_back(name);
  if (!RulesOutside(passes, enabled).empty()) more.emplace_back(kEnabledRules);
  if (more.empty()) return passes;
  const std::vector<std::string>& simplify = FindPipeline("simplify")->passes;
  auto at = passes.end();
  if (passes.size() >= simplify.size() &&
      std::equal(simplify.begin(), simplify.end(), passes.begin())) {
    at = std::find(passes.begin(), passes.end(), "common-subexpression-elimination");
    more.emplace_back("constant-folding");
  }
  passes.insert(at, more.begin(), more.end());
  return passes;
}

}  // namespace weft::passes
