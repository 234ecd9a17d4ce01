#include "tools/cli/values/tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "ir/base/suggest.h"
#include "kernels/reference/reference.h"
#include "kernels/runtime/value_type.h"
#include "kernels/strings_result.h"
#include "tools/cli/output_path.h"
#include "tools/cli/program_main.h"
#include "tools/cli/values/value_file.h"
#include "weft/base/files.h"
#include "weft/check/inputs.h"

namespace weft::tools {
namespace {

using kernels::RuntimeValue;
using kernels::TensorInfo;
using kernels::ValueRange;

std::vector<std::string> NamesOf(std::span<const TensorInfo> infos) {
  std::vector<std::string> names;
  for (const TensorInfo& info : infos) names.push_back(info.name);
  return names;
}

// Of NAME=VALUE flags, and with `colon` of NAME:VALUE too, where a name has such a character itself: the longest of the
// names by which one begins. Others are split as usual.
absl::StatusOr<std::pair<std::string, std::string>> SplitAtName(
    const std::string& option, const std::string& text, const std::vector<std::string>& names,
    bool colon = false) {
  size_t length = 0;
  for (const std::string& name : names) {
    if (name.size() <= length || name.size() + 1 >= text.size() || !text.starts_with(name))
      continue;
    const char next = text[name.size()];
    const bool is_colon = colon && next == ':' && text.find('=', name.size()) == std::string::npos;
    if (next == '=' || is_colon) length = name.size();
  }
  if (length > 0) return std::pair(text.substr(0, length), text.substr(length + 1));
  return colon ? SplitNamed(option, text) : SplitAssignment(option, text);
}

// By index in `infos`: the values of NAME=FILE flags.
absl::StatusOr<std::vector<std::optional<RuntimeValue>>> ReadAssignments(
    ir::IrContext& context, const std::string& option, const std::string& kind,
    std::span<const TensorInfo> infos, const std::vector<std::string>& assignments) {
  const std::vector<std::string> names = NamesOf(infos);
  std::vector<std::optional<RuntimeValue>> values(infos.size());
  for (const std::string& text : assignments) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment, SplitAtName(option, text, names));
    const auto& [name, path] = assignment;
    WEFT_RETURN_IF_ERROR(ir::CheckName(kind, name, names));
    const auto i = std::find(names.begin(), names.end(), name) - names.begin();
    if (values[i]) return ir::InvalidArgument(fmt::format("{} '{}' is given twice", kind, name));
    WEFT_ASSIGN_OR_RETURN(values[i], ReadValue(context, path, infos[i].type));
  }
  return values;
}

absl::StatusOr<int64_t> ParseBound(const std::string& flag, std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && !text.empty()) return value;
  return ir::InvalidArgument(fmt::format("--input-range {}: '{}' is no integer", flag, text));
}

// By index in `infos`: the ranges of --input-range flags.
absl::StatusOr<std::vector<std::optional<ValueRange>>> ReadRanges(
    std::span<const TensorInfo> infos, const std::vector<std::string>& flags) {
  const std::vector<std::string> names = NamesOf(infos);
  std::vector<std::optional<ValueRange>> ranges(infos.size());
  for (const std::string& flag : flags) {
    WEFT_ASSIGN_OR_RETURN(const auto assignment,
                          SplitAtName("--input-range", flag, names, /*colon=*/true));
    const auto& [name, text] = assignment;
    WEFT_RETURN_IF_ERROR(ir::CheckName("input", name, names));
    const size_t comma = text.find(',');
    if (comma == std::string::npos)
      return ir::InvalidArgument(fmt::format("--input-range {}: expected NAME=LOW,HIGH", flag));
    auto& range = ranges[std::find(names.begin(), names.end(), name) - names.begin()].emplace();
    WEFT_ASSIGN_OR_RETURN(range.low, ParseBound(flag, std::string_view(text).substr(0, comma)));
    WEFT_ASSIGN_OR_RETURN(range.high, ParseBound(flag, std::string_view(text).substr(comma + 1)));
  }
  return ranges;
}

}  // namespace

absl::StatusOr<std::vector<RuntimeValue>> GatherInputs(ir::IrContext& context,
                                                       std::span<const TensorInfo> inputs,
                                                       const InputFlags& flags) {
  WEFT_ASSIGN_OR_RETURN(auto given,
                        ReadAssignments(context, "--input", "input", inputs, flags.files));
  WEFT_ASSIGN_OR_RETURN(auto ranges, ReadRanges(inputs, flags.ranges));
  for (size_t i = 0; i < inputs.size(); ++i)
    if (given[i] && ranges[i])
      return ir::InvalidArgument(
          fmt::format("--input-range is for random inputs, and input '{}' is read from a file",
                      inputs[i].name));
  return CompleteInputs(inputs, std::move(given),
                        {.seed = flags.seed, .ranges = std::move(ranges)});
}

absl::StatusOr<std::vector<std::optional<RuntimeValue>>> ReadExpected(
    ir::IrContext& context, std::span<const TensorInfo> outputs,
    const std::vector<std::string>& files) {
  return ReadAssignments(context, "--expect", "output", outputs, files);
}

absl::Status WriteValues(ir::IrContext& context, const ValueFolder& to,
                         std::span<const TensorInfo> infos, const std::vector<RuntimeValue>& values,
                         const std::vector<std::string>& others) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < values.size(); ++i)
    paths.push_back(fmt::format("{}/{}_{}.pb", to.path, to.kind, i));
  for (const std::string& path : paths)
    for (const std::string& other : others)
      if (!other.empty() && NamesSameFile(path, other))
        return ir::InvalidArgument(
            fmt::format("{} {}: would overwrite {}", to.flag, to.path, other));
  std::error_code error;
  std::filesystem::create_directories(to.path, error);
  if (error) return ir::InvalidArgument(to.path + ": cannot be made: " + error.message());
  for (size_t i = 0; i < values.size(); ++i)
    WEFT_RETURN_IF_ERROR(WriteValue(context, paths[i], values[i], infos[i].type, infos[i].name));
  return absl::OkStatus();
}

std::vector<kernels::TensorView> ViewsOf(const std::vector<RuntimeValue>& values) {
  std::vector<kernels::TensorView> views;
  views.reserve(values.size());
  for (const RuntimeValue& value : values) views.push_back(value.view);
  return views;
}

std::vector<std::span<const int64_t>> DimsOf(const std::vector<RuntimeValue>& values) {
  std::vector<std::span<const int64_t>> dims;
  dims.reserve(values.size());
  for (const RuntimeValue& value : values) dims.push_back(value.view.dims);
  return dims;
}

namespace {

constexpr size_t kMaxShown = 10;  // tensors of a sequence, strings of a tensor

std::string FirstStrings(std::span<const std::string> strings) {
  std::string text;
  for (const std::string& s : strings.first(std::min(strings.size(), kMaxShown)))
    text += " " + kernels::QuotedText(s);
  return strings.size() > kMaxShown ? text + " ..." : text;
}

}  // namespace

std::string Summary(const RuntimeValue& value) {
  std::string text = kernels::Describe(value);
  if (value.IsSequence()) {
    const kernels::Sequence& tensors = *value.sequence;
    for (size_t i = 0; i < std::min(tensors.size(), kMaxShown); ++i)
      text += fmt::format("\n  {}", Summary(RuntimeValue::Of(tensors[i])));
    return tensors.size() > kMaxShown ? text + "\n  ..." : text;
  }
  if (!value.IsTensor() || value.view.NumElements() == 0) return text;
  if (value.view.dtype == ir::DataType::kString)
    return text + FirstStrings(value.view.values<std::string>());
  if (value.view.dtype == ir::DataType::kC64 || value.view.dtype == ir::DataType::kC128)
    return text;
  const std::vector<double> values = kernels::reference::ReadDoubles(value.view);
  double least = INFINITY, most = -INFINITY, sum = 0;
  for (const double v : values) {
    least = std::min(least, v);
    most = std::max(most, v);
    sum += v;
  }
  if (std::isnan(sum)) sum = NAN;        // whose sign says nothing
  if (least > most) least = most = NAN;  // all are
  return fmt::format("{} min {:.6g} mean {:.6g} max {:.6g}", text, least,
                     sum / static_cast<double>(values.size()), most);
}

}  // namespace weft::tools
