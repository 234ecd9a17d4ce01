// Where something is in a tensor.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// Of equal elements the first or, with select_last_index, the last; a NaN comes before all numbers.
struct ArgOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> keepdims{};
    Slot<int64_t> select_last_index{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}},
                        Field{"keepdims", &Attrs::keepdims, int64_t{1}},
                        Field{"select_last_index", &Attrs::select_last_index, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};
struct ArgMax : ArgOp {
  static constexpr OpInfo kInfo = {.name = "onnx.ArgMax",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "ArgMax",
                                   .since = 13,
                                   .doc = "the index of the largest element along an axis"};
};
struct ArgMin : ArgOp {
  static constexpr OpInfo kInfo = {.name = "onnx.ArgMin",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "ArgMin",
                                   .since = 13,
                                   .doc = "the index of the smallest element along an axis"};
};

void LoadSearchOps(IrContext& context);

}  // namespace weft::ir::ops
