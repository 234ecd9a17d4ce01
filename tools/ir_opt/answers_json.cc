#include "tools/ir_opt/answers_json.h"

#include "tools/cli/tables/json_text.h"

namespace weft::tools {
namespace {

using nlohmann::ordered_json;

ordered_json TextOrNull(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

const char* OutcomeName(RuleAnswer::Look::Outcome outcome) {
  switch (outcome) {
    case RuleAnswer::Look::kApplies:
      return "applies";
    case RuleAnswer::Look::kRefused:
      return "refused";
    case RuleAnswer::Look::kNoValue:
      return "no value";
    default:
      return "no site";
  }
}

ordered_json JsonOf(const RuleAnswer::Look& look) {
  const drr::ExplanationParts& parts = look.parts;
  ordered_json where = ordered_json::object();
  for (const auto& [name, value] : parts.where) where[name] = value;
  return {{"when", look.when},
          {"outcome", OutcomeName(look.outcome)},
          {"operations_found", parts.ops_found},
          {"operations_of_rule", parts.ops_of_rule},
          {"sites", parts.sites},
          {"because", TextOrNull(parts.because)},
          {"expected", TextOrNull(parts.expected)},
          {"found", TextOrNull(parts.found)},
          {"in", TextOrNull(parts.in)},
          {"value", TextOrNull(parts.value)},
          {"read_by", TextOrNull(parts.read_by)},
          {"where", where},
          {"rule_line", TextOrNull(parts.rule_line)},
          {"text", look.text}};
}

ordered_json JsonOf(const ComparedOutput& output) {
  const Comparison& worst = output.worst;
  ordered_json steps;
  if (worst.steps) steps = {{"largest", worst.steps->largest}, {"share", worst.steps->share()}};
  return {{"name", output.name},          {"agrees", worst.agrees},
          {"difference", worst.relative}, {"allowed", worst.allowed},
          {"exact", worst.exact},         {"different", worst.different},
          {"steps", std::move(steps)},    {"verdict", worst.Text("the original")}};
}

ordered_json LinesOf(const std::string& text) {
  ordered_json lines = ordered_json::array();
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string ExplainJson(const RuleAnswer& answer) {
  ordered_json passes = ordered_json::array(), looks = ordered_json::array();
  for (const RuleAnswer::Pass& pass : answer.passes) {
    ordered_json applied;
    if (pass.applied) applied = *pass.applied;
    passes.push_back(
        {{"pass", pass.pass}, {"applied", applied}, {"not_run", TextOrNull(pass.not_run)}});
  }
  for (const RuleAnswer::Look& look : answer.looks) looks.push_back(JsonOf(look));
  return JsonText({{"rule", answer.rule},
                   {"value", TextOrNull(answer.value)},
                   {"passes", passes},
                   {"not_run", TextOrNull(answer.not_run)},
                   {"looks", looks}});
}

std::string CheckJson(const std::string& lines, const std::vector<ComparedOutput>& outputs,
                      const absl::Status& verdict) {
  ordered_json compared = ordered_json::array();
  for (const ComparedOutput& output : outputs) compared.push_back(JsonOf(output));
  ordered_json error;
  if (!verdict.ok()) error = std::string(ir::Message(verdict));
  return JsonText({{"passed", verdict.ok()},
                   {"error", error},
                   {"outputs", compared},
                   {"lines", LinesOf(lines)}});
}

}  // namespace weft::tools
