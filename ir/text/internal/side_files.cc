#include "ir/text/internal/side_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ir/base/read_files.h"

namespace weft::ir::text {
namespace {

absl::Status CheckName(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != name.npos ||
      name.find('\0') != name.npos)
    return InvalidArgument(fmt::format("side file \"{}\" is not a plain file name", name));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::span<const std::byte>> SideFiles::Map(const std::string& name) {
  WEFT_RETURN_IF_ERROR(CheckName(name));
  if (folder_.empty())
    return InvalidArgument(
        fmt::format("side file \"{}\" cannot be read: no folder is given for side files", name));
  if (auto it = mapped_.find(name); it != mapped_.end()) return it->second;
  const std::string path = folder_ + "/" + name;
  // O_NONBLOCK: opening a pipe must not wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0)
    return InvalidArgument(fmt::format("cannot open side file {}: {}", path, std::strerror(errno)));
  struct stat info = {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return InvalidArgument(fmt::format("side file {} is not a regular file", path));
  }
  const auto size = static_cast<size_t>(info.st_size);
  NoteRead(fd);
  void* data = size ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0) : nullptr;
  if (data == MAP_FAILED) {
    const int error = errno;
    close(fd);
    return InvalidArgument(fmt::format("cannot map side file {}: {}", path, std::strerror(error)));
  }
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(data), size);
  constexpr size_t kMostOpen = 64;  // the map alone serves, too
  const int kept = size > 0 && mapped_.size() < kMostOpen ? fd : -1;
  if (kept < 0) close(fd);
  const auto release = [data, size, kept] {
    munmap(data, size);
    if (kept >= 0) close(kept);
  };
  if (size > 0) context_->AddWeightBuffer({bytes.data(), size, release, kept});
  mapped_[name] = bytes;
  return bytes;
}

absl::StatusOr<std::span<const std::byte>> SideFiles::Read(const std::string& name, uint64_t offset,
                                                           uint64_t size) {
  auto file = Map(name);
  if (!file.ok()) return file.status();
  if (offset > file->size() || size > file->size() - offset)
    return InvalidArgument(fmt::format("side file {} has {} bytes but {} at {} are asked for", name,
                                       file->size(), size, offset));
  return file->subspan(offset, size);
}

}  // namespace weft::ir::text
