// Matrix products.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// x [..., M, K] times y [..., K, N]; leading dimensions broadcast, a vector is a row on the left
// and a column on the right.
struct MatMul {
  static constexpr OpInfo kInfo = {.name = "onnx.MatMul",
                                   .operands = {"x", "y"},
                                   .onnx = "MatMul",
                                   .since = 13,
                                   .doc = "matrix product, as numpy.matmul"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static double Flops(Operation op);
};

// a is [M, K], or [K, M] with transA; b is [K, N], or [N, K] with transB; c broadcasts to [M, N].
struct Gemm {
  static constexpr OpInfo kInfo = {.name = "onnx.Gemm",
                                   .operands = {"a", "b", Optional("c")},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "Gemm",
                                   .since = 13,
                                   .doc = "alpha * a . b + beta * c, for matrices",
                                   .inplace = OverOperands(2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<float> beta{};
    Slot<int64_t> transA{};
    Slot<int64_t> transB{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f}, Field{"beta", &Attrs::beta, 1.0f},
                        Field{"transA", &Attrs::transA, int64_t{0}},
                        Field{"transB", &Attrs::transB, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static double Flops(Operation op);
};

void LoadMatmulOps(IrContext& context);

}  // namespace weft::ir::ops
