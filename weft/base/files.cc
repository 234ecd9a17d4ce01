#include "weft/base/files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "ir/base/output_file.h"
#include "ir/base/read_files.h"

namespace weft {
namespace {

absl::Status FileError(const std::string& path, const char* what) {
  return ir::InvalidArgument(fmt::format("{}: {}: {}", path, what, std::strerror(errno)));
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

absl::Status WriteText(const std::string& path, std::string_view text) {
  ir::OutputFile file;
  WEFT_RETURN_IF_ERROR(file.Open(path));
  WEFT_RETURN_IF_ERROR(file.Append(text));
  return file.Commit();
}

absl::StatusOr<std::string> ReadText(const std::string& path, size_t max_bytes) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "rb"));
  if (!file) return FileError(path, "cannot be read");
  ir::NoteRead(fileno(file.get()));
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

}  // namespace weft
