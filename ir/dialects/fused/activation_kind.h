// The activations that a fused op applies to its result before it is stored: the one table. A new
// one is a row here, a vector function of its name in kernels/native/simd/math.inc and a test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

// X(Name, text, number of parameters, op, body)
//   Name    of the enumerator kName and of the vector function, which takes x and the parameters
//   text    in programs: the name of op in snake_case
//   op      that is this activation of its one operand: its float attributes are the parameters,
//           the others have their defaults; void where there is no such op
//   body    in onnx ops, of Builder b, Value x, its DataType dtype, Floats params
// gelu is the erf form, gelu_tanh its approximation. The parameters of clip are {min, max}, those of
// hard_sigmoid {alpha, beta}, that of leaky_relu {alpha}.
#define WEFT_FUSED_ACTIVATIONS(X)                                                                  \
  X(None, "none", 0, void, x)                                                                      \
  X(Relu, "relu", 0, ops::Relu, b.Make<ops::Relu>({x}))                                            \
  X(Clip, "clip", 2, void,                                                                         \
    b.Make<ops::Clip>(                                                                             \
        {x, b.ConstantScalar(dtype, params[0]), b.ConstantScalar(dtype, params[1])}))              \
  X(Sigmoid, "sigmoid", 0, ops::Sigmoid, b.Make<ops::Sigmoid>({x}))                                \
  X(Tanh, "tanh", 0, ops::Tanh, b.Make<ops::Tanh>({x}))                                            \
  X(Gelu, "gelu", 0, fused::Gelu, BuildErfGelu(b, x))                                              \
  X(HardSigmoid, "hard_sigmoid", 2, ops::HardSigmoid,                                              \
    b.Make<ops::HardSigmoid>({x}, {.alpha = params[0], .beta = params[1]}))                        \
  X(HardSwish, "hard_swish", 0, ops::HardSwish, b.Make<ops::HardSwish>({x}))                       \
  X(LeakyRelu, "leaky_relu", 1, ops::LeakyRelu, b.Make<ops::LeakyRelu>({x}, {.alpha = params[0]})) \
  X(Swish, "swish", 0, void, b.Make<ops::Mul>({x, b.Make<ops::Sigmoid>({x})}))                     \
  X(GeluTanh, "gelu_tanh", 0, void, BuildTanhGelu(b, x))

namespace weft::ir::fused {

#define WEFT_ROW(Name, text, num_params, op, body) k##Name,
enum class Activation : uint8_t { WEFT_FUSED_ACTIVATIONS(WEFT_ROW) };
#undef WEFT_ROW

#define WEFT_ROW(Name, text, num_params, op, body) std::string_view(text),
constexpr auto EnumNames(Activation) { return std::array{WEFT_FUSED_ACTIVATIONS(WEFT_ROW)}; }
#undef WEFT_ROW

// How many activation_params the activation has: 0, 1 or 2.
constexpr size_t NumActivationParams(Activation activation) {
#define WEFT_ROW(Name, text, num_params, op, body) size_t{num_params},
  return std::array{WEFT_FUSED_ACTIVATIONS(WEFT_ROW)}[static_cast<size_t>(activation)];
#undef WEFT_ROW
}

}  // namespace weft::ir::fused
