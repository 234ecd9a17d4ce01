// Lower and upper case of UTF-8, letter by letter as Unicode maps single letters: a letter whose other
// case is several letters (the German sharp s) stays as it is, and no language has rules of its own.
#pragma once

#include <string>
#include <string_view>

#include "ir/base/status.h"

namespace weft::kernels::reference {

enum class LetterCase { kLower, kUpper };

// InvalidArgument for what is no UTF-8; Unsupported for letters beyond ASCII where the machine lacks
// the locale C.UTF-8, whose tables these are.
absl::StatusOr<std::string> ToCase(std::string_view text, LetterCase to);

}  // namespace weft::kernels::reference
