#include "tools/cli/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace weft::tools {
namespace {

absl::Status FileError(const std::string& path, const char* what) {
  return ir::InvalidArgument(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
}

bool IsSpecial(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

// A new empty file beside `path`, with the permissions any new file would get.
absl::StatusOr<std::string> CreateBeside(const std::string& path) {
  std::string name = path + ".XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) return FileError(path, "cannot be written");
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(file, 0666 & ~mask);
  close(file);
  return name;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

bool EndsWith(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

absl::StatusOr<ModelFormat> ModelFormatOf(const std::string& path) {
  if (EndsWith(path, ".onnx")) return ModelFormat::kOnnx;
  if (EndsWith(path, ".ir")) return ModelFormat::kIr;
  return ir::InvalidArgument(path + ": expected a name that ends in .onnx or .ir");
}

bool SameFile(const std::string& a, const std::string& b) {
  if (a == b) return true;
  struct stat x, y;
  return stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && x.st_dev == y.st_dev &&
         x.st_ino == y.st_ino;
}

absl::Status ReplaceFile(const std::string& path,
                         const std::function<absl::Status(const std::string& path)>& write) {
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
    return ir::InvalidArgument(path + ": is a folder");
  if (IsSpecial(path)) return write(path);
  std::error_code error;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, error);
  const std::string final_path = error ? path : target.string();  // a link stays a link
  WEFT_ASSIGN_OR_RETURN(const std::string temporary, CreateBeside(final_path));
  absl::Status status = write(temporary);
  if (status.ok() && std::rename(temporary.c_str(), final_path.c_str()) != 0)
    status = FileError(path, "cannot be replaced");
  if (!status.ok()) unlink(temporary.c_str());
  return status;
}

absl::Status WriteText(const std::string& path, std::string_view text) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) return FileError(path, "cannot be written");
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (std::fclose(file) != 0 || !written) return FileError(path, "writing failed");
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadText(const std::string& path, size_t max_bytes) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return FileError(path, "cannot be read");
  std::string text;
  char buffer[1 << 16];
  size_t n;
  while ((n = std::fread(buffer, 1, sizeof(buffer), file.get())) > 0) {
    text.append(buffer, n);
    if (text.size() > max_bytes)
      return ir::InvalidArgument(fmt::format("{}: larger than {} bytes", path, max_bytes));
  }
  if (std::ferror(file.get())) return FileError(path, "reading failed");
  return text;
}

}  // namespace weft::tools
