// Files that the programs read and write.
#pragma once

#include <string>
#include <string_view>

#include "ir/base/status.h"

namespace weft {

enum class ModelFormat { kOnnx, kIr };
// By suffix: .onnx or .ir.
absl::StatusOr<ModelFormat> ModelFormatOf(const std::string& path);

bool EndsWith(std::string_view text, std::string_view suffix);

// The same path, or two names of one file (device and inode).
bool SameFile(const std::string& a, const std::string& b);

// In place of what the path meant, in one step (ir/base/output_file.h).
absl::Status WriteText(const std::string& path, std::string_view text);
// The whole file; InvalidArgument when it is larger than max_bytes.
absl::StatusOr<std::string> ReadText(const std::string& path, size_t max_bytes);

}  // namespace weft
