// Copying operations within a program or into another program of the same context. Weights are
// shared.
#pragma once

#include <unordered_map>

#include "ir/builder.h"

namespace weft::ir {

class ValueMap {
 public:
  void Set(Value from, Value to) { map_[from.id()] = to; }
  // What `from` was mapped to, or `from` itself (for values from outside the copied part).
  Value Get(Value from) const {
    if (!from) return from;
    auto it = map_.find(from.id());
    return it == map_.end() ? from : it->second;
  }

 private:
  std::unordered_map<uint32_t, Value> map_;  // by value id of the one source program
};

// A copy of op with its regions at the builder's insertion point; operands go through `map`,
// results are entered into it.
Operation CloneOperation(Builder& builder, Operation op, ValueMap& map);
// Copies the blocks of `from` to the end of `to`.
void CloneRegionInto(Builder& builder, Region from, Region to, ValueMap& map);

}  // namespace weft::ir
