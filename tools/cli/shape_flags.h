// --dim, --input-shape and --overwrite-input-shape: fixing what a model leaves open, or says.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

struct ShapeFlags {
  std::vector<std::string> dims;                // name=value
  std::vector<std::string> input_shapes;        // name=1x3x224x224 or name:1,3,224,224
  std::vector<std::string> overwritten_shapes;  // the same, for sizes that are known too
};

void AddDimFlag(CLI::App& app, ShapeFlags* flags);
void AddInputShapeFlags(CLI::App& app, ShapeFlags* flags);  // both

// "1x3x224x224" or "1,3,224,224"; `option` is for the message.
absl::StatusOr<ir::Shape> ParseShape(const std::string& option, const std::string& text);

// Sets the shapes of inputs and the dims, and what follows from them: an input of 5 rows where it says
// 2*n + 1 makes n 2. Then infers the types of everything again.
// InvalidArgument when there is no such input or symbolic dim, when a dim is given twice, or when the
// flags contradict the model or each other.
absl::Status ApplyShapes(const ShapeFlags& flags, ir::Program& program);

// The program's inputs, in order, and the names of its symbolic input dims, sorted.
struct ProgramInput {
  std::string name;
  ir::Type type;
};
std::vector<ProgramInput> InputsOf(ir::Program& program);
std::vector<std::string> SymbolsOf(ir::Program& program);

}  // namespace weft::tools
