#include "tools/cli/tables/pass_tables.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "tools/cli/tables/json_text.h"
#include "tools/cli/tables/table.h"
#include "weft/model_size_json.h"

namespace weft::tools {
namespace {

using nlohmann::ordered_json;
using passes::PassReport;
using passes::RuleStatistics;

std::string OpsText(uint64_t before, uint64_t after) {
  return fmt::format("{} -> {}", before, after);
}

std::string Count(uint64_t n) { return fmt::format("{}", n); }

std::string DeclineTable(const std::vector<PassReport>& reports) {
  Table table({"pass", "rule", "declined", "because"});
  bool any = false;
  for (const PassReport& report : reports)
    for (const RuleStatistics& rule : report.rules)
      for (const auto& [why, count] : rule.declines) {
        table.AddRow({report.pass, rule.rule, Count(count), why});
        any = true;
      }
  return any ? "\n" + table.ToString(stderr) : "";
}

std::string SkippedTable(const std::vector<PassReport>& reports) {
  Table table({"pass", "rule", "not run because"});
  bool any = false;
  for (const PassReport& report : reports)
    for (const passes::SkippedRule& rule : report.skipped) {
      table.AddRow({report.pass, rule.rule, rule.why});
      any = true;
    }
  return any ? "\n" + table.ToString(stderr) : "";
}

ordered_json RuleJson(const RuleStatistics& rule) {
  ordered_json declines = ordered_json::array();
  for (const auto& [why, count] : rule.declines)
    declines.push_back({{"because", why}, {"count", count}});
  return {{"rule", rule.rule},
          {"tried", rule.tried},
          {"matched", rule.matched},
          {"declined", rule.declined},
          {"applied", rule.applied},
          {"ops_erased", rule.ops_erased},
          {"ops_created", rule.ops_created},
          {"seconds", rule.seconds},
          {"declines", declines}};
}

ordered_json PassJson(const PassReport& report) {
  ordered_json counts = ordered_json::object(), rules = ordered_json::array(),
               skipped = ordered_json::array();
  for (const auto& [name, count] : report.statistics) counts[name] = count;
  for (const RuleStatistics& rule : report.rules) rules.push_back(RuleJson(rule));
  for (const passes::SkippedRule& rule : report.skipped)
    skipped.push_back({{"rule", rule.rule}, {"why", rule.why}});
  return {{"pass", report.pass},
          {"changed", report.changed},
          {"ops_before", report.ops_before},
          {"ops_after", report.ops_after},
          {"seconds", report.seconds},
          {"counts", counts},
          {"rules", rules},
          {"not_run", skipped}};
}

std::string PassTable(const std::vector<PassReport>& reports, bool all) {
  Table table(
      {"pass", "rule", "tried", "matched", "declined", "applied", "time", "ops before -> after"});
  for (const PassReport& report : reports) {
    table.AddRow({report.pass, "", "", "", "", "", Milliseconds(report.seconds * 1e3),
                  OpsText(report.ops_before, report.ops_after)});
    for (const auto& [name, count] : report.statistics)
      table.AddRow({"", name, "", "", "", Count(count)});
    for (const RuleStatistics& rule : report.rules)
      if (all || rule.matched > 0)
        table.AddRow({"", rule.rule, Count(rule.tried), Count(rule.matched), Count(rule.declined),
                      Count(rule.applied), Milliseconds(rule.seconds * 1e3),
                      rule.applied ? OpsText(rule.ops_erased, rule.ops_created) : ""});
  }
  if (!reports.empty())
    table.AddRow({"total", "", "", "", "", "", "",
                  OpsText(reports.front().ops_before, reports.back().ops_after)},
                 Style::kBold);
  return table.ToString(stderr);
}

}  // namespace

std::string StatisticsTable(const std::vector<PassReport>& reports) {
  std::set<std::string_view> idle, matched;
  for (const PassReport& report : reports)
    for (const RuleStatistics& rule : report.rules)
      (rule.matched > 0 ? matched : idle).insert(rule.rule);
  for (const std::string_view rule : matched) idle.erase(rule);
  return PassTable(reports, false) +
         (idle.empty() ? ""
                       : fmt::format("--stats=all has the {} rules that matched nothing, and why\n",
                                     idle.size()));
}

std::string FullStatisticsTable(const std::vector<PassReport>& reports) {
  return PassTable(reports, true) + DeclineTable(reports) + SkippedTable(reports);
}

std::string StatisticsJson(const std::vector<PassReport>& reports, const ModelSize& before,
                           const ModelSize& after) {
  ordered_json passes = ordered_json::array();
  for (const PassReport& report : reports) passes.push_back(PassJson(report));
  const ordered_json all = {
      {"before", ToJson(before)}, {"after", ToJson(after)}, {"passes", passes}};
  return JsonText(all);
}

std::string RuleTable(const std::vector<PassReport>& reports) {
  Table table({"rule", "pass", "matched", "applied", "ops before -> after"});
  for (const PassReport& report : reports)
    for (const passes::RuleStatistics& rule : report.rules)
      if (rule.matched)
        table.AddRow({rule.rule, report.pass, fmt::format("{}", rule.matched),
                      fmt::format("{}", rule.applied),
                      fmt::format("{} -> {}", rule.ops_erased, rule.ops_created)});
  if (!reports.empty())
    table.AddRow({"the whole program", "all", "", "",
                  fmt::format("{} -> {}", reports.front().ops_before, reports.back().ops_after)});
  return table.ToString(stdout);
}

std::string TimingTable(const std::vector<PassReport>& reports) {
  double total = 0;
  for (const PassReport& report : reports) total += report.seconds;
  Table table({"pass", "time", "share"});
  auto add = [&](const std::string& name, double seconds) {
    table.AddRow({name, Milliseconds(seconds * 1e3),
                  fmt::format("{:.1f} %", total > 0 ? 100 * seconds / total : 0)});
  };
  for (const PassReport& report : reports) add(report.pass, report.seconds);
  add("total", total);
  return table.ToString(stderr);
}

}  // namespace weft::tools
