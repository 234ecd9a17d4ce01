// Times of runs and of operations, for people and as JSON, whose schemas are in tools/schemas.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/ir_run/runner.h"

namespace weft::tools {

// Of the times of every run.
struct TimeSummary {
  size_t runs = 0;
  double min = 0, mean = 0, p50 = 0, p90 = 0, p99 = 0;
};
TimeSummary Summarise(const std::vector<double>& milliseconds);
nlohmann::ordered_json JsonOf(const TimeSummary& times);

std::string BenchTable(const std::vector<double>& milliseconds, size_t arena_bytes);
std::string BenchJson(const std::vector<double>& milliseconds, size_t arena_bytes);
std::string ProfileTable(const std::vector<ProfiledStep>& steps);
std::string ProfileJson(const std::vector<ProfiledStep>& steps);

}  // namespace weft::tools
