// fused.elementwise: a loop of its own for any group of elementwise ops.
#pragma once

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
                                   .doc = "elementwise onnx ops in one loop: see its body",
                                   .inplace = kEveryOperand};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  // The shape; the element type is the body's.
  static bool Infer(InferContext& c);
  static bool Verify(Operation op, std::string* error);

  // Whether a body may hold the op: an elementwise onnx op with one result.
  static bool MayHold(Operation op);
};

}  // namespace weft::ir::fused
