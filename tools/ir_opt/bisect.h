// ir-opt --bisect: the first rewrite of a run that is wrong.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"
#include "tools/cli/pass_flags.h"
#include "tools/ir_opt/check_flags.h"
#include "tools/ir_opt/convert.h"
#include "weft/io/model_io.h"

namespace weft::tools {

struct BisectOptions {
  std::string test;  // a command that fails on a wrong model; empty: --check tells
  CheckFlags check;
  PassFlags passes;
  SaveOptions save;
  std::string out;                        // a model: where what is around the rewrite goes
  std::vector<std::string> plugins = {};  // that were loaded
  ConvertFlags convert = {};              // what passes.convert was made of
};

// Runs the passes on copies of the program, with fewer and fewer rewrites (--max-rewrites), until it
// is known after which one it is wrong for the first time: the passes fail or crash, or the test
// fails. Takes log2 of the number of rewrites runs, each in a process of its own. If a wrong program
// becomes right again further on, it is one of several such rewrites.
//
// The answer goes to stdout. OUT gets the operations around that rewrite as they are before it, at most
// kMaxNeighbours with their constants unless the rewrite itself takes more: as few as are still
// wrong after the one pass. CheckFailed when nothing is wrong, or the program is before any rewrite.
// Cancelled at ^C.
absl::Status Bisect(const BisectOptions& options, ir::Program& program);

inline constexpr size_t kMaxNeighbours = 30;

}  // namespace weft::tools
