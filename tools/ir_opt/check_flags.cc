#include "tools/ir_opt/check_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "ir/base/contains.h"
#include "passes/targets/ascend/dim_range.h"
#include "tools/cli/program_main.h"

namespace weft::tools {
namespace {

std::optional<int> ParseCount(const std::string& text) {
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return count >= 1 && count <= kMaxCheckInputs ? std::optional(count) : std::nullopt;
}

// The least, the largest unless the model would run for long with it, and those after the least.
std::vector<int64_t> SizesToTry(const passes::DimRange& range) {
  constexpr size_t kSizes = 16;
  constexpr int64_t kLargest = 64;
  std::vector<int64_t> sizes = {range.low};
  const int64_t most = std::min(range.high, kLargest);
  if (most - range.low >= range.step)
    sizes.push_back(range.low + (most - range.low) / range.step * range.step);
  for (int64_t size = range.low; sizes.size() < kSizes && size <= range.high - range.step;) {
    size += range.step;
    if (!ir::Contains(sizes, size)) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

void AddCheckFlag(CLI::App& app, CheckFlags* flags) {
  app.add_flag("--check{3}", flags->inputs, "same outputs? =N inputs; find, shrink bugs");
}

void AddToleranceFlag(CLI::App& app, CheckFlags* flags) {
  app.add_option("--tolerance", flags->tolerance)->type_name("T")->group(kSameLine);
}

absl::Status CheckCheckFlags(const CheckFlags& flags) {
  if (!flags.inputs.empty() && !ParseCount(flags.inputs))
    return ir::InvalidArgument(
        fmt::format("--check={}: expected a number from 1 to {}", flags.inputs, kMaxCheckInputs));
  if (flags.tolerance && !(*flags.tolerance >= 0))
    return ir::InvalidArgument(
        fmt::format("--tolerance {}: expected a number of at least 0", *flags.tolerance));
  return absl::OkStatus();
}

CheckOptions CheckOptionsOf(const CheckFlags& flags, const PassSelection& passes) {
  CheckOptions options{.inputs = ParseCount(flags.inputs).value_or(CheckOptions().inputs),
                       .tolerance = flags.tolerance};
  for (const std::string& text : passes.dim_ranges)
    if (const auto range = passes::ParseDimRange(text); range.ok())
      options.sizes[range->name] = SizesToTry(*range);
  return options;
}

}  // namespace weft::tools
