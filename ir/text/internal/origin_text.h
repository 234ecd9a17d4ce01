// Where an operation comes from (ir/origin/origin.h), behind its location:
//
//   from("conv1", "bn1") by("fold-batch-norm") doc("what the model says")
#pragma once

#include <string>

#include "ir/program.h"
#include "ir/text/internal/scanner.h"

namespace weft::ir::text {

// Nothing for an operation that is not rewritten.
void AppendOrigin(std::string* out, Operation op);

// Whether a location or origin comes next, and not a type.
bool AtTail(Scanner* s);
// Reads an origin if there is one.
bool ParseOrigin(Scanner* s, Operation op);

}  // namespace weft::ir::text
