// The verifier. Checks, for every operation, in program order:
//   1. operand and result counts fit the definition (required, optional, variadic);
//   2. every operand is alive, defined before its use in the same block or in an enclosing one,
//      and no region of an isolated op uses a value from outside;
//   3. use lists: every operand is in the list of its value, and use_count is its length;
//   4. attributes: required ones present, kinds and enumerators right; others are carried along;
//   5. result types are compatible with what the op's Infer says (a type may know more);
//   6. regions: their number; a terminator is last in its block; builtin.return fits
//      module.output_names, block arguments fit module.input_names;
//   7. builtin.get_parameter names a parameter of the program when the program has any, and so does
//      module.default_inputs, of the input's element type;
//   8. marks of in-place execution hold (ir/analysis/inplace.h).
// An op that no loaded dialect defines passes 2, 3 and 6 only.
#pragma once

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::ir {

// The first mistake found, e.g. "onnx.MatMul %12: x has 4 columns but y has 5 rows".
absl::Status Verify(Program& program);
// Checks 1 to 5 for one op (regions are not entered).
absl::Status VerifyOperation(Operation op);

}  // namespace weft::ir
