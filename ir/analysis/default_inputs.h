// Inputs of a program that its caller may leave out: the module's attribute default_inputs names
// them, and the parameter of the same name (Program::parameter) is what they are then.
//
//   module {default_inputs:strings["w"],input_names:strings["x","w"]} (%0: ..., %1: ...) {
#pragma once

#include <string_view>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::ir {

inline constexpr char kDefaultInputs[] = "default_inputs";

// Null when the input, by name, has no default.
Attribute DefaultOfInput(Program& program, std::string_view name);

// The input of this name, which there is, may be left out from now on.
void SetDefaultOfInput(Program& program, std::string_view name, Attribute dense);

// Makes constants of all such inputs: nobody can override them any more. Types are not inferred
// again (PropagateTypes, ir/analysis/shape_inference.h). The number of inputs that went.
size_t FoldDefaultInputs(Program& program);

// Every default belongs to an input and has its element type.
absl::Status CheckDefaultInputs(Program& program);

}  // namespace weft::ir
