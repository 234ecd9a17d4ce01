// Exit codes of the programs, and the status that leads to each.
#pragma once

#include "weft/base/check_failed.h"

namespace weft::tools {

enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1,  // outputs differ, or a check of ours failed
  kBadInput = 2,     // bad usage or bad input
  kUnsupported = 3,  // the input is fine but uses something that is not supported
};

int ExitCodeOf(const absl::Status& status);

}  // namespace weft::tools
