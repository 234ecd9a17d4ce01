#include "tools/cli/exit_code.h"

namespace weft::tools {

int ExitCodeOf(const absl::Status& status) {
  if (IsCheckFailure(status)) return kCheckFailed;
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kDone;
    case absl::StatusCode::kUnimplemented:
      return kUnsupported;
    default:
      return kBadInput;
  }
}

}  // namespace weft::tools
