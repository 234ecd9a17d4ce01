// Reading constants: what is known before run time about a value.
#pragma once

#include <optional>

#include "ir/program.h"

namespace weft::ir {

// The dense contents of a value defined by builtin.constant or builtin.get_parameter (or another op
// with the trait kConstantLike and a dense attribute `value`); null for anything else. May be
// elided.
Attribute ConstantValue(Value value);
inline bool IsConstant(Value value) { return static_cast<bool>(ConstantValue(value)); }
// The same without elided ones: an attribute that is not null has its bytes.
Attribute Contents(Value value);

// All elements as integers, for an i64 / i32 (or narrower) constant of any shape, or for an op with
// the trait kConstantLike that has a list of integers as its attribute `value` (pd.full_int_array,
// and builtin.constant in listings of Paddle).
std::optional<Ints> ConstantInts(Value value);
// All elements as doubles, for a constant of any real or integer element type, up to
// `max_elements`.
std::optional<std::vector<double>> ConstantDoubles(Value value, int64_t max_elements = 1 << 20);
// The one value of a constant whose elements are all the same (a scalar, [1], or a splat).
std::optional<double> ConstantSplat(Value value);

// Element i of dense contents as a double (numeric types only).
double DenseElement(Attribute dense, int64_t i);

}  // namespace weft::ir
