// fused.rotary_embedding.
#pragma once

#include "ir/op_def.h"

namespace weft::ir::fused {

// Turns pairs (a, b) of the last dimension of x, of an even size D, by angles that are given as their
// cosines and sines: (a cos - b sin, b cos + a sin). A pair is column i with i + D / 2, or, interleaved,
// column 2 i with 2 i + 1. cos and sin broadcast to x, but for their last dimension: that is D / 2, one
// number for a pair, or D, one for each column, where those of a pair may differ.
struct RotaryEmbedding {
  static constexpr OpInfo kInfo = {.name = "fused.rotary_embedding",
                                   .operands = {"x", "cos", "sin"},
                                   .doc = "turns pairs of columns by the angles of their position"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> interleaved{};
    static constexpr auto Fields() {
      return std::tuple(Field{"interleaved", &Attrs::interleaved, false});
    }
  };
  static bool Infer(InferContext& c);
  // None where D is not known, or whether there is a number for each pair or for each column.
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
