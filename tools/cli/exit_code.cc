#include "tools/cli/exit_code.h"

namespace weft::tools {

absl::Status CheckFailed(const std::string& message) {
  return absl::FailedPreconditionError(message);
}

int ExitCodeOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kUnimplemented:
      return kUnsupported;
    case absl::StatusCode::kFailedPrecondition:  // CheckFailed
    case absl::StatusCode::kInternal:            // a pass broke the program: the verifier's check
      return kCheckFailed;
    default:
      return kBadInput;
  }
}

}  // namespace weft::tools
