// fused.embed_layer_norm.
#pragma once

#include "ir/op_def.h"

namespace weft::ir::fused {

// LN(words[ids] + positions[position_ids] + segments[segment_ids]) * scale + bias over the last
// dimension, as BERT begins: rows of tables [rows, columns], looked up as onnx.Gather does, by i32 or
// i64, where negative ones count from the end. ids is [..., S], to which the others broadcast; without
// position_ids those of the last dimension are 0 to S - 1. The result is [..., S, columns].
// LN(x) is (x - mean) / sqrt(variance + epsilon). scale and bias are [columns].
struct EmbedLayerNorm {
  static constexpr OpInfo kInfo = {
      .name = "fused.embed_layer_norm",
      .operands = {"ids", "words", "positions", "scale", Optional("bias"), Optional("position_ids"),
                   Optional("segments"), Optional("segment_ids")},
      .doc = "layer normalisation of the sum of rows that are looked up in tables",
      .data = OverOperands(1, 2, 3, 4, 6)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    static constexpr auto Fields() { return std::tuple(Field{"epsilon", &Attrs::epsilon}); }
  };
  static bool Infer(InferContext& c);
  // None where the rank of ids is not known.
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
