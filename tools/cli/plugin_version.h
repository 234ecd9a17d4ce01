// The version of Weft that a shared object was built for, read without loading it.
#pragma once

#include <string>

#include "ir/base/status.h"

namespace weft::tools {

// What WEFT_PLUGIN() wrote. InvalidArgument for what is no whole ELF file of this machine's word size
// and byte order, or has no such note.
absl::StatusOr<std::string> ReadPluginVersion(const std::string& path);

}  // namespace weft::tools
