// All graphs up to a number of operators, with what they compute on random matrices. An operator
// whose result is there already is not added, and of orders of independent operators one is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "passes/superopt/generator/graph.h"

namespace weft::passes::substitution {

struct Enumerated {
  uint64_t fingerprint = 0;  // of all outputs, whatever their order
  uint64_t graph = 0;        // packed
  friend bool operator<(const Enumerated& a, const Enumerated& b) {
    return std::pair(a.fingerprint, a.graph) < std::pair(b.fingerprint, b.graph);
  }
};

struct Enumeration {
  std::vector<Enumerated> graphs;                   // sorted
  std::vector<std::pair<Graph, Graph>> identities;  // a graph that gives back variables, and these
};

// ResourceExhausted when the graphs take more than `max_bytes`.
absl::StatusOr<Enumeration> EnumerateGraphs(int depth, size_t max_bytes);

}  // namespace weft::passes::substitution
