// A new file that appears under its name only when it is complete.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "ir/attribute.h"
#include "ir/base/status.h"

namespace weft::onnx {

// Writes to a temporary file beside `path`; Commit renames it. Without Commit nothing is left.
class FileWriter {
 public:
  FileWriter() = default;
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;
  ~FileWriter();

  absl::Status Open(const std::string& path);
  absl::Status Append(std::string_view text);
  absl::Status Append(std::span<const std::byte> bytes);  // large ranges are not copied
  absl::Status AppendContents(ir::Attribute dense);       // as a file stores them; not of strings
  absl::Status AppendZeros(size_t count);
  absl::Status Commit();
  size_t size() const { return size_; }

 private:
  absl::Status Flush();
  absl::Status WriteAll(const char* data, size_t size);
  std::string path_, temporary_;
  std::string buffer_;
  int fd_ = -1;
  size_t size_ = 0;
};

}  // namespace weft::onnx
