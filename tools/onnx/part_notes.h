// What the nodes and values of a model say (proto/notes.h), in a program that is a part of it.
#pragma once

#include "ir/program.h"

namespace weft::onnx {

// Drops what is said of nodes and values that the program does not have. What is left is what ExportOnnx writes.
void DropNotesOfOthers(ir::Program& part);

}  // namespace weft::onnx
