#include "ir/text/printer.h"

#include "ir/text/internal/printer.h"
#include "ir/text/internal/text_order.h"

namespace weft::ir {
namespace {

constexpr size_t kColumns = 79;
constexpr size_t kUsualLine = 96;  // characters of an operation

}  // namespace

void ValueNumbering::Set(Value value, uint32_t number) {
  const bool is_extra = value.id() & internal::kExtraBit;
  const uint32_t id = value.id() & ~internal::kExtraBit;
  auto& numbers = is_extra ? extras_ : results_;
  if (id >= numbers.size()) numbers.resize(id + id / 2 + 16, kNone);
  numbers[id] = number;
}

ValueNumbering::ValueNumbering(Program& program) : ValueNumbering(program, {}) {}

ValueNumbering::ValueNumbering(Program& program, std::span<const Value> before)
    : results_(program.op_slots(), kNone) {
  auto next = static_cast<uint32_t>(before.size());
  for (uint32_t i = 0; i < next; ++i)
    if (before[i].IsAlive()) Set(before[i], i);
  auto add = [&](Value value) {
    if (before.empty() || Of(value) == kNone) Set(value, next++);
  };
  text::VisitInTextOrder(
      program,
      [&](Block block) {
        for (Value argument : block.arguments()) add(argument);
      },
      [&](Operation op) {
        const uint32_t count = op.num_results();
        for (uint32_t i = 0; i < count; ++i) add(op.result(i));
      });
}

uint32_t ValueNumbering::Of(Value value) const {
  const auto& numbers = value.id() & internal::kExtraBit ? extras_ : results_;
  const uint32_t id = value.id() & ~internal::kExtraBit;
  return value && id < numbers.size() ? numbers[id] : kNone;
}

std::string ValueNumbering::NameOf(Value value) const {
  if (!value) return "<<NULL VALUE>>";
  const uint32_t number = Of(value);
  return number == kNone ? "<<UNKNOWN VALUE>>" : "%" + std::to_string(number);
}

void PrintProgram(Program& program, std::string* out, const PrintOptions& options) {
  const ValueNumbering numbering(program);
  out->reserve(out->size() + program.num_operations() * kUsualLine);
  text::Printer(out, options, numbering).PrintModule(program);
}

std::string PrintProgram(Program& program, const PrintOptions& options) {
  std::string out;
  PrintProgram(program, &out, options);
  return out;
}

std::string PrintAttribute(Attribute attribute) {
  std::string out;
  const ValueNumbering no_values;
  const PrintOptions options;
  text::Printer(&out, options, no_values).Attr(attribute);
  return out;
}

std::string PrintOperation(Operation op, const ValueNumbering& numbering,
                           const PrintOptions& options) {
  std::string out;
  text::Printer(&out, options, numbering).PrintTree(op);
  out.pop_back();  // the newline
  return out;
}

std::string PrintOperation(Operation op, const PrintOptions& options) {
  return PrintOperation(op, ValueNumbering(*op.program()), options);
}

std::string ValueName(Value value) {
  if (!value) return "<<NULL VALUE>>";
  return ValueNumbering(*value.program()).NameOf(value);
}

std::string PrintBanner(std::string_view title) {
  const std::string rule = "===" + std::string(kColumns - 6, '-') + "===\n";
  const size_t indent = title.size() < kColumns ? (kColumns + 1 - title.size()) / 2 : 0;
  return rule + std::string(indent, ' ') + std::string(title) + "\n" + rule;
}

}  // namespace weft::ir
