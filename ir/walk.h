// Visiting every operation below a region or program, without recursion over nesting.
//
//   Walk(program, [&](Operation op) { ... });   // op before the ops in its regions; not the module
//
// The callback may erase the op it is given (then its regions are not visited), but no other op.
#pragma once

#include <vector>

#include "ir/program.h"

namespace weft::ir {

template <class F>
void Walk(Region region, F&& visit) {
  std::vector<Operation> next;  // a stack of the ops to resume at; inner ones on top
  auto push_region = [&](Region r) {
    std::vector<Block> blocks = r.blocks();
    for (auto it = blocks.rbegin(); it != blocks.rend(); ++it)
      if (Operation first = it->front()) next.push_back(first);
  };
  push_region(region);
  while (!next.empty()) {
    const Operation op = next.back();
    next.pop_back();
    if (const Operation after = op.next()) next.push_back(after);
    visit(op);
    if (!op.IsAlive()) continue;
    const uint32_t num_regions = op.num_regions();
    for (uint32_t i = num_regions; i > 0; --i) push_region(op.region(i - 1));
  }
}

template <class F>
void Walk(Program& program, F&& visit) {
  Walk(program.module().region(0), visit);
}

}  // namespace weft::ir
