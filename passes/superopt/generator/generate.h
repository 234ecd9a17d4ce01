// Finds substitutions: pairs of small graphs over matrices that compute the same, as TASO does (Jia
// and others, SOSP 2019). All graphs are enumerated and evaluated on random matrices; what agrees is
// pruned, verified on other shapes, and can be printed as rules (passes/superopt/generator/rule_text.h).
// The same options give the same substitutions, whatever the machine.
#pragma once

#include <cstddef>
#include <vector>

#include "ir/base/status.h"
#include "passes/superopt/generator/prune.h"
#include "passes/superopt/generator/verify.h"

namespace weft::passes::substitution {

struct GenerateOptions {
  int depth = 3;                               // operators of a graph, 1 to kMaxOps
  size_t max_bytes = size_t{1} << 30;          // of all graphs
  int assignments = 12;                        // of shapes, at which a substitution is verified
  static constexpr int kLeastAssignments = 4;  // that must fit
};

// One pair, and the directions in which it may be applied: a direction needs every variable of its
// target in its source, and holds where it was verified.
struct Substitution {
  GraphPair pair;
  bool forwards = false, backwards = false;
  bool exact = false;

  Rewrite Forwards() const { return {pair.a, pair.b, pair.a_outputs, pair.b_outputs}; }
  Rewrite Backwards() const { return {pair.b, pair.a, pair.b_outputs, pair.a_outputs}; }
};

struct Generated {
  std::vector<Substitution> substitutions;
  size_t graphs = 0, candidates = 0, refuted = 0;
};

absl::StatusOr<Generated> Generate(const GenerateOptions& options);

}  // namespace weft::passes::substitution
