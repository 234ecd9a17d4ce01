// Writing ONNX models.
//
//   WEFT_RETURN_IF_ERROR(ExportOnnx(*program, "out.onnx"));
//
// Ops of the onnx dialect and opaque ops become nodes; constants and
// parameters become initializers, aligned in the file; fused ops become
// calls of ONNX local functions in the domain ai.weft.fused, one function per variant, whose bodies
// are the ops' reference bodies in plain ONNX; fused.elementwise becomes the ops of its body. Types
// are stated (value_info) where their sizes are numbers, or inference would not find them.
// Weights are written from where they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ir/base/status.h"
#include "ir/op_def.h"
#include "ir/program.h"

namespace weft::onnx {

inline constexpr int64_t kOldestTargetOpset = 13, kNewestTargetOpset = 27;

struct ExportOptions {
  // Of the default domain, from kOldestTargetOpset to kNewestTargetOpset. 0: TargetOpset().
  int64_t target_opset = 0;
  // Write the reference bodies of fused ops in place, for runtimes without local functions.
  bool inline_functions = false;
  // A model larger than this (protobuf's limit by default) keeps its weights in PATH.data.
  size_t max_model_bytes = (size_t{1} << 31) - 1;
};

// Of the model that the program was read from, of the default domain; 0 for other programs.
int64_t SourceOpset(ir::Program& program);

// The opset that has the op's operator first, kOldestTargetOpset for what is as old or older; 0 for
// ops that are not of ONNX's default domain.
int64_t IntroducedIn(const ir::OpDef& op);

// The opset that a program is written for by default: that of the model that it was read from, but at
// least 13; for other programs the first from 17 on that has all of its operators. A later one where
// an attribute needs it, as what a Softmax of opset 12 did may.
int64_t TargetOpset(ir::Program& program);

// Writes to a new file beside `path`, then renames it: `path` is complete or untouched. The program
// is not changed. Unimplemented when an op has no form in ONNX, or not in the target opset: operators
// that came later are written as the operators that they are defined by, where they are.
absl::Status ExportOnnx(ir::Program& program, const std::string& path,
                        const ExportOptions& options = {});
// The same in memory, at most options.max_model_bytes; Unimplemented for a larger model.
absl::StatusOr<std::string> ExportOnnxBytes(ir::Program& program,
                                            const ExportOptions& options = {});

}  // namespace weft::onnx
