// Inputs of a program that its caller may leave out: the module's attribute default_inputs names
// them, and the parameter of the same name (Program::parameter) is what they are then.
//
//   module {default_inputs:strings["w"],input_names:strings["x","w"]} (%0: ..., %1: ...) {
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::ir {

inline constexpr char kDefaultInputs[] = "default_inputs";

// Names of inputs, each with what the input is when it is left out.
using InputDefaults = std::vector<std::pair<std::string, Attribute>>;

InputDefaults DefaultsOfInputs(Program& program);

// These inputs, which there are, may be left out from now on, besides those that may be already.
void SetDefaultsOfInputs(Program& program, const InputDefaults& defaults);

// Makes constants of all such inputs: nobody can override them any more. Types are not inferred
// again (PropagateTypes, ir/analysis/shape_inference.h). The number of inputs that went.
size_t FoldDefaultInputs(Program& program);

// Every default belongs to an input and has its element type.
absl::Status CheckDefaultInputs(Program& program);

}  // namespace weft::ir
