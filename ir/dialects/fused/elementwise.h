// fused.gelu, and fused.elementwise: one loop for any group of elementwise ops.
#pragma once

#include <array>
#include <string>

#include "ir/op_def.h"

namespace weft::ir::fused {

// What the one block of its region returns, whose arguments are the operands: each broadcasts to
// the result's shape. Values in the body have their own element types, and are rounded to them.
//
//   (%3) = "fused.elementwise" (%0, %1) {} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32> ({
//   ^(%4: tensor<2x3xf32>, %5: tensor<3xf32>)
//     (%6) = "onnx.Mul" (%4, %5) ...
//     () = "builtin.return" (%6) ...
//   })
struct Elementwise {
  static constexpr OpInfo kInfo = {.name = "fused.elementwise",
                                   .operands = {Variadic("inputs")},
                                   .traits = kPure | kIsolated | kBodyInRegion,
                                   .num_regions = 1,
                                   .doc = "elementwise ops in one loop: see its body",
                                   .inplace = kEveryOperand};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  // The shape; the element type is the body's.
  static bool Infer(InferContext& c);
  static bool Verify(Operation op, std::string* error);

  // Whether a body may hold the op: an elementwise onnx op with one result, or fused.gelu.
  static bool MayHold(Operation op);
};

enum class GeluApproximate : uint8_t { kNone, kTanh };
constexpr std::array<std::string_view, 2> EnumNames(GeluApproximate) { return {"none", "tanh"}; }

// gelu(x + bias); bias broadcasts to x. none: 0.5 x (1 + erf(x / sqrt(2))); tanh:
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
struct Gelu {
  static constexpr OpInfo kInfo = {.name = "fused.gelu",
                                   .operands = {"x", Optional("bias")},
                                   .traits = kPure | kElementwise,
                                   .doc = "the Gaussian error linear unit"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<GeluApproximate> approximate{};
    static constexpr auto Fields() {
      return std::tuple(Field{"approximate", &Attrs::approximate, GeluApproximate::kNone});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
