// fused.linear and fused.batch_matmul.
#pragma once

#include "ir/dialects/attr_defaults.h"
#include "ir/dialects/fused/activation.h"

namespace weft::ir::fused {

// activation(x . w + bias + residual): x [..., K], w [K, N] (or [N, K] with transpose_w), bias [N],
// residual like the result [..., N].
struct Linear {
  static constexpr OpInfo kInfo = {.name = "fused.linear",
                                   .operands = {"x", "w", Optional("bias"), Optional("residual")},
                                   .doc = "a matrix product with bias, residual and activation",
                                   .inplace = OverOperands(3)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> transpose_w{};
    Slot<Activation> activation{};
    Slot<Floats> activation_params{};
    static constexpr auto Fields() {
      return std::tuple(Field{"transpose_w", &Attrs::transpose_w, false},
                        Field{"activation", &Attrs::activation, Activation::kNone},
                        Field{"activation_params", &Attrs::activation_params, EmptyList{}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// scale * a' . b' + addend, where a' is a with its dimensions permuted by perm_a (as they are when
// it is empty), and b' the same; leading dimensions broadcast. addend broadcasts to the result.
struct BatchMatMul {
  static constexpr OpInfo kInfo = {.name = "fused.batch_matmul",
                                   .operands = {"a", "b", Optional("addend")},
                                   .doc = "a matrix product of transposed operands, scaled"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> perm_a{};
    Slot<Ints> perm_b{};
    Slot<float> scale{};
    static constexpr auto Fields() {
      return std::tuple(Field{"perm_a", &Attrs::perm_a, EmptyList{}},
                        Field{"perm_b", &Attrs::perm_b, EmptyList{}},
                        Field{"scale", &Attrs::scale, 1.0f});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
