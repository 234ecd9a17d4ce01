#include "kernels/xnnpack/xnnpack.h"

namespace weft::kernels::xnnpack {

absl::Status FromXnn(xnn_status status, std::string_view what) {
  const std::string subject(what);
  switch (status) {
    case xnn_status_success:
      return absl::OkStatus();
    case xnn_status_invalid_parameter:
      return ir::Unsupported(subject + ": XNNPACK does not take these parameters");
    case xnn_status_unsupported_parameter:
      return ir::Unsupported(subject + ": XNNPACK does not support these parameters");
    case xnn_status_unsupported_hardware:
      return ir::Unsupported(subject + ": XNNPACK does not support this machine");
    case xnn_status_out_of_memory:
      return absl::ResourceExhaustedError(subject + ": XNNPACK ran out of memory");
    default:
      return ir::Internal(subject + ": XNNPACK status " + std::to_string(status));
  }
}

}  // namespace weft::kernels::xnnpack
