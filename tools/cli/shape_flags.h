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

// As weft/io/shapes.h does. InvalidArgument for flags that cannot be read, too.
absl::Status ApplyShapes(const ShapeFlags& flags, ir::Program& program);

}  // namespace weft::tools
