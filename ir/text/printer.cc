#include "ir/text/printer.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "ir/text/internal/literals.h"
#include "ir/text/internal/text_order.h"
#include "ir/text/internal/weight_layout.h"

namespace weft::ir {
namespace {

using text::AppendInt;
using text::AppendQuoted;

constexpr size_t kColumns = 79;
constexpr size_t kUsualLine = 96;  // characters of an operation

// Text that was written before and can be copied from the output itself: types and attribute
// dictionaries repeat from op to op.
class Repeats {
 public:
  bool Copy(uint32_t id, std::string* out) const {
    if (id >= spans_.size() || spans_[id].size == 0) return false;
    out->append(*out, spans_[id].begin, spans_[id].size);
    return true;
  }
  void Remember(uint32_t id, size_t begin, size_t end) {
    if (id >= spans_.size()) spans_.resize(id + id / 2 + 16);
    spans_[id] = {begin, end - begin};
  }

 private:
  struct Span {
    size_t begin = 0, size = 0;
  };
  std::vector<Span> spans_;
};

class Printer {
 public:
  Printer(std::string* out, const PrintOptions& options, const ValueNumbering& numbering)
      : out_(*out), options_(options), numbering_(numbering) {}

  void PrintModule(Program& program);
  void PrintTree(Operation root);  // with its regions and a newline
  void Attr(Attribute attr);

 private:
  struct Frame {  // an op whose regions are being printed
    Operation op;
    uint32_t region = 0;
    Block block = {};
    Operation next = {};
  };

  void Parameters(Program& program);
  void Head(Operation op);
  void Results(Operation op);
  void OpName(Opcode opcode);
  void Tail(Operation op);  // what follows types and regions
  void BeginRegion(Frame* frame, size_t depth, bool is_module);
  void Indent(size_t depth);
  void Label(Block block, size_t depth);
  void Arguments(Block block, const Strings* default_names);
  void Regions(Operation root, bool is_module);

  void ValueRef(Value value);
  void TypeText(Type type);
  void Attrs(AttrDict attrs);
  void Dense(Attribute dense);
  void Elements(Attribute dense);
  void Weights(Attribute dense);

  std::string& out_;
  const PrintOptions& options_;
  const ValueNumbering& numbering_;
  Program* program_ = nullptr;
  std::optional<text::WeightLayout> layout_;
  Repeats op_names_, types_, attrs_;
};

// --- attributes and types ---------------------------------------------------

void Printer::TypeText(Type type) {
  if (types_.Copy(type.id(), &out_)) return;
  const size_t begin = out_.size();
  text::AppendType(&out_, type);
  types_.Remember(type.id(), begin, out_.size());
}

template <class List, class F>
void AppendList(std::string* out, std::string_view open, const List& list, F&& append) {
  *out += open;
  bool first = true;
  for (const auto& item : list) {
    if (!first) *out += ',';
    first = false;
    append(item);
  }
  *out += ']';
}

void Printer::Elements(Attribute dense) {
  out_ += '[';
  const int64_t count = dense.dense_type().NumElements();
  for (int64_t i = 0; i < count; ++i) {
    if (i) out_ += ',';
    text::AppendElement(&out_, dense, i);
  }
  out_ += ']';
}

// Contents that are too long to stand inline.
void Printer::Weights(Attribute dense) {
  const auto bytes = dense.bytes();
  const bool is_strings = !dense.dense_strings().empty();
  if (is_strings && (options_.full_weights || !options_.weights_file.empty()))
    return Elements(dense);
  if (options_.full_weights) {
    out_ += "hex \"";
    out_.reserve(out_.size() + 2 * bytes.size() + 2);
    for (std::byte b : bytes) text::AppendHex(&out_, static_cast<uint64_t>(b), 2);
    out_ += '"';
    return;
  }
  if (!options_.weights_file.empty()) {
    if (!layout_) layout_.emplace(*program_, options_);
    const std::string_view file = options_.weights_file;
    out_ += "file ";
    AppendQuoted(&out_, file.substr(file.rfind('/') + 1));
    out_ += " at ";
    text::AppendUInt(&out_, layout_->OffsetOf(dense));
    out_ += " size ";
    text::AppendUInt(&out_, bytes.size());
    return;
  }
  uint64_t hash = text::HashBytes(bytes);
  for (const std::string& s : dense.dense_strings())
    hash = hash * 31 + text::HashBytes(std::as_bytes(std::span(s)));
  out_ += "elided \"";
  text::AppendHex(&out_, hash, 16);
  out_ += '-';
  text::AppendUInt(&out_, is_strings ? dense.dense_strings().size() : bytes.size());
  out_ += '"';
}

void Printer::Dense(Attribute dense) {
  out_ += "dense<";
  TypeText(dense.dense_type());
  out_ += ", ";
  if (dense.IsElided()) {
    out_ += "elided ";
    AppendQuoted(&out_, dense.AsString());
  } else if (text::IsInline(dense, options_)) {
    Elements(dense);
  } else {
    Weights(dense);
  }
  out_ += '>';
}

void Printer::Attr(Attribute attr) {
  switch (attr.kind()) {
    case AttrKind::kUnit:
      return;
    case AttrKind::kBool:
      out_ += attr.AsBool() ? "true" : "false";
      return;
    case AttrKind::kInt:
      return AppendInt(&out_, attr.AsInt());
    case AttrKind::kFloat:
      return text::AppendFloat(&out_, attr.AsFloat());
    case AttrKind::kDouble:
      text::AppendDouble(&out_, attr.AsDouble());
      out_ += "f64";
      return;
    case AttrKind::kString:
      return AppendQuoted(&out_, attr.AsString());
    case AttrKind::kInts:
      return AppendList(&out_, "array[", attr.AsInts(), [&](int64_t v) { AppendInt(&out_, v); });
    case AttrKind::kFloats:
      return AppendList(&out_, "floats[", attr.AsFloats(),
                        [&](float v) { text::AppendFloat(&out_, v); });
    case AttrKind::kStrings:
      return AppendList(&out_, "strings[", attr.AsStrings(),
                        [&](const std::string& v) { AppendQuoted(&out_, v); });
    case AttrKind::kDataType:
      out_ += DataTypeLongName(attr.AsDataType());
      return;
    case AttrKind::kType: {
      const bool bare = attr.AsType() && attr.AsType().kind() != TypeKind::kNone;
      if (!bare) out_ += "type<";
      TypeText(attr.AsType());
      if (!bare) out_ += '>';
      return;
    }
    case AttrKind::kDense:
      return Dense(attr);
    case AttrKind::kVerbatim:
      if (text::IsCallToken(attr.AsString())) {
        out_ += attr.AsString();
      } else {
        out_ += "verbatim ";
        AppendQuoted(&out_, attr.AsString());
      }
  }
}

void Printer::Attrs(AttrDict attrs) {
  if (attrs.empty()) {
    out_ += "{}";
    return;
  }
  if (attrs_.Copy(attrs.id(), &out_)) return;
  const size_t begin = out_.size();
  out_ += '{';
  for (const NamedAttribute& entry : attrs) {
    if (&entry != attrs.begin()) out_ += ',';
    text::AppendName(&out_, entry.name.str());
    if (!entry.value) {
      out_ += ":<<NULL ATTRIBUTE>>";
    } else if (!entry.value.Is(AttrKind::kUnit)) {
      out_ += ':';
      Attr(entry.value);
    }
  }
  out_ += '}';
  attrs_.Remember(attrs.id(), begin, out_.size());
}

// --- operations -------------------------------------------------------------

void Printer::ValueRef(Value value) {
  const uint32_t number = value ? numbering_.Of(value) : ValueNumbering::kNone;
  if (number == ValueNumbering::kNone) {
    out_ += value ? "<<UNKNOWN VALUE>>" : "<<NULL VALUE>>";
    return;
  }
  char buffer[16] = "%";
  const auto end = std::to_chars(buffer + 1, buffer + sizeof(buffer), number).ptr;
  out_.append(buffer, static_cast<size_t>(end - buffer));
}

void Printer::Results(Operation op) {
  out_ += '(';
  const uint32_t count = op.num_results();
  for (uint32_t i = 0; i < count; ++i) {
    if (i) out_ += ", ";
    const Value result = op.result(i);
    ValueRef(result);
    if (!options_.names) continue;
    if (const std::string_view name = result.name(); !name.empty()) {
      out_ += ' ';
      AppendQuoted(&out_, name);
    }
  }
  out_ += ") = ";
}

void Printer::OpName(Opcode opcode) {
  if (op_names_.Copy(opcode.id(), &out_)) return;
  const size_t begin = out_.size();
  AppendQuoted(&out_, opcode.name());
  op_names_.Remember(opcode.id(), begin, out_.size());
}

void Printer::Head(Operation op) {
  Results(op);
  OpName(op.opcode());
  out_ += " (";
  const uint32_t num_operands = op.num_operands();
  for (uint32_t i = 0; i < num_operands; ++i) {
    if (i) out_ += ", ";
    ValueRef(op.operand(i));
  }
  out_ += ") ";
  Attrs(op.attrs());
  out_ += " : (";
  for (uint32_t i = 0; i < num_operands; ++i) {
    if (i) out_ += ", ";
    const Value operand = op.operand(i);
    TypeText(operand ? operand.type() : Type());
  }
  out_ += ") -> ";
  const uint32_t num_results = op.num_results();
  for (uint32_t i = 0; i < num_results; ++i) {
    if (i) out_ += ", ";
    TypeText(op.result(i).type());
  }
}

void Printer::Tail(Operation op) {
  if (options_.locations && !op.location().empty()) {
    if (out_.back() != ' ') out_ += ' ';
    out_ += "loc(";
    AppendQuoted(&out_, op.location().str());
    out_ += ')';
  }
  out_ += '\n';
}

void Printer::Arguments(Block block, const Strings* default_names) {
  out_ += '(';
  for (Value argument : block.arguments()) {
    const uint32_t i = argument.index();
    if (i) out_ += ", ";
    ValueRef(argument);
    std::string_view implied;
    if (default_names && i < default_names->size()) implied = (*default_names)[i];
    if (options_.names && argument.name() != implied) {
      out_ += ' ';
      AppendQuoted(&out_, argument.name());
    }
    out_ += ": ";
    TypeText(argument.type());
  }
  out_ += ')';
}

// Deeper than the parser goes, the text stops moving right: its size stays linear in the program's.
void Printer::Indent(size_t depth) { out_.append(std::min<size_t>(depth, 256), ' '); }

void Printer::Label(Block block, size_t depth) {
  Indent(depth);
  out_ += '^';
  Arguments(block, nullptr);
  out_ += ":\n";
}

// The label of a region's first block is left out where nothing is lost: no arguments, and the
// block not empty (braces with nothing inside are a region without blocks).
void Printer::BeginRegion(Frame* frame, size_t depth, bool is_module) {
  const Region region = frame->op.region(frame->region);
  out_ += "{\n";
  frame->block = region.front();
  frame->next = frame->block ? frame->block.front() : Operation();
  if (!frame->block || is_module) return;
  if (frame->block.num_arguments() > 0 || !frame->next) Label(frame->block, depth);
}

void Printer::Regions(Operation root, bool is_module) {
  std::vector<Frame> frames{{.op = root}};
  if (!is_module) out_ += out_.back() == ' ' ? "(" : " (";
  BeginRegion(&frames.back(), 1, is_module);
  while (!frames.empty()) {
    Frame& frame = frames.back();
    const size_t depth = frames.size();
    const bool in_module = is_module && depth == 1;
    if (const Operation op = frame.next) {
      frame.next = op.next();
      Indent(depth);
      Head(op);
      if (op.num_regions() == 0) {
        Tail(op);
      } else {
        out_ += out_.back() == ' ' ? "(" : " (";
        frames.push_back({.op = op});
        BeginRegion(&frames.back(), depth + 1, false);
      }
    } else if (const Block next = frame.block ? frame.block.next() : Block()) {
      frame.block = next;
      frame.next = next.front();
      Label(next, depth);
    } else {
      Indent(depth - 1);
      out_ += '}';
      if (++frame.region < frame.op.num_regions() && !in_module) {
        out_ += ", ";
        BeginRegion(&frame, depth, false);
        continue;
      }
      if (!in_module) out_ += ')';
      Tail(frame.op);
      frames.pop_back();
    }
  }
}

void Printer::PrintTree(Operation root) {
  program_ = root.program();
  Head(root);
  if (root.num_regions() == 0) {
    Tail(root);
  } else {
    Regions(root, false);
  }
}

void Printer::Parameters(Program& program) {
  const std::vector<std::string> names = program.ParameterNames();
  if (names.empty()) return;
  out_ += "parameters {\n";
  for (const std::string& name : names) {
    out_ += ' ';
    text::AppendName(&out_, name);
    out_ += ": ";
    Attr(program.parameter(name));
    out_ += '\n';
  }
  out_ += "}\n";
}

void Printer::PrintModule(Program& program) {
  program_ = &program;
  Parameters(program);
  const Operation module = program.module();
  const Block body = program.body();
  if (!module.attrs().empty() || body.num_arguments() > 0) {
    out_ += "module ";
    Attrs(module.attrs());
    out_ += ' ';
    const Attribute names = module.attr("input_names");
    Arguments(body, names.Is(AttrKind::kStrings) ? &names.AsStrings() : nullptr);
    out_ += ' ';
  }
  Regions(module, true);
}

}  // namespace

ValueNumbering::ValueNumbering(Program& program) : results_(program.op_slots(), kNone) {
  uint32_t next = 0;
  auto add = [&](Value value) {
    const bool is_extra = value.id() & internal::kExtraBit;
    const uint32_t id = value.id() & ~internal::kExtraBit;
    auto& numbers = is_extra ? extras_ : results_;
    if (id >= numbers.size()) numbers.resize(id + id / 2 + 16, kNone);
    numbers[id] = next++;
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
  Printer(out, options, numbering).PrintModule(program);
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
  Printer(&out, options, no_values).Attr(attribute);
  return out;
}

std::string PrintOperation(Operation op, const ValueNumbering& numbering,
                           const PrintOptions& options) {
  std::string out;
  Printer(&out, options, numbering).PrintTree(op);
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
