// Where the nodes of a written model come from (ir/origin/origin.h).
//
//   RecordNodeOrigins(*program);                        // after ImportOnnx
//   ...                                                 // passes
//   WEFT_RETURN_IF_ERROR(ExportOnnx(*program, path));   // metadata_props weft.sources, weft.rules
//
// ImportOnnx reads them back. What several nodes became is named by them all, and has their
// doc_strings.
#pragma once

#include "ir/program.h"

namespace weft::onnx {

// Starts ir::RecordOrigins() with the doc_strings that the nodes of the model have.
void RecordNodeOrigins(ir::Program& program);

}  // namespace weft::onnx
