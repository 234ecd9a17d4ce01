#include "passes/targets/ascend/dim_range.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace weft::passes {
namespace {

// Takes a number off the front.
bool ReadSize(std::string_view* text, int64_t* size) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *size);
  if (error != std::errc() || *size < 1) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

bool Skip(std::string_view* text, std::string_view word) {
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  return true;
}

// whole * part / parts, which may not fit before the division.
uint64_t Share(uint64_t whole, uint64_t part, uint64_t parts) {
  return whole / parts * part + whole % parts * part / parts;
}

}  // namespace

absl::StatusOr<DimRange> ParseDimRange(std::string_view text) {
  const size_t equals = text.find('=');
  DimRange range;
  range.name = std::string(text.substr(0, equals));
  std::string_view rest = equals == text.npos ? std::string_view() : text.substr(equals + 1);
  const bool good = !range.name.empty() && ReadSize(&rest, &range.low) && Skip(&rest, "..") &&
                    ReadSize(&rest, &range.high) &&
                    (rest.empty() || (Skip(&rest, "*") && ReadSize(&rest, &range.step))) &&
                    rest.empty();
  if (!good)
    return ir::InvalidArgument(
        fmt::format("'{}' is not a range of sizes: expected NAME=LOW..HIGH or NAME=LOW..HIGH*STEP, "
                    "sizes of at least 1",
                    text));
  if (range.low > range.high || range.low % range.step != 0 || range.high % range.step != 0)
    return ir::InvalidArgument(fmt::format(
        "'{}': the low end is above the high end, or one is no multiple of {}", text, range.step));
  return range;
}

std::vector<int64_t> DimRange::Sizes(size_t at_most) const {
  const auto count = static_cast<uint64_t>((high - low) / step) + 1;
  const uint64_t n = std::min<uint64_t>(count, at_most);
  std::vector<int64_t> sizes;
  for (uint64_t i = 0; i < n; ++i)
    sizes.push_back(low + step * static_cast<int64_t>(n == 1 ? 0 : Share(count - 1, i, n - 1)));
  return sizes;
}

}  // namespace weft::passes
