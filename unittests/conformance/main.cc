// conformance: runs ONNX's backend tests and compares the status of each with a committed table.
// `conformance --help` has the flags; tools/dev conformance builds and runs it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/available_cpus.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/program_main.h"
#include "unittests/conformance/isolation.h"
#include "unittests/conformance/report.h"
#include "unittests/conformance/run_case.h"
#include "unittests/conformance/status_table.h"
#include "unittests/conformance/test_case.h"
#include "weft/base/files.h"
#include "weft/optimize/run_passes.h"

namespace weft::conformance {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInstalledData = "/usr/share/libonnx-testdata/data";
constexpr size_t kMaxTableBytes = size_t{64} << 20, kMaxListed = 40;

struct Flags {
  std::vector<std::string> data, pipelines = {"none", "fuse"};
  bool data_only = false;
  std::string tables = WEFT_CONFORMANCE_TABLES, report, filter;
  int jobs = kernels::AvailableCpus();
  unsigned timeout_seconds = 60;
  bool bless = std::getenv("WEFT_BLESS") != nullptr;
};

void AddFlags(CLI::App& app, Flags* flags) {
  app.add_option("--data", flags->data, "more tests, SUITE/TEST/model.onnx below it; repeatable")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_flag("--data-only", flags->data_only, "leave out the tests of libonnx-testdata");
  app.add_option("--pipeline", flags->pipelines, "none and fuse if not given; repeatable")
      ->type_name("P")
      ->allow_extra_args(false);
  app.add_option("--filter", flags->filter, "only tests whose SUITE/TEST has a match")
      ->type_name("REGEX");
  app.add_flag("--bless", flags->bless, "write the statuses into the tables; also WEFT_BLESS=1");
  app.add_option("--tables", flags->tables, "where the tables are")->type_name("DIR");
  app.add_option("--report", flags->report, "write the statuses per operator, in Markdown")
      ->type_name("FILE.md");
  app.add_option("--jobs", flags->jobs, "tests at a time; the CPUs the process may use")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--timeout", flags->timeout_seconds, "of a test (60)")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
}

// The folders to look into, by what names their tables.
absl::StatusOr<std::vector<std::pair<std::string, std::string>>> DataFolders(const Flags& flags) {
  std::vector<std::pair<std::string, std::string>> folders;
  if (!flags.data_only && fs::is_directory(kInstalledData))
    folders.emplace_back("libonnx-testdata", kInstalledData);
  for (const std::string& folder : flags.data) {
    fs::path path = fs::absolute(folder).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();  // of DIR/
    folders.emplace_back(path.filename().string(), path.string());
  }
  if (folders.empty())
    return ir::Unsupported("no tests: install libonnx-testdata or give --data DIR");
  return folders;
}

absl::StatusOr<std::vector<TestCase>> SelectCases(const Flags& flags) {
  std::vector<TestCase> cases;
  WEFT_ASSIGN_OR_RETURN(const auto folders, DataFolders(flags));
  for (const auto& [data, folder] : folders) {
    WEFT_ASSIGN_OR_RETURN(const auto found, FindCases(data, folder));
    cases.insert(cases.end(), found.begin(), found.end());
  }
  NameOps(&cases);
  if (flags.filter.empty()) return cases;
  try {
    const std::regex regex(flags.filter);
    std::erase_if(cases, [&](const auto& test) { return !std::regex_search(test.Key(), regex); });
  } catch (const std::regex_error&) {
    return ir::InvalidArgument("--filter " + flags.filter + ": not a regular expression");
  }
  if (cases.empty())
    return ir::InvalidArgument("--filter " + flags.filter + ": no test has a match");
  return cases;
}

absl::StatusOr<RunResults> RunAll(const Flags& flags, std::vector<TestCase> cases) {
  const std::span<const std::string> pipelines = flags.pipelines;
  const IsolationOptions options = {.jobs = flags.jobs, .timeout_seconds = flags.timeout_seconds};
  WEFT_ASSIGN_OR_RETURN(
      auto outcomes, RunIsolated(cases.size(), pipelines.size(), options,
                                 [&](size_t index, size_t first_pipeline, const auto& report) {
                                   RunCase(cases[index], pipelines.subspan(first_pipeline), report);
                                 }));
  RunResults run = {std::move(cases), {}};
  for (size_t i = 0; i < run.cases.size(); ++i)
    run.results.push_back({run.cases[i].suite, run.cases[i].name, std::move(outcomes[i])});
  return run;
}

// Makes the folder of the file too.
absl::Status WriteInto(const std::string& path, const std::string& text) {
  std::error_code error;
  fs::create_directories(fs::absolute(path).parent_path(), error);
  return WriteText(path, text);
}

absl::StatusOr<StatusTable> ReadTable(const std::string& path) {
  if (!fs::exists(path)) return StatusTable();
  WEFT_ASSIGN_OR_RETURN(const std::string text, ReadText(path, kMaxTableBytes));
  absl::StatusOr<StatusTable> table = StatusTable::Parse(text);
  if (!table.ok()) return ir::Annotate(table.status(), path);
  return table;
}

void PrintChanges(const char* kind, const std::vector<std::string>& lines) {
  for (size_t i = 0; i < std::min(lines.size(), kMaxListed); ++i)
    std::printf("%s: %s\n", kind, lines[i].c_str());
  if (lines.size() > kMaxListed) std::printf("%s: and %zu more\n", kind, lines.size() - kMaxListed);
}

// Compares with the table of the source and blesses if asked; the number of regressions that stay.
absl::StatusOr<size_t> CheckTable(const Flags& flags, const std::string& data,
                                  const std::vector<Result>& results) {
  const std::string path = (fs::path(flags.tables) / (data + ".txt")).string();
  const bool complete = flags.filter.empty();
  WEFT_ASSIGN_OR_RETURN(StatusTable table, ReadTable(path));
  const Changes changes = table.Compare(flags.pipelines, results, complete);
  PrintChanges("regression", changes.regressions);
  PrintChanges("improvement", changes.improvements);
  PrintChanges("not in the table", changes.unknown);
  PrintChanges("not in the data", changes.missing);
  if (flags.bless) {
    table.Update(flags.pipelines, results, complete);
    WEFT_RETURN_IF_ERROR(WriteInto(path, table.ToText()));
    std::printf("%s: %zu tests written\n", path.c_str(), table.size());
    return 0;
  }
  if (!changes.empty())
    std::printf(
        "%s: %zu regressions, %zu improvements, %zu not in the table, %zu not in the data; "
        "tools/dev conformance --bless writes what is\n",
        data.c_str(), changes.regressions.size(), changes.improvements.size(),
        changes.unknown.size(), changes.missing.size());
  return changes.regressions.size();
}

absl::Status CheckTables(const Flags& flags, const RunResults& run) {
  std::map<std::string, std::vector<Result>> by_data;
  for (size_t i = 0; i < run.cases.size(); ++i)
    by_data[run.cases[i].data].push_back(run.results[i]);
  size_t regressions = 0;
  for (const auto& [data, results] : by_data) {
    WEFT_ASSIGN_OR_RETURN(const size_t count, CheckTable(flags, data, results));
    regressions += count;
  }
  if (regressions > 0) return CheckFailed(fmt::format("{} regressions", regressions));
  return absl::OkStatus();
}

absl::Status Run(const Flags& flags) {
  for (const std::string& pipeline : flags.pipelines)
    WEFT_RETURN_IF_ERROR(CheckPassSelection({.pipeline = pipeline}));
  const auto start = std::chrono::steady_clock::now();
  WEFT_ASSIGN_OR_RETURN(auto cases, SelectCases(flags));
  WEFT_ASSIGN_OR_RETURN(const RunResults run, RunAll(flags, std::move(cases)));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  std::fputs(TotalsTable(run).c_str(), stdout);
  std::printf("%zu tests in %.1f s\n", run.cases.size(), seconds.count());
  if (!flags.report.empty())
    WEFT_RETURN_IF_ERROR(WriteInto(flags.report, MarkdownReport(run, flags.pipelines)));
  return CheckTables(flags, run);
}

}  // namespace
}  // namespace weft::conformance

int main(int argc, char** argv) {
  using namespace weft;  // NOLINT
  CLI::App app("", "conformance");
  tools::SetUpApp(app, "usage: conformance [options]     runs ONNX's backend tests",
                  "exit: 0 done, 1 regressions, 2 bad usage or input, 3 no tests are installed");
  conformance::Flags flags;
  conformance::AddFlags(app, &flags);
  return tools::RunMain(app, argc, argv, [&] { return conformance::Run(flags); });
}
