// Checks a substitution as it will be applied: on many shapes that the source allows, and with the
// rule that it is applied only where the types of the outputs stay as they are.
#pragma once

#include <vector>

#include "passes/superopt/generator/graph.h"

namespace weft::passes::substitution {

struct Rewrite {
  Graph source, target;
  std::vector<int> source_outputs, target_outputs;  // that correspond
};

struct Verdict {
  int applied = 0;    // assignments of shapes at which the target fits
  bool right = true;  // at all of them
  bool exact = true;  // bit for bit in floating-point arithmetic, as far as is known
};

// At `assignments` shapes of the variables that fit both graphs (or as many as are found), with two
// seeds each. Sizes are drawn from few, among them 1, which operators stretch.
Verdict Verify(const Rewrite& rewrite, int assignments);

}  // namespace weft::passes::substitution
