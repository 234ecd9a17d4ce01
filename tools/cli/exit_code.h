// Exit codes of the programs, and the status that leads to each.
#pragma once

#include <string>

#include "ir/base/status.h"

namespace weft::tools {

enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,  // outputs differ, or a check of ours failed
  kBadInput = 2,     // bad usage or bad input
  kUnsupported = 3,  // the input is fine but uses something that is not supported
};

// A check that the user asked for did not hold: exit 1.
absl::Status CheckFailed(const std::string& message);

int ExitCodeOf(const absl::Status& status);

}  // namespace weft::tools
