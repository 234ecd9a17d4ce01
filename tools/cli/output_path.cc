#include "tools/cli/output_path.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "weft/base/files.h"

namespace weft::tools {
namespace {

// Without links, ".." and "." as far as the path exists. One of which no part does would stay relative.
std::filesystem::path RealPath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return std::filesystem::weakly_canonical(absolute, error).lexically_normal();
}

}  // namespace

bool NamesSameFile(const std::string& a, const std::string& b) {
  return SameFile(a, b) || RealPath(a) == RealPath(b);
}

absl::Status CheckOutputPath(const std::string& flag, const std::string& path,
                             const std::vector<std::string>& others) {
  std::error_code error;
  if (path == "-") return ir::InvalidArgument(fmt::format("{} -: expected a file", flag));
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder, error))
    return ir::InvalidArgument(
        fmt::format("{} {}: there is no folder {}", flag, path, folder.string()));
  if (std::filesystem::is_directory(path, error))
    return ir::InvalidArgument(fmt::format("{} {}: is a folder, expected a file", flag, path));
  for (const std::string& other : others)
    for (const char* side : {"", ".weights", ".data"})
      if (!other.empty() && NamesSameFile(other + side, path))
        return ir::InvalidArgument(
            fmt::format("{} {}: would overwrite {}{}", flag, path, other, side));
  return absl::OkStatus();
}

}  // namespace weft::tools
