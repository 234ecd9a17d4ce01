#include "ir/text/weights.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ir/text/internal/weight_layout.h"

namespace weft::ir {
namespace {

bool WriteContents(const text::WeightLayout& layout, std::FILE* file) {
  uint64_t at = 0;
  for (Attribute dense : layout.contents()) {
    static constexpr char kZeros[64] = {};
    const uint64_t offset = layout.OffsetOf(dense);
    const auto bytes = dense.bytes();
    if (std::fwrite(kZeros, 1, offset - at, file) != offset - at ||
        std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size())
      return false;
    at = offset + bytes.size();
  }
  return true;
}

}  // namespace

absl::Status WriteWeights(Program& program, const std::string& path, const PrintOptions& options) {
  const text::WeightLayout layout(program, options);
  if (layout.contents().empty()) return absl::OkStatus();
  const std::string partial = path + ".partial";
  std::FILE* file = std::fopen(partial.c_str(), "wb");
  if (!file) return InvalidArgument(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  bool ok = WriteContents(layout, file);
  ok = std::fclose(file) == 0 && ok;
  if (ok && std::rename(partial.c_str(), path.c_str()) == 0) return absl::OkStatus();
  const int error = errno;
  std::remove(partial.c_str());
  return InvalidArgument(fmt::format("cannot write {}: {}", path, std::strerror(error)));
}

}  // namespace weft::ir
