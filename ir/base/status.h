// The one header that meets Abseil's status types. Debian 12's Abseil has its own string_view, so
// messages are passed as std::string / const char* here and never as std::string_view.
//
//   if (!ok) return InvalidArgument("onnx.MatMul: x has 4 columns but y has 5 rows");
//   WEFT_RETURN_IF_ERROR(Verify(op));
//   WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Program> p, ParseProgram(context, text));
//
// InvalidArgument: the input is wrong (tools exit 2). Unsupported: the input is fine but we cannot
// do it (tools exit 3).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace weft::ir {

inline absl::Status InvalidArgument(const std::string& message) {
  return absl::InvalidArgumentError(message);
}
inline absl::Status Unsupported(const std::string& message) {
  return absl::UnimplementedError(message);
}
inline absl::Status NotFound(const std::string& message) { return absl::NotFoundError(message); }
inline absl::Status Internal(const std::string& message) { return absl::InternalError(message); }

inline std::string_view Message(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// The same code with `prefix` in front of the message.
inline absl::Status Annotate(const absl::Status& status, std::string_view prefix) {
  if (status.ok()) return status;
  std::string message(prefix);
  message += ": ";
  message += Message(status);
  return absl::Status(status.code(), message);
}

}  // namespace weft::ir

#define WEFT_RETURN_IF_ERROR(expression)                                                \
  do {                                                                                  \
    if (absl::Status weft_status = (expression); !weft_status.ok()) return weft_status; \
  } while (false)

#define WEFT_CONCAT_INNER(a, b) a##b
#define WEFT_CONCAT(a, b) WEFT_CONCAT_INNER(a, b)
#define WEFT_ASSIGN_OR_RETURN(declaration, expression)          \
  auto WEFT_CONCAT(weft_or_, __LINE__) = (expression);          \
  if (!WEFT_CONCAT(weft_or_, __LINE__).ok())                    \
    return std::move(WEFT_CONCAT(weft_or_, __LINE__)).status(); \
  declaration = std::move(WEFT_CONCAT(weft_or_, __LINE__)).value()
