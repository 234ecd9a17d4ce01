// Elementwise ops and matrix products.
#pragma once

#include <tuple>

#include "ir/dialects/fused/activation.h"
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
// Paddle's matmul: as numpy.matmul, each operand's last two dimensions swapped on request.
struct MatMul {
  static constexpr OpInfo kInfo = {
      .name = "pd.matmul", .operands = {"x", "y"}, .doc = "matrix product"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> transpose_x{};
    Slot<bool> transpose_y{};
    static constexpr auto Fields() {
      return std::tuple(Field{"transpose_x", &Attrs::transpose_x, false},
                        Field{"transpose_y", &Attrs::transpose_y, false});
    }
  };
  static bool Infer(InferContext& c);
};
// activation(x . w + bias), w [K, N], bias [N].
struct FusedLinear {
  static constexpr OpInfo kInfo = {.name = "pd.fused_linear",
                                   .operands = {"x", "w", Optional("bias")},
                                   .doc = "a matrix product with bias and activation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<fused::Activation> activation{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation", &Attrs::activation, fused::Activation::kNone});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadMathOps(IrContext& context);

}  // namespace weft::ir::pd
