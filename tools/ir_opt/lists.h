// What ir-opt --list-* print.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

std::string ListPasses();  // passes, then pipelines
// Name, seed, group, numeric class, default or opt-in, before => after: of the rules in the files if
// there are any, whose group is the file, else of all transformations.
absl::StatusOr<std::string> ListRules(const std::vector<std::string>& files);
std::string ListOps();  // name, operands and results, ONNX name and opset, what it does

}  // namespace weft::tools
