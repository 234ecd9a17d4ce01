#include "tools/ir_opt/lists.h"

#include <fmt/format.h>

#include "drr/rule/vocabulary.h"
#include "ir/traits.h"
#include "passes/pass_registry.h"
#include "passes/transformation.h"
#include "passes/verify/badges.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/table.h"
#include "weft/io/dialects.h"
#include "weft/optimize/judge_rules.h"
#include "weft/optimize/rule_file_pass.h"

namespace weft::tools {
namespace {

std::string BaseName(std::string_view path) {
  return std::string(path.substr(path.find_last_of('/') + 1));
}

std::string WithAliases(const passes::Transformation& it) {
  if (it.aliases.empty()) return it.name;
  return fmt::format("{} ({})", it.name, fmt::join(it.aliases, ", "));
}

template <class List>
std::string Signature(const List& values) {
  std::string text;
  for (const ir::OperandDef& value : values) {
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", value.name,
                        value.arity == ir::Arity::kOptional   ? "?"
                        : value.arity == ir::Arity::kVariadic ? "..."
                                                              : "");
  }
  return text;
}

// The operands over which the op may write its result.
std::string InplaceText(const ir::OpInfo& info) {
  const uint32_t operands = ir::InplaceOperands(info);
  if (operands == ir::kEveryOperand) return "any";
  std::string text;
  for (size_t i = 0; i < info.operands.size(); ++i)
    if (operands >> i & 1)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", info.operands[i].name);
  return text;
}

// "value, integer[, number]"
std::string Parameters(const drr::VocabularyEntry& entry) {
  std::string text;
  bool optional = false;
  for (char letter : entry.arguments) {
    if (letter == '?') {
      optional = true;
      continue;
    }
    text += optional ? "[, " : text.empty() ? "" : ", ";
    text += drr::ParameterName(letter);
    if (optional) text += "]";
  }
  return text;
}

// Lists judge nothing.
std::string RememberedBadge(const drr::Rule& rule) {
  const auto judgement = RememberedJudgement(rule);
  return judgement ? judgement->Badge() : "";
}

}  // namespace

std::string ListPasses() {
  Table passes({"pass", "what it does"});
  for (const passes::RegisteredPass& pass : passes::RegisteredPasses())
    passes.AddRow({pass.name, pass.make()->description()});
  Table pipelines({"pipeline", "what it does", "passes"});
  for (const passes::Pipeline& pipeline : passes::Pipelines())
    pipelines.AddRow({std::string(pipeline.name), std::string(pipeline.description),
                      fmt::format("{}", fmt::join(pipeline.passes, ","))});
  return passes.ToString(stdout) + "\n" + pipelines.ToString(stdout);
}

absl::StatusOr<std::string> ListRules(const std::vector<std::string>& files) {
  Table table({"rule", "seed", "group", "numerics", "judged", "runs", "what becomes what"});
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto rules, LoadRuleFiles(files, none, NoticesOf("ir-opt")));
  for (const auto& rule : rules)
    table.AddRow({rule->name, "", BaseName(rule->graph.loc.file),
                  std::string(drr::NumericClassName(rule->numerics)), RememberedBadge(*rule),
                  "default", rule->algebra});
  if (!files.empty()) return table.ToString(stdout);
  for (const passes::Transformation& it : passes::Transformations())
    table.AddRow({WithAliases(it), std::string(it.seed),
                  it.IsPass() ? "(pass)" : std::string(it.group),
                  std::string(drr::NumericClassName(it.numerics)),
                  std::string(passes::BadgeOf(it.name)), it.Runs(), it.What()});
  return table.ToString(stdout);
}

std::string ListConstraints() {
  std::string text;
  for (const bool constraints : {true, false}) {
    Table table({constraints ? "constraint in C++" : "computed attribute in C++", "in text",
                 "what it means", "on symbolic shapes"});
    for (const drr::VocabularyEntry& e : drr::Vocabulary())
      if (e.is_constraint == constraints)
        table.AddRow({e.cpp.empty() ? "" : fmt::format("{}({})", e.cpp, Parameters(e)),
                      fmt::format("{}({})", e.name, Parameters(e)), std::string(e.doc),
                      std::string(e.symbolic)});
    text += (text.empty() ? "" : "\n") + table.ToString(stdout);
  }
  return text;
}

std::string ListOps() {
  ir::IrContext context;
  LoadAllDialects(context);
  Table table({"op", "operands -> results", "ONNX", "traits", "in place over", "what it computes"});
  for (const ir::OpDef* op : context.Ops())
    table.AddRow(
        {std::string(op->name()),
         fmt::format("({}) -> ({})", Signature(op->info->operands), Signature(op->info->results)),
         op->info->onnx.empty() ? ""
                                : fmt::format("{}{}{} {}", op->info->onnx_domain,
                                              op->info->onnx_domain.empty() ? "" : ".",
                                              op->info->onnx, op->info->since),
         ir::TraitNames(op->traits), InplaceText(*op->info), std::string(op->info->doc)});
  return table.ToString(stdout);
}

}  // namespace weft::tools
