// What ir-opt --list-* print.
#pragma once

#include <string>

namespace weft::tools {

std::string ListPasses();  // passes, then pipelines
// Transformations: name, seed, group, numeric class, default or opt-in, what becomes what.
std::string ListRules();
std::string ListOps();  // name, operands and results, ONNX name and opset, what it does

}  // namespace weft::tools
