// ir-opt --reduce: the smallest part of a model that still does something.
#pragma once

#include <string>

#include "ir/base/status.h"
#include "ir/program.h"
#include "weft/io/model_io.h"

namespace weft::tools {

struct ReduceOptions {
  std::string test;  // a command, which gets a model's file at its end
  SaveOptions save;
  std::string out;  // a model
};

// Delta debugging: leaves outputs away, returns earlier values in place of later ones, puts inputs in
// place of operations and operands in place of results, many at a time and then one by one, as long as the test ends as it does with the whole
// program: with the same exit code or signal. What is left, where nothing more may go, is written to
// OUT, and a line about it to stdout. InvalidArgument when the test cannot be run, Cancelled at ^C.
absl::Status Reduce(const ReduceOptions& options, ir::Program& program);

}  // namespace weft::tools
