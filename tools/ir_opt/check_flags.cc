#include "tools/ir_opt/check_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

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

// The model runs with them: no more than it takes.
std::vector<int64_t> LeastSizes(const passes::DimRange& range) {
  constexpr size_t kSizes = 16;
  std::vector<int64_t> sizes = {range.low};
  while (sizes.size() < kSizes && sizes.back() <= range.high - range.step)
    sizes.push_back(sizes.back() + range.step);
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
      options.sizes[range->name] = LeastSizes(*range);
  return options;
}

}  // namespace weft::tools
