// Gradients of elementwise ops and matrix products, under Paddle's names. A gradient of an operand that
// was broadcast is summed over what it was repeated for: it has the operand's shape.
#pragma once

#include "ir/dialects/pd/math.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

struct ReluGrad {
  static constexpr OpInfo kInfo = {.name = "pd.relu_grad",
                                   .operands = {"out", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "out_grad where out is positive"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct GeluGrad {
  static constexpr OpInfo kInfo = {.name = "pd.gelu_grad",
                                   .operands = {"x", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "the gradient of a GELU"};
  template <template <class> class Slot>
  using Attrs = Gelu::Attrs<Slot>;
  static bool Infer(InferContext& c);
};
struct AddGrad {
  static constexpr OpInfo kInfo = {.name = "pd.add_grad",
                                   .operands = {"x", "y", "out_grad"},
                                   .results = {"x_grad", "y_grad"},
                                   .doc = "the gradients of x + y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct SubtractGrad {
  static constexpr OpInfo kInfo = {.name = "pd.subtract_grad",
                                   .operands = {"x", "y", "out_grad"},
                                   .results = {"x_grad", "y_grad"},
                                   .doc = "the gradients of x - y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct MultiplyGrad {
  static constexpr OpInfo kInfo = {.name = "pd.multiply_grad",
                                   .operands = {"x", "y", "out_grad"},
                                   .results = {"x_grad", "y_grad"},
                                   .doc = "the gradients of x * y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct DivideGrad {
  static constexpr OpInfo kInfo = {.name = "pd.divide_grad",
                                   .operands = {"x", "y", "out", "out_grad"},
                                   .results = {"x_grad", "y_grad"},
                                   .doc = "the gradients of x / y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct MatMulGrad {
  static constexpr OpInfo kInfo = {.name = "pd.matmul_grad",
                                   .operands = {"x", "y", "out_grad"},
                                   .results = {"x_grad", "y_grad"},
                                   .doc = "the gradients of a matrix product"};
  template <template <class> class Slot>
  using Attrs = MatMul::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadMathGradOps(IrContext& context);

}  // namespace weft::ir::pd
