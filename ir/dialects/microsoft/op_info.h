// Names of ops of the domain com.microsoft.
#pragma once

#include "ir/op_def.h"

namespace weft::ir::microsoft {

inline constexpr std::string_view kDomain = "com.microsoft";

// The ONNX op_type of "com.microsoft.Op".
constexpr std::string_view TypeOf(std::string_view name) { return name.substr(kDomain.size() + 1); }

}  // namespace weft::ir::microsoft
