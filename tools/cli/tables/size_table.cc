#include "tools/cli/tables/size_table.h"

#include <fmt/format.h>

#include <filesystem>

#include "tools/cli/tables/table.h"

namespace weft::tools {
namespace {

// 1234567: "1,234,567".
std::string WithCommas(uint64_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string BytesText(std::optional<uint64_t> bytes, const char* otherwise) {
  if (!bytes) return otherwise;
  const auto count = static_cast<double>(*bytes);
  if (*bytes < 100 << 10) return fmt::format("{:.2f} KiB", count / (1 << 10));
  return fmt::format("{:.2f} MiB", count / (1 << 20));
}

std::string FlopsText(const ModelSize& size) {
  const char* const units[] = {"", " k", " M", " G", " T", " P"};
  double count = size.flops;
  size_t unit = 0;
  for (; count >= 1000 && unit + 1 < std::size(units); ++unit) count /= 1000;
  std::string text =
      unit == 0 ? fmt::format("{:.0f}", count) : fmt::format("{:.4g}{}", count, units[unit]);
  if (size.uncounted_operations == 0) return text;
  return fmt::format("{} and {} of unknown size", text, size.uncounted_operations);
}

}  // namespace

std::string SizeTable(const SizedModel& before, const SizedModel& after) {
  Table table({"", "before", "after"});
  const auto row = [&](const char* name, const auto& text) {
    table.AddRow({name, text(before), text(after)});
  };
  row("operations", [](const SizedModel& m) { return WithCommas(m.size.operations); });
  row("parameters", [](const SizedModel& m) { return WithCommas(m.size.parameters); });
  row("FLOPs", [](const SizedModel& m) { return FlopsText(m.size); });
  if (before.file_bytes || after.file_bytes)
    row("file", [](const SizedModel& m) { return BytesText(m.file_bytes, "none"); });
  row("arena", [](const SizedModel& m) { return BytesText(m.size.arena_bytes, "unknown"); });
  return table.ToString(stderr);
}

std::optional<uint64_t> FileBytes(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  uint64_t bytes = 0;
  for (const char* side : {"", ".weights", ".data"}) {
    const auto size = std::filesystem::file_size(path + side, error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace weft::tools
