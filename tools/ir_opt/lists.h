// What ir-opt --list-* print.
#pragma once

#include <string>

namespace weft::tools {

std::string ListPasses();  // passes, then pipelines
std::string ListRules();   // name, group, numeric class, default or opt-in, algebra
std::string ListOps();     // name, operands and results, ONNX name and opset, what it does

}  // namespace weft::tools
