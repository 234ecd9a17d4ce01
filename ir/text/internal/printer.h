// Writes the text form: operations in operation_printer.cc, types and attributes in
// attribute_printer.cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/text/internal/weight_layout.h"
#include "ir/text/printer.h"

namespace weft::ir::text {

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

// Appends to *out, which no other may write to in between: what repeats is copied from it.
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

  // Types and attributes: attribute_printer.cc.
  void TypeText(Type type);
  void Attrs(AttrDict attrs);
  void Dense(Attribute dense);
  void Elements(Attribute dense);
  void Weights(Attribute dense);

  std::string& out_;
  const PrintOptions& options_;
  const ValueNumbering& numbering_;
  Program* program_ = nullptr;
  std::optional<WeightLayout> layout_;
  Repeats op_names_, types_, attrs_;
};

}  // namespace weft::ir::text
