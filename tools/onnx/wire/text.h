// Text of untrusted origin: checks, and quoting for one-line messages.
#pragma once

#include <string>
#include <string_view>

#include "ir/base/status.h"

namespace weft::onnx {

bool IsUtf8(std::string_view text);

// 'text' in quotes, control and non-ASCII bytes as \xNN, cut after about 60 characters.
std::string Quoted(std::string_view text);

// The same error on one line of printable ASCII, at most about 400 characters.
absl::Status OneLine(const absl::Status& status);

std::string HexEncode(std::string_view bytes);
bool HexDecode(std::string_view text, std::string* bytes);

// A decimal number without sign or spaces, at most 2^63 - 1.
bool ParseSize(std::string_view text, size_t* value);

}  // namespace weft::onnx
