#include "tools/ir_opt/lists_json.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "drr/rule/vocabulary.h"
#include "ir/base/suggest.h"
#include "ir/traits.h"
#include "passes/pass_registry.h"
#include "passes/rule_registry.h"
#include "passes/transformation.h"
#include "passes/verify/badges.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/json_text.h"
#include "weft/io/dialects.h"
#include "weft/optimize/judge_rules.h"
#include "weft/optimize/rule_file_pass.h"

namespace weft::tools {
namespace {

using nlohmann::ordered_json;

// What may be missing is null.
ordered_json TextOrNull(std::string_view text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json SourceOf(std::string_view file, int line) { return {{"file", file}, {"line", line}}; }

ordered_json JsonOf(const passes::Transformation& it) {
  return {{"name", it.name},
          {"kind", it.IsPass() ? "pass" : "rule"},
          {"aliases", it.aliases},
          {"seed", TextOrNull(it.seed)},
          {"group", TextOrNull(it.group)},
          {"numerics", drr::NumericClassName(it.numerics)},
          {"judged", TextOrNull(passes::BadgeOf(it.name))},
          {"default", it.by_default},
          {"pipelines", it.pipelines},
          {"what", it.What()},
          {"source", SourceOf(it.file, it.line)}};
}

// Lists judge nothing: what an earlier run found.
ordered_json JsonOf(const drr::Rule& rule) {
  const auto judgement = RememberedJudgement(rule);
  return {{"name", rule.name},
          {"kind", "rule"},
          {"aliases", ordered_json::array()},
          {"seed", nullptr},
          {"group", nullptr},
          {"numerics", drr::NumericClassName(rule.numerics)},
          {"judged", judgement ? ordered_json(judgement->Badge()) : ordered_json(nullptr)},
          {"default", true},
          {"pipelines", ordered_json::array()},
          {"what", rule.algebra},
          {"source", SourceOf(rule.graph.loc.file, rule.graph.loc.line)}};
}

using NamedJson = std::vector<std::pair<std::string, ordered_json>>;

absl::StatusOr<NamedJson> AllRules(const std::vector<std::string>& files) {
  NamedJson all;
  if (files.empty()) {
    for (const passes::Transformation& it : passes::Transformations())
      all.emplace_back(it.name, JsonOf(it));
    return all;
  }
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto rules, LoadRuleFiles(files, none, NoticesOf("ir-opt")));
  for (const auto& rule : rules) all.emplace_back(rule->name, JsonOf(*rule));
  return all;
}

std::string_view ArityName(ir::Arity arity) {
  return arity == ir::Arity::kOptional   ? "optional"
         : arity == ir::Arity::kVariadic ? "variadic"
                                         : "one";
}

template <class List>
ordered_json ValuesOf(const List& values) {
  ordered_json all = ordered_json::array();
  for (const ir::OperandDef& value : values)
    all.push_back({{"name", value.name}, {"arity", ArityName(value.arity)}});
  return all;
}

// Words with blanks between.
ordered_json WordsOf(const std::string& text) {
  ordered_json words = ordered_json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

ordered_json OnnxOf(const ir::OpInfo& info) {
  if (info.onnx.empty()) return nullptr;
  return {{"domain", info.onnx_domain}, {"op_type", info.onnx}, {"since", info.since}};
}

ordered_json InplaceOf(const ir::OpInfo& info) {
  const uint32_t operands = ir::InplaceOperands(info);
  ordered_json names = ordered_json::array();
  for (size_t i = 0; i < info.operands.size(); ++i)
    if (operands >> i & 1) names.push_back(info.operands[i].name);
  return names;
}

ordered_json ParametersOf(const drr::VocabularyEntry& entry) {
  ordered_json parameters = ordered_json::array();
  bool optional = false;
  for (const char letter : entry.arguments) {
    if (letter == '?') {
      optional = true;
    } else {
      parameters.push_back({{"kind", drr::ParameterName(letter)}, {"optional", optional}});
    }
  }
  return parameters;
}

}  // namespace

std::string PassesJson() {
  ordered_json all = ordered_json::array(), pipelines = ordered_json::array();
  for (const passes::RegisteredPass& pass : passes::RegisteredPasses())
    all.push_back({{"name", pass.name}, {"what", pass.make()->description()}});
  for (const passes::Pipeline& pipeline : passes::Pipelines())
    pipelines.push_back({{"name", pipeline.name},
                         {"what", pipeline.description},
                         {"passes", pipeline.passes},
                         {"target", pipeline.target}});
  return JsonText({{"passes", all}, {"pipelines", pipelines}});
}

absl::StatusOr<std::string> RulesJson(const std::vector<std::string>& files) {
  WEFT_ASSIGN_OR_RETURN(const NamedJson all, AllRules(files));
  ordered_json rules = ordered_json::array();
  for (const auto& rule : all) rules.push_back(rule.second);
  return JsonText({{"rules", rules}});
}

absl::StatusOr<std::string> RuleJson(const std::string& name,
                                     const std::vector<std::string>& files) {
  WEFT_ASSIGN_OR_RETURN(const NamedJson all, AllRules(files));
  const passes::RegisteredRule* known = files.empty() ? passes::FindRule(name) : nullptr;
  std::vector<std::string> names;
  for (const auto& [rule, json] : all) {
    if (rule == (known ? known->name : name))
      return JsonText({{"rules", ordered_json::array({json})}});
    names.push_back(rule);
  }
  return ir::UnknownName("rule", name, names);
}

std::string ConstraintsJson() {
  ordered_json all = ordered_json::array();
  for (const drr::VocabularyEntry& entry : drr::Vocabulary())
    all.push_back({{"name", entry.name},
                   {"cpp", TextOrNull(entry.cpp)},
                   {"kind", entry.is_constraint ? "constraint" : "computed attribute"},
                   {"parameters", ParametersOf(entry)},
                   {"what", entry.doc},
                   {"on_symbolic_shapes", TextOrNull(entry.symbolic)}});
  return JsonText({{"constraints", all}});
}

std::string OpsJson() {
  ir::IrContext context;
  LoadAllDialects(context);
  ordered_json all = ordered_json::array();
  for (const ir::OpDef* op : context.Ops())
    all.push_back({{"name", op->name()},
                   {"operands", ValuesOf(op->info->operands)},
                   {"results", ValuesOf(op->info->results)},
                   {"onnx", OnnxOf(*op->info)},
                   {"traits", WordsOf(ir::TraitNames(op->traits))},
                   {"in_place_over", InplaceOf(*op->info)},
                   {"what", op->info->doc}});
  return JsonText({{"ops", all}});
}

}  // namespace weft::tools
