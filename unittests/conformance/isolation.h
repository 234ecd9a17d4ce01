// Runs tests in processes of their own, so that one that crashes or hangs ends nothing but itself.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "ir/base/status.h"
#include "unittests/conformance/outcome.h"

namespace weft::conformance {

struct IsolationOptions {
  int jobs = 1;
  unsigned timeout_seconds = 60;  // of one process
  size_t memory_bytes = size_t{4} << 30;
};

// Reports the outcomes of test `index` from its part `first_part` on, in order, as they are known.
using RunParts = std::function<void(size_t index, size_t first_part,
                                    const std::function<void(const Outcome&)>& report)>;

// Forks a process for every test, `jobs` at a time; the caller must have one thread and no other
// children. result[test][part]: the part at which a process ended too early is kCrash, with the last
// line it wrote to stderr, or kTimeout, and another process runs the parts after it.
absl::StatusOr<std::vector<std::vector<Outcome>>> RunIsolated(size_t tests, size_t parts,
                                                              const IsolationOptions& options,
                                                              const RunParts& run);

}  // namespace weft::conformance
