// Values that were rounded to a scale of quantisation: computed in another order or precision, they
// come out a step apart where they lie halfway between two, and are right both times.
#pragma once

#include <optional>

#include "ir/value.h"

namespace weft::ir {

// How far apart neighbouring values of v are, if v was rounded to integers (QuantizeLinear,
// DynamicQuantizeLinear, QLinearConv, QLinearMatMul, fused.q...) and since then only moved, joined,
// bounded at whole steps, pooled by maximum or dequantised by one constant scale: 1 for the integers,
// the scale for floats. Nothing for any other value: integers that are exact (ConvInteger,
// MatMulInteger), or f32 inputs and constants that are quantised as they are given, among them.
std::optional<double> RoundingStep(Value v);

}  // namespace weft::ir
