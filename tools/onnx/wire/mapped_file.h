// Read-only memory maps of regular files.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "ir/attribute.h"
#include "ir/base/status.h"

namespace weft::onnx {

// Unmaps when it dies, unless the map was handed on.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  // Maps a regular file of at most max_bytes; links are followed. An empty file has no bytes.
  static absl::StatusOr<MappedFile> Open(const std::string& path, size_t max_bytes);
  // Maps the regular file at `relative` below `directory`. Refuses absolute paths, "..", symbolic
  // links (in any component below the directory), devices, pipes and directories, and files with
  // several names unless `allow_hard_links`.
  static absl::StatusOr<MappedFile> OpenBelow(const std::string& directory,
                                              const std::string& relative, size_t max_bytes,
                                              bool allow_hard_links);

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  // A buffer that unmaps and closes the file when it is released; this object keeps seeing the bytes
  // but no longer owns them.
  ir::WeightBuffer HandOn();
  // Keeps the map alone, before it is handed on.
  void CloseFile();
  bool is_open() const { return file_ >= 0; }
  bool owned() const { return owned_; }

 private:
  static absl::StatusOr<MappedFile> Map(int fd, const std::string& name, size_t max_bytes);
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  int file_ = -1;
  bool owned_ = false;
};

// The folder part of a path, "." if it has none.
std::string DirectoryOf(const std::string& path);

}  // namespace weft::onnx
