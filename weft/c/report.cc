#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "weft/c/guard.h"
#include "weft/c/handles.h"
#include "weft/model_size_json.h"

namespace weft::c {
namespace {

using nlohmann::ordered_json;

ordered_json PassesOf(const Report& report) {
  ordered_json passes = ordered_json::array();
  for (const PassReport& pass : report.passes)
    passes.push_back({{"pass", pass.pass},
                      {"ops_before", pass.ops_before},
                      {"ops_after", pass.ops_after},
                      {"seconds", pass.seconds}});
  return passes;
}

ordered_json RulesOf(const Report& report) {
  ordered_json rules = ordered_json::array();
  for (const RuleReport& rule : report.rules) {
    ordered_json declines = ordered_json::array();
    for (const auto& [why, count] : rule.declines)
      declines.push_back({{"because", why}, {"count", count}});
    rules.push_back({{"pass", rule.pass},
                     {"rule", rule.rule},
                     {"matched", rule.matched},
                     {"applied", rule.applied},
                     {"ops_erased", rule.ops_erased},
                     {"ops_created", rule.ops_created},
                     {"declines", std::move(declines)}});
  }
  return rules;
}

ordered_json RewritesOf(const Report& report) {
  ordered_json rewrites = ordered_json::array();
  for (const RewriteReport& rewrite : report.rewrites)
    rewrites.push_back({{"number", rewrite.number},
                        {"pass", rewrite.pass},
                        {"rule", rewrite.rule},
                        {"site", rewrite.site},
                        {"removed", rewrite.removed},
                        {"added", rewrite.added}});
  return rewrites;
}

ordered_json OutputsOf(const Report& report) {
  ordered_json outputs = ordered_json::array();
  for (const OutputReport& output : report.outputs)
    outputs.push_back(
        {{"name", output.name}, {"difference", output.difference}, {"verdict", output.verdict}});
  return outputs;
}

ordered_json OperatorsOf(const Report& report) {
  ordered_json operators = ordered_json::array();
  for (const OperatorReport& it : report.operators)
    operators.push_back({{"name", it.name}, {"before", it.before}, {"after", it.after}});
  return operators;
}

std::string TextOf(const Report& report) { return report.ToString() + report.check; }

std::string JsonOf(const Report& report) {
  const ordered_json json = {{"ops_before", report.ops_before},  {"ops_after", report.ops_after},
                             {"before", ToJson(report.before)},  {"after", ToJson(report.after)},
                             {"operators", OperatorsOf(report)}, {"passes", PassesOf(report)},
                             {"rules", RulesOf(report)},         {"rewrites", RewritesOf(report)},
                             {"outputs", OutputsOf(report)},     {"check", report.check},
                             {"warnings", report.warnings}};
  // Names come from models, whose bytes need not be UTF-8.
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string JsonOf(const ModelSummary& summary) {
  ordered_json json = {{"inputs", ordered_json::array()},
                       {"outputs", ordered_json::array()},
                       {"operators", ordered_json::array()}};
  for (const auto& [name, type] : summary.inputs)
    json["inputs"].push_back({{"name", name}, {"type", type}});
  for (const auto& [name, type] : summary.outputs)
    json["outputs"].push_back({{"name", name}, {"type", type}});
  for (const auto& [name, count] : summary.operators)
    json["operators"].push_back({{"name", name}, {"count", count}});
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

weft_report_counts CountsOf(const Report& report) {
  weft_report_counts counts = {};
  counts.size = sizeof(counts);
  counts.ops_before = report.ops_before;
  counts.ops_after = report.ops_after;
  counts.num_passes = report.passes.size();
  std::set<std::string> applied;
  for (const RuleReport& rule : report.rules) {
    if (rule.applied > 0) applied.insert(rule.rule);
    counts.num_applications += rule.applied;
  }
  counts.num_rules_applied = applied.size();
  counts.num_rewrites = report.rewrites.size();
  counts.num_outputs = report.outputs.size();
  for (const OutputReport& output : report.outputs)
    counts.largest_difference = std::max(counts.largest_difference, output.difference);
  counts.num_warnings = report.warnings.size();
  for (const PassReport& pass : report.passes) counts.seconds += pass.seconds;
  return counts;
}

// The text, made of the report if it was not yet; null, and an error, without memory.
const char* Once(const weft_report& report, std::optional<std::string>& text,
                 std::string (*make)(const Report&)) {
  const char* made = nullptr;
  Guarded([&] {
    const std::lock_guard lock(report.mutex);
    if (!text) text = make(report.report);
    made = text->c_str();
    return absl::OkStatus();
  });
  return made;
}

}  // namespace
}  // namespace weft::c

extern "C" {

weft_code weft_model_summary(const weft_model* model, weft_bytes** json) {
  return weft::c::Make(json, [&]() -> absl::StatusOr<std::unique_ptr<weft_bytes>> {
    WEFT_RETURN_IF_ERROR(weft::c::CheckNotNull(model, "the model"));
    return std::make_unique<weft_bytes>(weft_bytes{weft::c::JsonOf(model->model.Summary())});
  });
}

weft_code weft_report_get_counts(const weft_report* report, weft_report_counts* counts) {
  return weft::c::Guarded([&]() -> absl::Status {
    WEFT_RETURN_IF_ERROR(weft::c::CheckNotNull(report, "the report"));
    return weft::c::Write(weft::c::CountsOf(report->report), counts, "weft_report_counts");
  });
}

const char* weft_report_text(const weft_report* report) {
  return report == nullptr ? nullptr : weft::c::Once(*report, report->text, weft::c::TextOf);
}

const char* weft_report_json(const weft_report* report) {
  return report == nullptr ? nullptr : weft::c::Once(*report, report->json, weft::c::JsonOf);
}

const char* weft_report_html(const weft_report* report) {
  return report == nullptr || report->report.html.empty() ? nullptr : report->report.html.c_str();
}

void weft_report_free(weft_report* report) { delete report; }

}  // extern "C"
