// Matrix products and their gradients, under Paddle's names.
#pragma once

#include <tuple>

#include "ir/dialects/fused/activation.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

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

struct MatMulGrad {
  static constexpr OpInfo kInfo = {.name = "pd.matmul_grad",
                                   .operands = {"x", "y", "out_grad"},
                                   .results = {"x_grad", "y_grad"},
                                   .doc = "the gradients of a matrix product"};
  template <template <class> class Slot>
  using Attrs = MatMul::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadMatmulOps(IrContext& context);

}  // namespace weft::ir::pd
