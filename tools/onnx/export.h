// Writing ONNX models.
//
//   WEFT_RETURN_IF_ERROR(ExportOnnx(*program, "out.onnx"));
//
// The model has opset 17. Ops of the onnx dialect and opaque ops become nodes; constants and
// parameters become initializers, aligned so that ImportOnnx need not copy them; fused ops become
// calls of ONNX local functions in the domain ai.weft.fused, one function per variant, whose bodies
// are the ops' reference bodies in plain ONNX; fused.elementwise becomes the ops of its body.
// Weights are written from where they lie.
#pragma once

#include <cstddef>
#include <string>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::onnx {

struct ExportOptions {
  // Write the reference bodies of fused ops in place, for runtimes without local functions.
  bool inline_functions = false;
  // A model larger than this (protobuf's limit by default) keeps its weights in PATH.data.
  size_t max_model_bytes = (size_t{1} << 31) - 1;
};

// Writes to a new file beside `path`, then renames it: `path` is complete or untouched. The program
// is not changed. Unimplemented when an op has no form in ONNX.
absl::Status ExportOnnx(ir::Program& program, const std::string& path,
                        const ExportOptions& options = {});

}  // namespace weft::onnx
