#include "weft/io/named_values.h"

#include <algorithm>
#include <charconv>

#include "ir/text/printer.h"
#include "ir/walk.h"

namespace weft {
namespace {

using ir::Operation;
using ir::Program;
using ir::Value;

// Inputs and outputs of the program as the module names them.
std::vector<std::pair<std::string, Value>> NamedEnds(Program& program) {
  std::vector<std::pair<std::string, Value>> ends;
  const auto add = [&](const char* attribute, const std::vector<Value>& values) {
    const ir::Attribute names = program.module().attr(attribute);
    for (size_t i = 0; names.Is(ir::AttrKind::kStrings) && i < values.size(); ++i)
      if (i < names.AsStrings().size()) ends.emplace_back(names.AsStrings()[i], values[i]);
  };
  add("input_names", program.body().arguments().vec());
  if (const Operation end = program.body().Terminator()) add("output_names", end.operands().vec());
  return ends;
}

}  // namespace

std::vector<Value> ValuesOf(Program& program) {
  std::vector<Value> values = program.body().arguments().vec();
  ir::Walk(program, [&](Operation op) {
    for (uint32_t i = 0; i < op.num_regions(); ++i)
      for (ir::Block block : op.region(i).blocks())
        for (const Value argument : block.arguments()) values.push_back(argument);
    for (const Value result : op.results()) values.push_back(result);
  });
  return values;
}

Value ValueOfName(Program& program, std::string_view name) {
  for (const Value value : ValuesOf(program))
    if (value.name() == name) return value;
  for (const auto& [end, value] : NamedEnds(program))
    if (end == name) return value;
  return {};
}

std::vector<std::string> ValueNames(Program& program) {
  std::vector<std::string> names;
  for (const Value value : ValuesOf(program))
    if (!value.name().empty()) names.emplace_back(value.name());
  for (const auto& end : NamedEnds(program)) names.push_back(end.first);
  return names;
}

std::optional<uint32_t> ValueNumberOf(std::string_view name) {
  if (name.size() < 2 || name[0] != '%') return std::nullopt;
  uint32_t number = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + 1, end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

Value ValueOfNumber(Program& program, uint32_t number) {
  const ir::ValueNumbering numbering(program);
  const std::vector<Value> values = ValuesOf(program);
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](Value value) { return numbering.Of(value) == number; });
  return found == values.end() ? Value() : *found;
}

}  // namespace weft
