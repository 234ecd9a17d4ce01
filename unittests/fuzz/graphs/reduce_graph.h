// A smaller program with the same fault.
#pragma once

#include <functional>
#include <memory>

#include "ir/program.h"

namespace weft::fuzz {

// Leaves out outputs, and operations whose results become inputs, as long as `fails` says that the
// rest still does; `fails` may change nothing. Takes a number of calls linear in the size.
std::unique_ptr<ir::Program> ReduceGraph(const ir::Program& program,
                                         const std::function<bool(ir::Program&)>& fails);

}  // namespace weft::fuzz
