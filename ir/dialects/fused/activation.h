// What the fused dialect does with activations: checks them, and says what they compute.
#pragma once

#include "ir/dialects/fused/activation_kind.h"
#include "ir/op_def.h"

namespace weft::ir::fused {

// False after c.Fail() when there are too many or too few.
bool CheckActivation(InferContext& c, Activation activation, const Floats& params);
// activation(x) in onnx ops.
Value BuildActivation(Builder& b, Value x, Activation activation, const Floats& params);
// gelu(x) in its erf form, 0.5 x (1 + erf(x / sqrt(2))), in onnx ops.
Value BuildErfGelu(Builder& b, Value x);
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), in onnx ops.
Value BuildTanhGelu(Builder& b, Value x);

}  // namespace weft::ir::fused
