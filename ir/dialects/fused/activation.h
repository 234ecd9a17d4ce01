// The activation that a fused op applies to its result before it is stored.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ir/op_def.h"

namespace weft::ir::fused {

// gelu is the erf form, gelu_tanh its approximation, swish x * sigmoid(x). activation_params: clip {min, max}, hard_sigmoid {alpha, beta}, else {}.
enum class Activation : uint8_t {
  kNone,
  kRelu,
  kClip,
  kSigmoid,
  kTanh,
  kGelu,
  kHardSigmoid,
  kHardSwish,
  kSwish,
  kGeluTanh
};
constexpr std::array<std::string_view, 10> EnumNames(Activation) {
  return {"none", "relu",         "clip",       "sigmoid", "tanh",
          "gelu", "hard_sigmoid", "hard_swish", "swish",   "gelu_tanh"};
}

// How many activation_params the activation has: 0 or 2.
constexpr size_t NumActivationParams(Activation activation) {
  return activation == Activation::kClip || activation == Activation::kHardSigmoid ? 2 : 0;
}
// False after c.Fail() when there are too many or too few.
bool CheckActivation(InferContext& c, Activation activation, const Floats& params);
// activation(x) in onnx ops.
Value BuildActivation(Builder& b, Value x, Activation activation, const Floats& params);
// gelu(x) in its erf form, 0.5 x (1 + erf(x / sqrt(2))), in onnx ops.
Value BuildErfGelu(Builder& b, Value x);
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), in onnx ops.
Value BuildTanhGelu(Builder& b, Value x);

}  // namespace weft::ir::fused
