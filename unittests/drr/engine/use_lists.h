// The readers of every value in the order in which the program keeps them, which the text form does
// not show and joins follow.
#pragma once

#include <map>
#include <string>

#include "ir/program.h"
#include "ir/walk.h"

namespace weft::drr {

// A line for each value: "3: 7.0 5.1", numbers of operations in the order of the text, and of the
// operand that reads it.
inline std::string UseLists(ir::Program& program) {
  std::map<uint32_t, size_t> numbers;
  ir::Walk(program, [&](ir::Operation op) { numbers.emplace(op.id(), numbers.size()); });
  std::string text;
  const auto add = [&](const std::string& name, ir::Value value) {
    text += name + ":";
    for (const ir::OpOperand use : value.uses())
      text +=
          " " + std::to_string(numbers.at(use.owner().id())) + "." + std::to_string(use.index());
    text += "\n";
  };
  const ir::Block body = program.body();
  for (uint32_t i = 0; i < body.num_arguments(); ++i)
    add("argument " + std::to_string(i), body.argument(i));
  ir::Walk(program, [&](ir::Operation op) {
    for (const ir::Value result : op.results()) add(std::to_string(numbers.at(op.id())), result);
  });
  return text;
}

}  // namespace weft::drr
