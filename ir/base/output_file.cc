#include "ir/base/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

#include "ir/base/read_files.h"

namespace weft::ir {
namespace {

constexpr size_t kBuffer = size_t{256} << 10;
constexpr size_t kMaxWrite = size_t{1} << 30;  // Linux writes at most 2 GiB at once
constexpr int kMaxNames = 100;

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Calls use(name) with names in the folder of `path` until it does not fail with EEXIST; the last error, or 0.
template <class Use>
int WithNewName(const std::string& path, std::string* name, const Use& use) {
  for (int i = 0; i < kMaxNames; ++i) {
    *name = fmt::format("{}/.weft-{}-{}.tmp", FolderOf(path), getpid(), i);
    if (use(name->c_str())) return 0;
    if (errno != EEXIST) break;
  }
  const int error = errno;
  name->clear();
  return error;
}

// What a path means that ends in links, also where that is not there yet.
std::string FollowLinks(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // as in Linux
  std::error_code error;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path, error);
  return (error ? path : whole).string();
}

class BlockSignals {
 public:
  BlockSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  BlockSignals(const BlockSignals&) = delete;
  BlockSignals& operator=(const BlockSignals&) = delete;
  ~BlockSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

class FileDescriptors {
 public:
  FileDescriptors() = default;
  FileDescriptors(const FileDescriptors&) = delete;
  FileDescriptors& operator=(const FileDescriptors&) = delete;
  ~FileDescriptors() {
    for (const int fd : open_) close(fd);
  }
  void Open(const std::string& path) {  // if it can be read
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0) open_.push_back(fd);
  }

 private:
  std::vector<int> open_;
};

// Holds back other CommitTogethers in the folder, which take microseconds. A lock that lasts longer
// is somebody else's (`flock . ir-opt ...`) and not waited for. No folder: no lock.
class LockFolder {
 public:
  explicit LockFolder(const std::string& folder)
      : fd_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int kTries = 1000;
    for (int i = 0; fd_ >= 0 && i < kTries && flock(fd_, LOCK_EX | LOCK_NB) != 0; ++i) usleep(1000);
  }
  LockFolder(const LockFolder&) = delete;
  LockFolder& operator=(const LockFolder&) = delete;
  ~LockFolder() {
    if (fd_ >= 0) close(fd_);
  }

 private:
  int fd_;
};

}  // namespace

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::Status OutputFile::CannotWrite(int error) const {
  return InvalidArgument(fmt::format("cannot write {}: {}", given_path_, std::strerror(error)));
}

absl::Status OutputFile::Open(const std::string& path, Links links) {
  given_path_ = path_ = path;
  const bool follow = links == Links::kFollow;
  struct stat info = {};
  if ((follow ? stat : lstat)(path.c_str(), &info) == 0) {
    if (S_ISDIR(info.st_mode)) return CannotWrite(EISDIR);
    in_place_ = !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode);
    if (S_ISREG(info.st_mode)) permissions_ = info.st_mode & 0777;
    if (MustKeep(info))
      return InvalidArgument(fmt::format("cannot write {}: that file is read", given_path_));
  } else if (errno == ELOOP) {
    return CannotWrite(ELOOP);
  }
  if (in_place_) {
    fd_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return fd_ >= 0 ? absl::OkStatus() : CannotWrite(errno);
  }
  if (follow) path_ = FollowLinks(path);
  return OpenTemporary();
}

absl::Status OutputFile::OpenTemporary() {
  fd_ = open(FolderOf(path_).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  // /proc is where such a file gets its name from.
  if (fd_ < 0 || access("/proc/self/fd", X_OK) != 0) {
    if (fd_ >= 0) close(fd_);
    const int error = WithNewName(path_, &temporary_, [this](const char* name) {
      fd_ = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
      return fd_ >= 0;
    });
    if (error != 0) return CannotWrite(error);
  }
  if (permissions_) fchmod(fd_, *permissions_);  // where the file system has any
  return absl::OkStatus();
}

absl::Status OutputFile::WriteAll(const char* data, size_t size) {
  if (memory_ != nullptr) {
    memory_->append(data, size);
    return absl::OkStatus();
  }
  while (size > 0) {
    const ssize_t written = write(fd_, data, std::min(size, kMaxWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EFAULT)  // `data` is a map of a file
      return InvalidArgument(
          fmt::format("cannot write {}: a file that it is made from became shorter", given_path_));
    if (written < 0) return CannotWrite(errno);
    data += written;
    size -= static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status OutputFile::Flush() {
  absl::Status status = WriteAll(buffer_.data(), buffer_.size());
  buffer_.clear();
  return status;
}

absl::Status OutputFile::Append(std::string_view text) {
  size_ += text.size();
  if (text.size() < kBuffer) {
    buffer_ += text;
    return buffer_.size() >= kBuffer ? Flush() : absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(Flush());
  return WriteAll(text.data(), text.size());
}

absl::Status OutputFile::Append(std::span<const std::byte> bytes) {
  return Append(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::Status OutputFile::AppendZeros(size_t count) { return Append(std::string(count, '\0')); }

absl::Status OutputFile::Finish() {
  WEFT_RETURN_IF_ERROR(Flush());
  // Without it a power cut after the rename may leave an empty file under the name.
  return in_place_ || fsync(fd_) == 0 ? absl::OkStatus() : CannotWrite(errno);
}

absl::Status OutputFile::Close() {
  if (!in_place_ && temporary_.empty()) {
    const std::string unnamed = fmt::format("/proc/self/fd/{}", fd_);
    const int error = WithNewName(path_, &temporary_, [&](const char* name) {
      return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    });
    if (error != 0) return CannotWrite(error);
  }
  const int fd = fd_;
  fd_ = -1;
  return close(fd) == 0 ? absl::OkStatus() : CannotWrite(errno);  // quotas of NFS are told here
}

absl::Status OutputFile::Rename() {
  if (in_place_) return absl::OkStatus();
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) return CannotWrite(errno);
  temporary_.clear();
  return absl::OkStatus();
}

absl::Status OutputFile::Commit() {
  if (memory_ != nullptr) return Flush();
  OutputFile* const files[] = {this};
  return CommitTogether(files);
}

absl::Status CommitTogether(std::span<OutputFile* const> files) {
  std::vector<OutputFile*> open;
  for (OutputFile* file : files)
    if (file->is_open()) open.push_back(file);
  for (OutputFile* file : open) WEFT_RETURN_IF_ERROR(file->Finish());  // may take seconds
  const BlockSignals block;
  for (OutputFile* file : open) WEFT_RETURN_IF_ERROR(file->Close());
  const LockFolder lock(open.size() > 1 ? FolderOf(open[0]->path_) : "");
  // While a file is open its blocks are not given back, which takes longer than to rename another.
  FileDescriptors replaced;
  for (OutputFile* file : open) replaced.Open(file->path_);
  for (OutputFile* file : open) WEFT_RETURN_IF_ERROR(file->Rename());
  return absl::OkStatus();
}

}  // namespace weft::ir
