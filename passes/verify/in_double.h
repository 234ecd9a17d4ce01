// A program in double precision, to tell another function from other roundings.
#pragma once

#include <memory>

#include "ir/program.h"

namespace weft::passes {

// A copy in which fused ops are their reference bodies and f32, f16 and bf16 are f64, inputs and
// outputs too; what ops round to 8 bits, cast or keep in another type stays as it is.
std::unique_ptr<ir::Program> InDouble(const ir::Program& program);
// Contents of f32, f16 or bf16 as f64; others as they are.
ir::Attribute AsDoubles(ir::Attribute dense);
// Whether an op makes integers by a constant that is NaN or infinite, as by such a scale: what they
// are is said nowhere.
bool MakesIntegersOfNoNumber(ir::Program& program);

}  // namespace weft::passes
