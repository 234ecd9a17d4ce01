#include "kernels/strings_result.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::kernels {
namespace {

absl::Status TooLarge(const ir::Shape& dims) {
  return ir::InvalidArgument(fmt::format("strings of shape {} would take more than {} GiB",
                                         ir::ToString(dims), kMaxDynamicBytes >> 30));
}

}  // namespace

absl::StatusOr<StringsResult> StringsResult::Create(ir::Shape dims) {
  StringsResult result;
  size_t bytes = sizeof(std::string);
  for (const int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(bytes, static_cast<size_t>(dim), &bytes) ||
        bytes > kMaxDynamicBytes)
      return TooLarge(dims);
  }
  result.num_strings_ = bytes / sizeof(std::string);
  result.dims_ = std::move(dims);
  return result;
}

absl::Status StringsResult::Add(std::string text) {
  bytes_ += sizeof(std::string) + text.size();
  if (bytes_ > kMaxDynamicBytes) return TooLarge(dims_);
  strings_.push_back(std::move(text));
  return absl::OkStatus();
}

std::string QuotedText(std::string_view text) {
  constexpr size_t kMaxShown = 60;
  size_t end = std::min(text.size(), kMaxShown);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;  // not amid a character
  std::string quoted = "\"";
  for (const char c : text.substr(0, end)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      quoted += {'\\', c};
    else if (c == '\n')
      quoted += "\\n";
    else if (byte < 0x20 || byte == 0x7f)
      quoted += fmt::format("\\x{:02x}", byte);
    else
      quoted += c;
  }
  return quoted + (end < text.size() ? "\"..." : "\"");
}

}  // namespace weft::kernels
