// How operations are computed in another order of the axes of their operands and results.
#pragma once

#include <optional>
#include <vector>

#include "ir/rewriter.h"

namespace weft::passes {

ir::Ints InverseOf(const ir::Ints& perm);

// What axes of transpose(x, p) are in x; nothing where one is none.
std::optional<ir::Ints> AxesBefore(const ir::Ints& p, const ir::Ints& axes);
// The pads of all axes of x, all begins and then all ends, of a Pad of transpose(x, p).
std::optional<ir::Ints> PadsBefore(const ir::Ints& p, const std::optional<ir::Ints>& pads,
                                   const std::optional<ir::Ints>& axes);

// What becomes of an operand of an operation whose results get another order of axes.
enum class AxisRole {
  kNone,      // it has no axes that matter
  kFollows,   // it gets that order, too
  kConstant,  // likewise, a constant
  kPads,      // amounts for each axis of the first operand, a constant
};

// Of each operand; nothing where the operation can be computed in one order of axes only, or has a value of
// another rank, or of none that is known. At least one operand follows. `exact`: nothing, too, where sums would
// be formed in another order.
std::optional<std::vector<AxisRole>> AxisRolesOf(ir::Operation op, size_t rank, bool exact);

// A copy of the operation at the insertion point, whose results r are those of `op` as transpose(r, perm) has them.
// Those of `followers` stand for the operands that follow, in their order. Constants are moved by operations that
// constant folding computes.
ir::Operation CreateInOrder(ir::Rewriter& rewriter, ir::Operation op,
                            const std::vector<AxisRole>& roles,
                            const std::vector<ir::Value>& followers, const ir::Ints& perm);

}  // namespace weft::passes
