// What ir-opt --list-* print.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

std::string ListPasses();  // passes, then pipelines
// Name, seed, group, numeric class, what it was judged to be, default or opt-in, before => after: of
// the rules in the files if there are any, whose group is the file and whose judgement is that of an
// earlier run, else of all transformations.
absl::StatusOr<std::string> ListRules(const std::vector<std::string>& files);
// The vocabulary of rules: name in C++ and in text, parameters, what it means, what it proves on
// symbolic shapes.
std::string ListConstraints();
std::string ListOps();  // name, operands and results, ONNX name and opset, what it does

}  // namespace weft::tools
