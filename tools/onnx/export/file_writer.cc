#include "tools/onnx/export/file_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tools/onnx/proto/packed.h"
#include "tools/onnx/wire/text.h"

namespace weft::onnx {
namespace {

constexpr size_t kBuffer = size_t{256} << 10;
constexpr size_t kMaxWrite = size_t{1} << 30;  // Linux writes at most 2 GiB at once

absl::Status CannotWrite(const std::string& path, int error) {
  return ir::InvalidArgument(fmt::format("cannot write {}: {}", Quoted(path), strerror(error)));
}

}  // namespace

FileWriter::~FileWriter() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(temporary_.c_str());
}

absl::Status FileWriter::Open(const std::string& path) {
  path_ = path;
  for (int i = 0; i < 100; ++i) {
    temporary_ = fmt::format("{}.{}-{}.tmp", path, getpid(), i);
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd_ >= 0) return absl::OkStatus();
    if (errno != EEXIST) break;
  }
  return CannotWrite(path, errno);
}

absl::Status FileWriter::WriteAll(const char* data, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd_, data, std::min(size, kMaxWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return CannotWrite(path_, errno);
    data += written;
    size -= static_cast<size_t>(written);
  }
  return absl::OkStatus();
}

absl::Status FileWriter::Flush() {
  absl::Status status = WriteAll(buffer_.data(), buffer_.size());
  buffer_.clear();
  return status;
}

absl::Status FileWriter::Append(std::string_view text) {
  size_ += text.size();
  if (text.size() < kBuffer) {
    buffer_ += text;
    return buffer_.size() >= kBuffer ? Flush() : absl::OkStatus();
  }
  WEFT_RETURN_IF_ERROR(Flush());
  return WriteAll(text.data(), text.size());
}

absl::Status FileWriter::Append(std::span<const std::byte> bytes) {
  return Append(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

absl::Status FileWriter::AppendContents(ir::Attribute dense) {
  const ir::DataType dtype = dense.dense_type().dtype();
  std::span<const std::byte> rest = dense.bytes();
  if (!IsPacked(dtype)) return Append(rest);
  while (!rest.empty()) {  // kBuffer is a multiple of what fits into a byte
    const size_t count = std::min(rest.size(), kBuffer);
    WEFT_RETURN_IF_ERROR(Append(Pack(dtype, rest.first(count))));
    rest = rest.subspan(count);
  }
  return absl::OkStatus();
}

absl::Status FileWriter::AppendZeros(size_t count) { return Append(std::string(count, '\0')); }

absl::Status FileWriter::Commit() {
  absl::Status status = Flush();
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0 && status.ok()) status = CannotWrite(path_, errno);
  if (status.ok() && rename(temporary_.c_str(), path_.c_str()) != 0)
    status = CannotWrite(path_, errno);
  if (!status.ok()) unlink(temporary_.c_str());
  return status;
}

}  // namespace weft::onnx
