// Paddle's fused attention.
#pragma once

#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::pd {

// softmax(alpha * Q . K^T + bias_qk) . V with Q, K, V = input . w + bias split into heads: input
// [B, S, D], w [D, 3, N], bias [3, N], bias_qk broadcastable to [B, head_number, S, S]; the result
// is [B, S, N].
struct MultiheadMatmul {
  static constexpr OpInfo kInfo = {.name = "pd.multihead_matmul",
                                   .operands = {"input", "w", "bias", Optional("bias_qk")},
                                   .doc = "multi-head self-attention with its projections"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<int64_t> head_number{};
    Slot<bool> transpose_k{};
    Slot<bool> transpose_q{};
    Slot<bool> transpose_v{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f},
                        Field{"head_number", &Attrs::head_number, int64_t{1}},
                        Field{"transpose_k", &Attrs::transpose_k, true},
                        Field{"transpose_q", &Attrs::transpose_q, false},
                        Field{"transpose_v", &Attrs::transpose_v, false});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadAttentionOps(IrContext& context);

}  // namespace weft::ir::pd
