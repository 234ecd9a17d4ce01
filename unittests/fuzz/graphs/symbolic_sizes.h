// A program with symbols in place of sizes of its inputs, so that rewriting knows less than a run.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ir/dim/dim_expr.h"
#include "ir/program.h"
#include "unittests/fuzz/graphs/random_values.h"

namespace weft::fuzz {

struct SymbolicGraph {
  std::unique_ptr<ir::Program> program;
  std::vector<ir::DimBinding> sizes;  // that the symbols had
};

// Some sizes of inputs become symbols; equal sizes may become one symbol, or several. Nothing when
// none does, or when an op does not accept what is then known of its operands.
std::optional<SymbolicGraph> WithSymbols(const ir::Program& program, Random& random);

}  // namespace weft::fuzz
