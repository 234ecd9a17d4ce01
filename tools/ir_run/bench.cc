#include "tools/ir_run/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>

namespace weft::tools {
namespace {

constexpr double kWarmUpMs = 200, kMeasureMs = 2000, kSlowRunMs = 1000;
constexpr size_t kMinRuns = 10, kMinSlowRuns = 5, kMaxRuns = 20000;

absl::StatusOr<double> TimeOne(const RunOnce& run) {
  const auto start = std::chrono::steady_clock::now();
  WEFT_RETURN_IF_ERROR(run());
  const auto elapsed = std::chrono::steady_clock::now() - start;
  return std::chrono::duration<double, std::milli>(elapsed).count();
}

// The typical time of a run, after a warm-up of at least two.
absl::StatusOr<double> WarmUp(const RunOnce& run) {
  std::vector<double> times;
  for (double total = 0; times.size() < 2 || total < kWarmUpMs;) {
    WEFT_ASSIGN_OR_RETURN(const double ms, TimeOne(run));
    times.push_back(ms);
    total += ms;
    if (times.size() >= kMaxRuns) break;
  }
  return Quantile(times, 0.5);
}

absl::Status TimeBlock(const RunOnce& run, size_t count, std::vector<double>* times) {
  for (size_t i = 0; i < count; ++i) {
    WEFT_ASSIGN_OR_RETURN(const double ms, TimeOne(run));
    times->push_back(ms);
  }
  return absl::OkStatus();
}

// Runs for that long, at least so often: by the clock, since on a busy machine runs get slower.
absl::Status TimeFor(const RunOnce& run, double milliseconds, size_t least,
                     std::vector<double>* times) {
  const size_t most = times->size() + kMaxRuns;
  least += times->size();
  for (double total = 0; (times->size() < least || total < milliseconds) && times->size() < most;) {
    WEFT_ASSIGN_OR_RETURN(const double ms, TimeOne(run));
    times->push_back(ms);
    total += ms;
  }
  return absl::OkStatus();
}

size_t LeastRuns(double typical_ms) { return typical_ms > kSlowRunMs ? kMinSlowRuns : kMinRuns; }

}  // namespace

absl::StatusOr<std::vector<double>> TimeRuns(const RunOnce& run) {
  WEFT_ASSIGN_OR_RETURN(const double typical, WarmUp(run));
  std::vector<double> times;
  WEFT_RETURN_IF_ERROR(TimeFor(run, kMeasureMs, LeastRuns(typical), &times));
  return times;
}

absl::StatusOr<PairedTimes> TimeInTurns(const RunOnce& a, const RunOnce& b) {
  constexpr size_t kTurns = 10;
  WEFT_ASSIGN_OR_RETURN(const double typical_a, WarmUp(a));
  WEFT_ASSIGN_OR_RETURN(const double typical_b, WarmUp(b));
  const auto least = [](double typical) { return (LeastRuns(typical) + kTurns - 1) / kTurns; };
  PairedTimes times;
  for (size_t turn = 0; turn < kTurns; ++turn) {
    WEFT_RETURN_IF_ERROR(TimeFor(a, kMeasureMs / kTurns, least(typical_a), &times.a));
    WEFT_RETURN_IF_ERROR(TimeFor(b, kMeasureMs / kTurns, least(typical_b), &times.b));
  }
  return times;
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const auto low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (values[high] - values[low]) * (at - static_cast<double>(low));
}

std::string Mebibytes(size_t bytes) {
  return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / (1 << 20));
}

absl::Status ServeBlocks(std::istream& in, const RunOnce& run) {
  std::string line;
  while (std::getline(in, line)) {
    size_t count = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
    if (error != std::errc() || end != line.data() + line.size() || count == 0)
      return ir::InvalidArgument("--bench-blocks: '" + line + "' is not a positive count");
    std::vector<double> times;
    WEFT_RETURN_IF_ERROR(TimeBlock(run, count, &times));
    std::string answer;
    for (const double ms : times) answer += fmt::format("{}{:.6f}", answer.empty() ? "" : " ", ms);
    std::printf("%s\n", answer.c_str());
    std::fflush(stdout);
  }
  return absl::OkStatus();
}

}  // namespace weft::tools
