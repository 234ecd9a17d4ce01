// Ops that could run at the same time: none needs a result of another, directly or through others.
#pragma once

#include <span>
#include <vector>

#include "ir/rewriter.h"

namespace weft::passes {

// Takes out of `candidates`, pure ops of one block in its order, the first and every later one that
// needs no result of those taken before it, nor of an op after the first that cannot be moved.
// Linear in the number of ops between the first and the last.
std::vector<ir::Operation> TakeIndependent(std::vector<ir::Operation>* candidates);

// Moves the ops that `values` need and that come after `op`, in its block, in front of it. The
// values are operands of ops that were taken together with `op`.
void MoveDefinitionsBefore(ir::Rewriter& rewriter, std::span<const ir::Value> values,
                           ir::Operation op);

}  // namespace weft::passes
