#include "tools/onnx/element_types.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <vector>

namespace weft::onnx {

std::string_view ElementTypesText();  // export/element_types.tsv

namespace {

// Bit i of a number: DataType i. The last one of a variadic list stands for all that follow.
struct Slots {
  std::vector<uint32_t> types;
  bool is_variadic = false;
};
struct Signature {
  Slots operands, results;
};
using Signatures = std::map<std::string_view, std::map<int64_t, Signature>>;  // by name and opset

std::string_view NextField(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view field = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return field;
}

Slots ParseSlots(std::string_view text) {
  Slots slots;
  while (!text.empty()) {
    const std::string_view field = NextField(&text, ' ');
    uint32_t types = 0;
    std::from_chars(field.data(), field.data() + field.size(), types, 16);
    slots.types.push_back(types);
    slots.is_variadic = field.ends_with('*');
  }
  return slots;
}

const Signatures& AllSignatures() {
  static const auto* signatures = [] {
    auto* all = new Signatures();
    for (std::string_view text = ElementTypesText(); !text.empty();) {
      std::string_view line = NextField(&text, '\n');
      const std::string_view name = NextField(&line, '\t'), since = NextField(&line, '\t');
      int64_t opset = 0;
      if (std::from_chars(since.data(), since.data() + since.size(), opset).ec != std::errc())
        continue;
      const std::string_view operands = NextField(&line, '\t');
      (*all)[name][opset] = {ParseSlots(operands), ParseSlots(line)};
    }
    return all;
  }();
  return *signatures;
}

}  // namespace

bool TakesElementType(const OperatorSlot& slot, ir::DataType type, int64_t opset) {
  const auto versions = AllSignatures().find(slot.op_type);
  if (versions == AllSignatures().end()) return true;
  const auto after = versions->second.upper_bound(opset);
  if (after == versions->second.begin()) return true;
  const Signature& signature = std::prev(after)->second;
  const Slots& slots = slot.is_result ? signature.results : signature.operands;
  if (slots.types.empty()) return true;
  if (slot.index >= slots.types.size() && !slots.is_variadic) return true;
  const uint32_t types = slots.types[std::min<size_t>(slot.index, slots.types.size() - 1)];
  return (types >> static_cast<uint32_t>(type) & 1) != 0;
}

std::string WrongElementType(ir::Operation op, int64_t opset) {
  if (!op.def() || op.def()->info->onnx.empty() || !op.def()->info->onnx_domain.empty()) return "";
  const std::string_view name = op.def()->info->onnx;
  for (const bool is_result : {false, true}) {
    const uint32_t count = is_result ? op.num_results() : op.num_operands();
    for (uint32_t i = 0; i < count; ++i) {
      const ir::Value value = is_result ? op.result(i) : op.operand(i);
      if (!value || !value.type().IsTensor() || value.type().dtype() == ir::DataType::kNull)
        continue;
      if (TakesElementType({name, is_result, i}, value.type().dtype(), opset)) continue;
      return fmt::format(
          "{} {} is of type {}, which {} of opset {} does not {}", is_result ? "result" : "operand",
          i, ir::DataTypeName(value.type().dtype()), name, opset, is_result ? "give" : "take");
    }
  }
  return "";
}

}  // namespace weft::onnx
