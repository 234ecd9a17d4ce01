// ONNX's comparison of a result with reference data.
#pragma once

#include <string>

#include "kernels/runtime_value.h"

namespace weft::conformance {

// |actual - expected| <= absolute + relative * |expected|, as ONNX's own runner has it; integers must
// be equal.
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

// What differs, in one line; empty when nothing does. Element type and shape must be the same. NaN
// equals NaN, and an infinity only itself. Without `values`, for results that are random, no
// element is looked at.
std::string Difference(const kernels::TensorView& actual, const kernels::TensorView& expected,
                       const Tolerance& tolerance, bool values = true);

// The same for values of any kind: sequences have the same length, and their tensors are compared.
std::string Difference(const kernels::RuntimeValue& actual, const kernels::RuntimeValue& expected,
                       const Tolerance& tolerance, bool values = true);

// Of values that were rounded to steps of that size (ir/analysis/rounding_step.h): "1 step of 1 off in 3
// of 40 values (7.5 %)" where none is further off and at most a quarter of many is, else nothing.
std::string OffByOneStep(const kernels::RuntimeValue& actual, const kernels::RuntimeValue& expected,
                         double step);

}  // namespace weft::conformance
