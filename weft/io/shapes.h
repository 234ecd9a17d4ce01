// Fixing what a model leaves open of its inputs' shapes, or says.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft {

struct InputShape {
  std::string input;
  ir::Shape dims;
};

struct ShapeOptions {
  std::vector<std::pair<std::string, int64_t>> dims = {};  // sizes of symbolic dims
  std::vector<InputShape> input_shapes = {};
  std::vector<InputShape> overwritten_shapes = {};  // of sizes that are known too
};

// Sets the shapes of inputs and the dims, and what follows from them: an input of 5 rows where it says
// 2*n + 1 makes n 2. Then infers the types of everything again.
// InvalidArgument when there is no such input or symbolic dim, when a dim is given twice, or when the
// options contradict the model or each other; the program may have changed then.
absl::Status ApplyShapes(const ShapeOptions& options, ir::Program& program);

// The program's inputs, in order, and the names of its symbolic input dims, sorted.
struct ProgramInput {
  std::string name;
  ir::Type type;
};
std::vector<ProgramInput> InputsOf(ir::Program& program);
std::vector<std::string> SymbolsOf(ir::Program& program);

}  // namespace weft
