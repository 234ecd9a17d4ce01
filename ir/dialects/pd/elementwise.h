// Elementwise ops and their gradients, under Paddle's names. A gradient of an operand that was
// broadcast is summed over what it was repeated for: it has the operand's shape.
#pragma once

#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::pd {

struct Relu {
  static constexpr OpInfo kInfo = {
      .name = "pd.relu", .operands = {"x"}, .traits = kPure | kElementwise, .doc = "max(x, 0)"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Sigmoid {
  static constexpr OpInfo kInfo = {.name = "pd.sigmoid",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .doc = "1 / (1 + exp(-x))"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Tanh {
  static constexpr OpInfo kInfo = {.name = "pd.tanh",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .doc = "the hyperbolic tangent"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Gelu {
  static constexpr OpInfo kInfo = {.name = "pd.gelu",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .doc = "the Gaussian error linear unit"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> approximate{};  // the tanh form
    static constexpr auto Fields() {
      return std::tuple(Field{"approximate", &Attrs::approximate, false});
    }
  };
  static bool Infer(InferContext& c);
};

struct Cast {
  static constexpr OpInfo kInfo = {.name = "pd.cast",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .doc = "x converted to another element type"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> dtype{};
    static constexpr auto Fields() { return std::tuple(Field{"dtype", &Attrs::dtype}); }
  };
  static bool Infer(InferContext& c);
};

// x * scale + bias, or (x + bias) * scale; scale is a tensor of one element.
struct Scale {
  static constexpr OpInfo kInfo = {.name = "pd.scale",
                                   .operands = {"x", "scale"},
                                   .traits = kPure | kElementwise,
                                   .doc = "x times a number plus a number"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> bias{};
    Slot<bool> bias_after_scale{};
    static constexpr auto Fields() {
      return std::tuple(Field{"bias", &Attrs::bias, 0.0f},
                        Field{"bias_after_scale", &Attrs::bias_after_scale, true});
    }
  };
  static bool Infer(InferContext& c);
};

struct Add {
  static constexpr OpInfo kInfo = {.name = "pd.add",
                                   .operands = {"x", "y"},
                                   .traits = kPure | kElementwise | kCommutative,
                                   .doc = "x + y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Subtract {
  static constexpr OpInfo kInfo = {.name = "pd.subtract",
                                   .operands = {"x", "y"},
                                   .traits = kPure | kElementwise,
                                   .doc = "x - y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Multiply {
  static constexpr OpInfo kInfo = {.name = "pd.multiply",
                                   .operands = {"x", "y"},
                                   .traits = kPure | kElementwise | kCommutative,
                                   .doc = "x * y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Divide {
  static constexpr OpInfo kInfo = {
      .name = "pd.divide", .operands = {"x", "y"}, .traits = kPure | kElementwise, .doc = "x / y"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

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

void LoadElementwiseOps(IrContext& context);

}  // namespace weft::ir::pd
