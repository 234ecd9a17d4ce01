// WEFT_CHECK: aborts with file:line and a message when an invariant of ours is broken. Kept in
// every build. For mistakes in outside input use absl::Status (ir/base/status.h) instead.
//
//   WEFT_CHECK(op.IsValid(), "operation was erased");
#pragma once

#include <string_view>

namespace weft::ir {

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              std::string_view message);

}  // namespace weft::ir

#define WEFT_CHECK(condition, message)                                    \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::weft::ir::CheckFailed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
