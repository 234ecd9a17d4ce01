#include "tools/onnx/wire/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/read_files.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  void Reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }

 private:
  int fd_;
};

absl::Status CannotOpen(const std::string& name, int error) {
  return ir::InvalidArgument(fmt::format("cannot open {}: {}", Quoted(name), strerror(error)));
}

}  // namespace

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      file_(std::exchange(other.file_, -1)),
      owned_(std::exchange(other.owned_, false)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(file_, other.file_);
  std::swap(owned_, other.owned_);
  return *this;
}

MappedFile::~MappedFile() {
  CloseFile();
  if (owned_) munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::CloseFile() {
  if (owned_ && file_ >= 0) close(std::exchange(file_, -1));
}

ir::WeightBuffer MappedFile::HandOn() {
  owned_ = false;
  const auto release = [data = data_, size = size_, file = file_] {
    munmap(const_cast<std::byte*>(data), size);
    if (file >= 0) close(file);
  };
  return {data_, size_, release, file_};
}

absl::StatusOr<MappedFile> MappedFile::Map(int fd, const std::string& name, size_t max_bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0) return CannotOpen(name, errno);
  if (!S_ISREG(info.st_mode))
    return ir::InvalidArgument(fmt::format("{} is not a regular file", Quoted(name)));
  const auto size = static_cast<size_t>(info.st_size);
  if (size > max_bytes)
    return ir::InvalidArgument(
        fmt::format("{} has {} bytes, more than the limit of {}", Quoted(name), size, max_bytes));
  ir::NoteRead(fd);
  MappedFile file;
  if (size == 0) return file;
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return CannotOpen(name, errno);
  file.data_ = static_cast<const std::byte*>(data);
  file.size_ = size;
  file.owned_ = true;
  file.file_ = fcntl(fd, F_DUPFD_CLOEXEC, 0);  // -1 where too many are open
  return file;
}

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path, size_t max_bytes) {
  // O_NONBLOCK: opening a pipe must not wait for a writer; it has no effect on regular files.
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) return CannotOpen(path, errno);
  return Map(fd.get(), path, max_bytes);
}

absl::StatusOr<MappedFile> MappedFile::OpenBelow(const std::string& directory,
                                                 const std::string& relative, size_t max_bytes,
                                                 bool allow_hard_links) {
  const auto refuse = [&](std::string_view why) {
    return ir::InvalidArgument(fmt::format("external data path {} {}", Quoted(relative), why));
  };
  if (relative.empty()) return refuse("is empty");
  if (relative.find('\0') != std::string::npos) return refuse("holds a zero byte");
  if (relative[0] == '/') return refuse("is absolute");
  std::vector<std::string> parts;
  std::string_view rest = relative;
  while (!rest.empty()) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part == "..") {
      if (parts.empty()) return refuse("leaves the folder of the model");
      parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.emplace_back(part);
    }
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  if (parts.empty()) return refuse("names no file");
  if (parts.size() > 64) return refuse("is too deep");

  FileDescriptor fd(open(directory.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY));
  if (fd.get() < 0) return CannotOpen(directory, errno);
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW | (last ? O_NONBLOCK : O_DIRECTORY);
    const int next = openat(fd.get(), parts[i].c_str(), flags);
    if (next < 0) {
      if (errno == ELOOP || (errno == ENOTDIR && !last))
        return refuse("passes through a symbolic link or a file that is no folder");
      return CannotOpen(relative, errno);
    }
    fd.Reset(next);
  }
  struct stat info;
  if (!allow_hard_links && fstat(fd.get(), &info) == 0 && S_ISREG(info.st_mode) &&
      info.st_nlink > 1)
    return refuse(
        fmt::format("has {} names, some maybe outside the folder of the model; "
                    "--allow-hard-links reads it all the same",
                    info.st_nlink));
  return Map(fd.get(), relative, max_bytes);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace weft::onnx
