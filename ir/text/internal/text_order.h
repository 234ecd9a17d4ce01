// Visits blocks and operations in the order in which the text form shows them, without recursion.
#pragma once

#include <vector>

#include "ir/program.h"

namespace weft::ir::text {

// on_block(Block) comes before the block's ops, on_op(Operation) before the op's regions. The
// module itself is not visited.
template <class OnBlock, class OnOp>
void VisitInTextOrder(Program& program, OnBlock&& on_block, OnOp&& on_op) {
  struct Item {  // a block to enter, or else an operation to go on with
    Block block;
    Operation op;
  };
  std::vector<Item> stack;
  auto push_regions = [&](Operation op) {
    for (uint32_t i = op.num_regions(); i > 0; --i) {
      const std::vector<Block> blocks = op.region(i - 1).blocks();
      for (auto it = blocks.rbegin(); it != blocks.rend(); ++it) stack.push_back({*it, {}});
    }
  };
  push_regions(program.module());
  while (!stack.empty()) {
    const Item item = stack.back();
    stack.pop_back();
    if (item.block) {
      on_block(item.block);
      if (const Operation first = item.block.front()) stack.push_back({{}, first});
      continue;
    }
    if (const Operation next = item.op.next()) stack.push_back({{}, next});
    on_op(item.op);
    push_regions(item.op);
  }
}

}  // namespace weft::ir::text
