// Operations with their regions, and the module around them.
#include <algorithm>
#include <charconv>

#include "ir/text/internal/literals.h"
#include "ir/text/internal/origin_text.h"
#include "ir/text/internal/printer.h"
#include "ir/text/internal/text_order.h"

namespace weft::ir::text {

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
  if (options_.locations) AppendOrigin(&out_, op);
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
    AppendName(&out_, name);
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

}  // namespace weft::ir::text
