// The side file of a program's text: long dense contents as raw bytes, which the text refers to by
// offset and size. Use with PrintOptions::weights_file and ParseOptions::weights_dir.
//
//   const PrintOptions options = {.weights_file = "model.weights"};
//   WEFT_RETURN_IF_ERROR(WriteWeights(program, "out/model.weights", options));
//   WriteFile("out/model.ir", PrintProgram(program, options));
#pragma once

#include <string>

#include "ir/base/output_file.h"
#include "ir/base/status.h"
#include "ir/program.h"
#include "ir/text/printer.h"

namespace weft::ir {

// Writes the contents that PrintProgram with the same options refers to. The file at `path` is
// replaced in one step, so that a program which maps the old one stays valid. No file is written
// when the text refers to none.
absl::Status WriteWeights(Program& program, const std::string& path, const PrintOptions& options);

// The same without the last step: the caller commits `file`, if it is open, together with the text.
absl::Status AppendWeights(Program& program, const std::string& path, const PrintOptions& options,
                           OutputFile* file);

}  // namespace weft::ir
