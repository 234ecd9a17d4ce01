// Reads programs from the text form (ir/text/printer.h), and from the listings of Paddle's pass
// documentation as they stand: lines with a `332: ` in front, banners, braces without a module,
// pd.tensor, IntArray, bare words, booleans and floats printed as 0.
//
//   WEFT_ASSIGN_OR_RETURN(std::unique_ptr<Program> program,
//                         ParseProgram(context, text, {.file_name = "model.ir"}));
//
// A mistake is InvalidArgument, `model.ir:3:14: error: value %7 is not defined`. The text need not
// be trusted: whatever it is, parsing ends without a crash, in time and memory proportional to its
// size. The program is well-formed but not verified: see ir/analysis/verifier.h.
//
// Types are kept as the text states them. Where an op's inference disagrees, a warning says so, or
// with check_types an error.
// Attribute values become what the op's definition says (0 as false or 0.0); ops that no loaded
// dialect defines are read too.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::ir {

struct ParseOptions {
  std::string file_name = "<text>";  // for messages
  std::string weights_dir = {};  // the folder of side files; empty: referring to one is an error
  // Part of a listing: values that are never defined become inputs of the type they are first used
  // with; lines of dots are skipped; operations that are cut short after their operands are left
  // out, and the closing brace may be missing, both with a warning.
  bool allow_undefined = false;
  // Null: no warnings, and no inference unless check_types asks for it.
  std::vector<std::string>* warnings = nullptr;
  bool check_types = false;
};

absl::StatusOr<std::unique_ptr<Program>> ParseProgram(IrContext& context, std::string_view text,
                                                      const ParseOptions& options = {});

// Reads the file; messages name it and side files lie beside it, unless `options` says otherwise.
absl::StatusOr<std::unique_ptr<Program>> ParseProgramFile(IrContext& context,
                                                          const std::string& path,
                                                          ParseOptions options = {});

}  // namespace weft::ir
