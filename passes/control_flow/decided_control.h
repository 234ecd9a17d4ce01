// Control flow that constants decide: an If whose condition is known, a Loop that is never run.
#pragma once

#include <optional>
#include <vector>

#include "ir/rewriter.h"

namespace weft::passes {

// Whether `op` was such a one. Then it is gone: what the branch computes stands before it and is read
// instead, in whatever region that is, and the results of the Loop are the values it starts with. A
// scan output of a Loop without a step is an empty constant; where its sizes are not known the Loop
// stays. So do both where an op that reads them does not fit what it would read: the error belongs to
// run time, if that op is ever run.
bool InlineDecidedControl(ir::Operation op, ir::Rewriter& rewriter);
// The element of a constant that has one; of a condition or number of steps that is none of these the
// run complains. `value` may be null.
std::optional<double> ConstantNumber(ir::Value value);
// Whether all that read results of `op` would take these values in their place, of types that do not
// contradict theirs.
bool FitsAllReaders(ir::Operation op, const std::vector<ir::Value>& values);
// How many of the first operands of `op` decide that: 0 for all but an If and a Loop.
uint32_t NumDecidingOperands(ir::Operation op);

}  // namespace weft::passes
