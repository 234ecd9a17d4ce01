// Parts of a program as programs of their own, to run or to look at without the rest.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ir/program.h"

namespace weft {

struct Extraction {
  // In the order of the program; those of different blocks may be next to each other.
  std::vector<ir::Operation> ops;
  // What the part returns: inputs of the program, or results of any of its operations.
  std::vector<std::pair<std::string, ir::Value>> outputs;
  // The first inputs, in this order, whether anything reads them or not.
  std::vector<ir::Value> inputs = {};
};

// The operations become the body of a new program. What they or the outputs read that none of them
// makes becomes an input: under its name if it is an input of `program`, else under that of the value,
// or "value_<i>". An input with a default has none any more. Weights are shared.
std::unique_ptr<ir::Program> Extract(ir::Program& program, const Extraction& extraction);

// The part that is just these operations: its outputs are what others read, in the order of the
// program. Constants that they read go with them.
std::unique_ptr<ir::Program> ExtractOps(ir::Program& program, std::vector<ir::Operation> ops);

// What operations of regions read from outside counts as read by the operation that holds them.
std::vector<ir::Value> ValuesReadBy(ir::Operation op);
// The operation of the program's body that is or holds this one.
ir::Operation HolderInBody(ir::Operation op);

}  // namespace weft
