#include "weft/c/guard.h"

#include <fmt/format.h>

#include "weft/version.h"

namespace weft::c {
namespace {

// The text of a thread's last error. It is no std::string, which could not be kept without memory.
class ErrorText {
 public:
  void Set(const char* text) noexcept {
    try {
      long_ = text;
      for (char& c : long_)
        if (c == '\n') c = ' ';
      use_short_ = false;
    } catch (...) {
      std::strncpy(short_, text, sizeof(short_) - 1);
      use_short_ = true;
    }
  }
  const char* Get() const noexcept { return use_short_ ? short_ : long_.c_str(); }

 private:
  std::string long_;
  char short_[120] = {};  // when there is no memory for the other
  bool use_short_ = false;
};

thread_local ErrorText error_text;

weft_code CodeFor(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kOk:
      return WEFT_OK;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
      return WEFT_INVALID_ARGUMENT;
    case absl::StatusCode::kUnimplemented:
      return WEFT_UNIMPLEMENTED;
    case absl::StatusCode::kFailedPrecondition:
      return WEFT_CHECK_FAILED;
    case absl::StatusCode::kCancelled:
      return WEFT_CANCELLED;
    case absl::StatusCode::kResourceExhausted:
      return WEFT_RESOURCE_EXHAUSTED;
    default:
      return WEFT_INTERNAL;
  }
}

}  // namespace

weft_code Fail(weft_code code, const char* text) noexcept {
  error_text.Set(text);
  return code;
}

weft_code CodeOf(const absl::Status& status) noexcept {
  if (status.ok()) return WEFT_OK;
  try {
    return Fail(CodeFor(status.code()), std::string(ir::Message(status)).c_str());
  } catch (...) {
    return Fail(CodeFor(status.code()), "no memory for the text of an error");
  }
}

absl::Status CheckNotNull(const void* pointer, const char* what) {
  if (pointer != nullptr) return absl::OkStatus();
  return ir::InvalidArgument(fmt::format("{} is NULL", what));
}

absl::Status CheckSize(const void* given, size_t known, const char* name) {
  size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < sizeof(size))
    return ir::InvalidArgument(
        fmt::format("the size of {} is {}, expected sizeof({})", name, size, name));
  const auto* bytes = static_cast<const unsigned char*>(given);
  for (size_t i = known; i < size; ++i)
    if (bytes[i] != 0)
      return ir::InvalidArgument(
          fmt::format("{} has {} bytes and sets what version {} does not know, which has {}", name,
                      size, WEFT_VERSION_STRING, known));
  return absl::OkStatus();
}

Notices NoticesOf(weft_notice_fn notice, void* user_data) {
  if (notice == nullptr) return {};
  const auto as = [=](weft_notice_kind kind) {
    return [=](const std::string& text) { notice(user_data, kind, text.c_str()); };
  };
  return {.warning = as(WEFT_NOTICE_WARNING),
          .error = as(WEFT_NOTICE_ERROR),
          .text = as(WEFT_NOTICE_TEXT)};
}

std::function<bool()> StopOf(int (*stop)(void*), void* user_data) {
  if (stop == nullptr) return nullptr;
  return [=] { return stop(user_data) != 0; };
}

}  // namespace weft::c

extern "C" {

const char* weft_error_message(void) { return weft::c::error_text.Get(); }
int32_t weft_c_api_version(void) { return WEFT_C_API_VERSION; }
const char* weft_version(void) { return WEFT_VERSION_STRING; }

}  // extern "C"
