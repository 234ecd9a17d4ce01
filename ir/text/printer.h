// The text form of programs, operations and values.
//
//   std::string text = PrintProgram(program);
//   PrintProgram(program, {.full_weights = true});       // complete: parses back to the same
//   PrintOperation(op) == "(%2) = \"onnx.Relu\" (%1) {} : (tensor<2xf32>) -> tensor<2xf32>"
//
// The form is that of Paddle's listings. A module without attributes, inputs and parameters is just
// braces around its operations; else the whole is
//
//   parameters {
//    w: dense<tensor<2xf32>, [0.5,1.0]>
//   }
//   module {input_names:strings["x"]} (%0: tensor<2xf32>) {
//    (%1 "y") = "onnx.If" (%0) {axis:1,perm:array[1,0]} : (tensor<2xf32>) -> tensor<2xf32> ({
//     ^(%2: tensor<2xf32>):
//     () = "builtin.return" (%2) {} : (tensor<2xf32>) ->
//    }) loc("model.onnx:/if") from("/not", "/if") by("drop-not") doc("what the model says")
//   }
//
// Values are numbered in the order of the text. Attribute values: true, 1, 0.5, 0.5f64, "text",
// array[1,2], floats[0.5], strings["a"], float32, tensor<2xf32>, type<none>, Place(cpu),
// verbatim "...", a name alone (no value), and dense<type, ...> of: [1,2] | elided "label" |
// hex "00ff" | file "name" at OFFSET size BYTES.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace weft::ir {

struct PrintOptions {
  // Dense contents of more than max_inline_elements elements (< 0: no limit) are left out, and a
  // label of their hash and size stands for them; unless one of these says where they go:
  bool full_weights = false;      // into the text, in hex
  std::string weights_file = {};  // into this side file, which WriteWeights (weights.h) writes
  int64_t max_inline_elements = 16;
  bool names = true;       // of values
  bool locations = false;  // and origins (ir/origin/origin.h), where they are known
};

std::string PrintProgram(Program& program, const PrintOptions& options = {});
void PrintProgram(Program& program, std::string* out, const PrintOptions& options = {});  // appends

// The numbers of all values of a program at one moment, in the order of the text.
class ValueNumbering {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;
  ValueNumbering() = default;  // of no value
  explicit ValueNumbering(Program& program);
  // Values that were numbered before keep their numbers, their places in `before` (dead and null
  // handles take up a place); the others come after them, in the order of the text.
  ValueNumbering(Program& program, std::span<const Value> before);
  uint32_t Of(Value value) const;         // kNone for a value that is in no block of the program
  std::string NameOf(Value value) const;  // "%12"; "<<NULL VALUE>>", "<<UNKNOWN VALUE>>"

 private:
  void Set(Value value, uint32_t number);
  std::vector<uint32_t> results_, extras_;  // by value id
};

// One operation with its regions, no newline at the end, values numbered as in its whole program.
// Without a numbering this takes time linear in the program.
std::string PrintOperation(Operation op, const PrintOptions& options = {});
std::string PrintOperation(Operation op, const ValueNumbering& numbering,
                           const PrintOptions& options = {});
std::string ValueName(Value value);
// The value of an attribute as it stands in an operation's braces.
std::string PrintAttribute(Attribute attribute);

// Three lines: a rule of 79 columns, the title centred, a rule.
std::string PrintBanner(std::string_view title);

}  // namespace weft::ir
