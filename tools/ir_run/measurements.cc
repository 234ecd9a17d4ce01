#include "tools/ir_run/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tools/cli/tables/json_text.h"
#include "tools/cli/tables/table.h"
#include "tools/ir_run/bench.h"

namespace weft::tools {
namespace {

using nlohmann::ordered_json;

double TotalOf(const std::vector<ProfiledStep>& steps) {
  double total = 0;
  for (const ProfiledStep& step : steps) total += step.milliseconds;
  return total;
}

double Share(double part, double whole) { return whole > 0 ? std::min(part / whole, 1.0) : 0; }

}  // namespace

TimeSummary Summarise(const std::vector<double>& milliseconds) {
  const auto runs = static_cast<double>(std::max<size_t>(1, milliseconds.size()));
  return {.runs = milliseconds.size(),
          .min = Quantile(milliseconds, 0),
          .mean = std::accumulate(milliseconds.begin(), milliseconds.end(), 0.0) / runs,
          .p50 = Quantile(milliseconds, 0.5),
          .p90 = Quantile(milliseconds, 0.9),
          .p99 = Quantile(milliseconds, 0.99)};
}

ordered_json JsonOf(const TimeSummary& times) {
  return {{"runs", times.runs}, {"min", times.min}, {"mean", times.mean},
          {"p50", times.p50},   {"p90", times.p90}, {"p99", times.p99}};
}

std::string BenchTable(const std::vector<double>& milliseconds, size_t arena_bytes) {
  const TimeSummary times = Summarise(milliseconds);
  Table table({"runs", "min", "mean", "p50", "p90", "p99", "arena"});
  table.AddRow({fmt::format("{}", times.runs), Milliseconds(times.min), Milliseconds(times.mean),
                Milliseconds(times.p50), Milliseconds(times.p90), Milliseconds(times.p99),
                Mebibytes(arena_bytes)});
  return table.ToString(stdout);
}

std::string BenchJson(const std::vector<double>& milliseconds, size_t arena_bytes) {
  return JsonText({{"milliseconds", JsonOf(Summarise(milliseconds))},
                   {"every_run", milliseconds},
                   {"arena_bytes", arena_bytes}});
}

std::string ProfileTable(const std::vector<ProfiledStep>& steps) {
  const double total = TotalOf(steps);
  Table table({"op", "time", "share", "kernel", "place", "rules"});
  for (const ProfiledStep& step : steps)
    table.AddRow({step.op, Milliseconds(step.milliseconds),
                  fmt::format("{:.1f} %", 100 * Share(step.milliseconds, total)), step.kernel,
                  step.place, step.rules});
  table.AddRow({"all", Milliseconds(total), "100.0 %"});
  return table.ToString(stdout);
}

std::string ProfileJson(const std::vector<ProfiledStep>& steps) {
  const double total = TotalOf(steps);
  ordered_json all = ordered_json::array();
  for (const ProfiledStep& step : steps)
    all.push_back({{"op", step.op},
                   {"milliseconds", step.milliseconds},
                   {"share", Share(step.milliseconds, total)},
                   {"kernel", step.kernel},
                   {"provider", step.provider},
                   {"place", step.place},
                   {"rules", step.rules}});
  return JsonText({{"milliseconds", total}, {"steps", all}});
}

}  // namespace weft::tools
