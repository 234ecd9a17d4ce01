#include "unittests/conformance/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "tools/cli/tables/table.h"

namespace weft::conformance {
namespace {

using Counts = std::array<size_t, kNumStatuses>;

std::vector<std::string> Heads(std::vector<std::string> first) {
  first.insert(first.end(), kStatusNames.begin(), kStatusNames.end());
  first.push_back("all");
  return first;
}

// A status that no test has is left blank.
std::vector<std::string> Row(std::vector<std::string> first, const Counts& counts) {
  for (const size_t count : counts) first.push_back(count == 0 ? "" : fmt::format("{}", count));
  first.push_back(fmt::format("{}", std::accumulate(counts.begin(), counts.end(), size_t{0})));
  return first;
}

size_t Index(const Result& result) { return static_cast<size_t>(result.Worst().status); }

std::vector<std::vector<std::string>> TotalRows(const RunResults& run) {
  std::map<std::pair<std::string, std::string>, Counts> suites;
  Counts all = {};
  for (size_t i = 0; i < run.cases.size(); ++i) {
    ++suites[{run.cases[i].data, run.cases[i].suite}][Index(run.results[i])];
    ++all[Index(run.results[i])];
  }
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, counts] : suites) rows.push_back(Row({name.first, name.second}, counts));
  rows.push_back(Row({"all", ""}, all));
  return rows;
}

std::string MarkdownTable(const std::vector<std::string>& heads, size_t left_columns,
                          const std::vector<std::vector<std::string>>& rows) {
  std::string text = fmt::format("| {} |\n|", fmt::join(heads, " | "));
  for (size_t i = 0; i < heads.size(); ++i) text += i < left_columns ? "---|" : "--:|";
  text += '\n';
  for (const auto& row : rows) text += fmt::format("| {} |\n", fmt::join(row, " | "));
  return text + "\n";
}

std::vector<std::vector<std::string>> OpRows(const RunResults& run) {
  std::map<std::string, Counts> ops;
  for (size_t i = 0; i < run.cases.size(); ++i)
    if (!run.cases[i].op.empty()) ++ops[run.cases[i].op][Index(run.results[i])];
  std::vector<std::vector<std::string>> rows;
  for (const auto& [op, counts] : ops) rows.push_back(Row({op}, counts));
  return rows;
}

}  // namespace

std::string TotalsTable(const RunResults& run) {
  tools::Table table(Heads({"data", "suite"}));
  for (auto& row : TotalRows(run)) table.AddRow(std::move(row));
  return table.ToString(stdout);
}

std::string MarkdownReport(const RunResults& run, const std::vector<std::string>& pipelines) {
  std::string text =
      fmt::format("# ONNX conformance\n\nPipelines: {}. A test counts with the worst of them.\n\n",
                  fmt::join(pipelines, ", "));
  text += MarkdownTable(Heads({"data", "suite"}), 2, TotalRows(run));
  text += "## Operators\n\n" + MarkdownTable(Heads({"op"}), 1, OpRows(run));
  const auto list = [&](const char* head, const auto& belongs) {
    text += fmt::format("## {}\n\n", head);
    for (size_t test = 0; test < run.cases.size(); ++test)
      for (size_t i = 0; i < pipelines.size(); ++i)
        if (const Outcome& outcome = run.results[test].outcomes[i]; belongs(outcome))
          text +=
              fmt::format("- `{}` `{}` ({}) {}: {}\n", run.cases[test].data, run.cases[test].Key(),
                          pipelines[i], StatusName(outcome.status), outcome.reason);
  };
  list("Neither right nor refused as unsupported",
       [](const Outcome& outcome) { return outcome.status > Status::kUnsupported; });
  text += "\n";
  list("Quantised values rounded the other way", [](const Outcome& outcome) {
    return outcome.status == Status::kPass && !outcome.reason.empty();
  });
  return text;
}

}  // namespace weft::conformance
