// The status of a check that the user asked for and that did not hold.
#pragma once

#include <string>

#include "ir/base/status.h"

namespace weft {

inline absl::Status CheckFailed(const std::string& message) {
  return absl::FailedPreconditionError(message);
}

// Or of a program that is not what a pass may leave, which its verifier found.
inline bool IsCheckFailure(const absl::Status& status) {
  return absl::IsFailedPrecondition(status) || absl::IsInternal(status);
}

}  // namespace weft
