// Timing runs of a session.
#pragma once

#include <functional>
#include <istream>
#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

using RunOnce = std::function<absl::Status()>;

// Warms up, then runs for about two seconds, but at least ten times (five when a run takes
// seconds). Milliseconds of every run.
absl::StatusOr<std::vector<double>> TimeRuns(const RunOnce& run);

// Turns between two contenders in blocks, so that whatever else the machine does hits both alike.
struct PairedTimes {
  std::vector<double> a, b;
};
absl::StatusOr<PairedTimes> TimeInTurns(const RunOnce& a, const RunOnce& b);

// The q-quantile (0..1) by linear interpolation.
double Quantile(std::vector<double> values, double q);

std::string Mebibytes(size_t bytes);  // "9.25 MiB"

// The protocol of --bench-blocks: a line with a count on `in` is answered by a line of that many
// times in milliseconds on stdout. Ends at the end of input; InvalidArgument for any other line.
absl::Status ServeBlocks(std::istream& in, const RunOnce& run);

}  // namespace weft::tools
