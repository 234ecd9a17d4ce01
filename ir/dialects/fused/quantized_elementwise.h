// Sums, products and functions of quantised numbers (ir/dialects/fused/quantized.h).
#pragma once

#include "ir/dialects/attr_defaults.h"
#include "ir/op_def.h"

namespace weft::ir::fused {

struct QBinaryOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> clamp{};
    static constexpr auto Fields() {
      return std::tuple(Field{"clamp", &Attrs::clamp, EmptyList{}});
    }
  };
  static bool Infer(InferContext& c);
};

// Broadcasts as onnx.Add does.
struct QAdd : QBinaryOp {
  static constexpr OpInfo kInfo = {.name = "fused.qadd",
                                   .operands = {"a", "a_scale", "a_zero_point", "b", "b_scale",
                                                "b_zero_point", "y_scale", "y_zero_point"},
                                   .doc = "a sum of quantised numbers, quantised"};
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct QMul : QBinaryOp {
  static constexpr OpInfo kInfo = {.name = "fused.qmul",
                                   .operands = {"a", "a_scale", "a_zero_point", "b", "b_scale",
                                                "b_zero_point", "y_scale", "y_zero_point"},
                                   .doc = "a product of quantised numbers, quantised"};
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// Any function of one quantised number: table[x], for i8 with the entries of -128..-1 behind those of
// 0..127. The result has the element type of the table.
struct QLookup {
  static constexpr OpInfo kInfo = {.name = "fused.qlookup",
                                   .operands = {"x", "table"},
                                   .doc = "the entry of a table of 256 for each 8-bit integer"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
