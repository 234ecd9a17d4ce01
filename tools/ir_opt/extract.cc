#include "tools/ir_opt/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "ir/analysis/default_inputs.h"
#include "ir/base/suggest.h"
#include "tools/onnx/part_notes.h"
#include "weft/check/extract.h"
#include "weft/io/named_values.h"
#include "weft/io/shapes.h"

namespace weft::tools {
namespace {

using ir::Operation;
using ir::Program;
using ir::Value;

constexpr std::string_view kTo = "..";

absl::StatusOr<std::vector<std::string>> SplitNames(std::string_view names,
                                                    const std::string& text) {
  std::vector<std::string> result;
  while (!names.empty()) {
    const size_t comma = std::min(names.find(','), names.size());
    result.emplace_back(names.substr(0, comma));
    if (result.back().empty() || comma + 1 == names.size())
      return ir::InvalidArgument(fmt::format("--extract {}: a name is empty", text));
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return result;
}

absl::StatusOr<Value> Find(const std::string& name, Program& program) {
  Value value = ValueOfName(program, name);
  if (const auto number = ValueNumberOf(name); !value && number)
    value = ValueOfNumber(program, *number);
  if (!value) return ir::UnknownName("value", name, ValueNames(program));
  if (value.ParentBlock() == program.body()) return value;
  return ir::InvalidArgument(
      fmt::format("--extract: '{}' is a value inside of an {}; expected one of the main graph",
                  name, HolderInBody(value.ParentBlock().ParentOp()).name()));
}

absl::StatusOr<std::vector<Value>> FindAll(const std::vector<std::string>& names,
                                           Program& program) {
  std::vector<Value> values;
  for (const std::string& name : names) {
    WEFT_ASSIGN_OR_RETURN(const Value value, Find(name, program));
    if (std::find(values.begin(), values.end(), value) != values.end())
      return ir::InvalidArgument(fmt::format("--extract: '{}' is given twice", name));
    values.push_back(value);
  }
  return values;
}

// What is left of a name that is a number: results have to have names.
std::string OutputName(const std::string& name, Value value) {
  if (!ValueNumberOf(name) || value.name() == name) return name;
  return value.name().empty() ? "value_" + name.substr(1) : std::string(value.name());
}

// What the outputs need.
struct Needed {
  std::unordered_set<uint32_t> ops;
  std::vector<Value> inputs;  // of the program, that are not in `from`
};

Needed NeededBy(const std::vector<Value>& outputs, const std::vector<Value>& from) {
  std::unordered_set<uint32_t> seen;
  for (const Value value : from) seen.insert(value.id());
  Needed needed;
  std::vector<Value> work = outputs;
  while (!work.empty()) {
    const Value value = work.back();
    work.pop_back();
    if (!seen.insert(value.id()).second) continue;
    if (value.IsBlockArgument()) {
      needed.inputs.push_back(value);
    } else if (needed.ops.insert(value.DefiningOp().id()).second) {
      for (const Value read : ValuesReadBy(value.DefiningOp())) work.push_back(read);
    }
  }
  std::sort(needed.inputs.begin(), needed.inputs.end(),
            [](Value a, Value b) { return a.index() < b.index(); });
  return needed;
}

absl::Status CheckNoInputIsMissing(const std::vector<Value>& inputs, const ExtractRange& range,
                                   Program& program) {
  const std::vector<ProgramInput> all = InputsOf(program);
  std::set<std::string> defaults;
  for (const auto& [name, value] : ir::DefaultsOfInputs(program)) defaults.insert(name);
  std::vector<std::string> missing;
  for (const Value input : inputs)
    if (const std::string& name = all[input.index()].name; !defaults.contains(name))
      missing.push_back(fmt::format("'{}'", name));
  if (missing.empty()) return absl::OkStatus();
  return ir::InvalidArgument(fmt::format(
      "--extract: {} need{} the input{} {}, too, which no value of {} stands for",
      range.to.empty() ? "the outputs" : fmt::format("'{}'", fmt::join(range.to, "', '")),
      range.to.size() == 1 ? "s" : "", missing.size() == 1 ? "" : "s", fmt::join(missing, ", "),
      fmt::join(range.from, ", ")));
}

std::vector<std::string> OutputNames(Program& program) {
  const ir::Attribute names = program.module().attr("output_names");
  if (!names.Is(ir::AttrKind::kStrings)) return {};
  return {names.AsStrings().begin(), names.AsStrings().end()};
}

}  // namespace

absl::StatusOr<ExtractRange> ParseExtractRange(const std::string& text) {
  const size_t at = text.find(kTo);
  if (at == std::string::npos || text.size() == kTo.size())
    return ir::InvalidArgument(
        fmt::format("--extract {}: expected FROM..TO, names of values with commas between", text));
  if (text.find(kTo, at + 1) != std::string::npos)
    return ir::InvalidArgument(fmt::format("--extract {}: there is more than one '..'", text));
  const std::string_view both = text;
  WEFT_ASSIGN_OR_RETURN(std::vector<std::string> from, SplitNames(both.substr(0, at), text));
  WEFT_ASSIGN_OR_RETURN(std::vector<std::string> to, SplitNames(both.substr(at + 2), text));
  return ExtractRange{std::move(from), std::move(to)};
}

absl::StatusOr<std::unique_ptr<Program>> ExtractBetween(const ExtractRange& range,
                                                        Program& program) {
  const std::vector<std::string> to = range.to.empty() ? OutputNames(program) : range.to;
  if (to.empty()) return ir::InvalidArgument("--extract: the model has no outputs; name results");
  WEFT_ASSIGN_OR_RETURN(std::vector<Value> inputs, FindAll(range.from, program));
  std::vector<Value> results;
  if (range.to.empty()) {
    results = program.body().Terminator().operands().vec();
  } else {
    WEFT_ASSIGN_OR_RETURN(results, FindAll(to, program));
  }
  const Needed needed = NeededBy(results, inputs);
  if (!range.from.empty())
    WEFT_RETURN_IF_ERROR(CheckNoInputIsMissing(needed.inputs, range, program));
  inputs.insert(inputs.end(), needed.inputs.begin(), needed.inputs.end());
  Extraction extraction{.ops = {}, .outputs = {}, .inputs = std::move(inputs)};
  for (const Operation op : program.body())
    if (needed.ops.contains(op.id())) extraction.ops.push_back(op);
  for (size_t i = 0; i < results.size(); ++i)
    extraction.outputs.emplace_back(OutputName(to[i], results[i]), results[i]);
  std::unique_ptr<Program> part = Extract(program, extraction);
  ir::InputDefaults defaults = ir::DefaultsOfInputs(program);
  std::set<std::string> names;
  for (const ProgramInput& input : InputsOf(*part)) names.insert(input.name);
  std::erase_if(defaults, [&](const auto& entry) { return !names.contains(entry.first); });
  ir::SetDefaultsOfInputs(*part, defaults);
  onnx::DropNotesOfOthers(*part);
  return part;
}

}  // namespace weft::tools
