// Reductions over some axes, and the largest or smallest elements along one. With keepdims = 1
// (ONNX's default) reduced dimensions stay as 1; axes absent means all.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

struct ReduceOp {  // axes are an attribute until opset 17
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Ints>> axes{};
    Slot<int64_t> keepdims{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axes", &Attrs::axes},
                        Field{"keepdims", &Attrs::keepdims, int64_t{1}});
    }
  };
};

struct ReduceMean : ReduceOp {
  static constexpr OpInfo kInfo = {.name = "onnx.ReduceMean",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "ReduceMean",
                                   .since = 13,
                                   .doc = "the mean over some axes"};
  static bool Infer(InferContext& c);
};
struct ReduceMax : ReduceOp {
  static constexpr OpInfo kInfo = {.name = "onnx.ReduceMax",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "ReduceMax",
                                   .since = 13,
                                   .doc = "the largest element over some axes"};
  static bool Infer(InferContext& c);
};
struct ReduceMin : ReduceOp {
  static constexpr OpInfo kInfo = {.name = "onnx.ReduceMin",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "ReduceMin",
                                   .since = 13,
                                   .doc = "the smallest element over some axes"};
  static bool Infer(InferContext& c);
};
// The one reduction whose axes are an operand in opset 13 already.
struct ReduceSum {
  static constexpr OpInfo kInfo = {.name = "onnx.ReduceSum",
                                   .operands = {"x", Optional("axes")},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "ReduceSum",
                                   .since = 13,
                                   .doc = "the sum over some axes",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> keepdims{};
    Slot<int64_t> noop_with_empty_axes{};
    static constexpr auto Fields() {
      return std::tuple(Field{"keepdims", &Attrs::keepdims, int64_t{1}},
                        Field{"noop_with_empty_axes", &Attrs::noop_with_empty_axes, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// k has one element. Equal elements are taken in the order of their indices.
struct TopK {
  static constexpr OpInfo kInfo = {.name = "onnx.TopK",
                                   .operands = {"x", "k"},
                                   .results = {"values", "indices"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "TopK",
                                   .since = 11,
                                   .doc = "the k largest or smallest elements along an axis",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> largest{};
    Slot<int64_t> sorted{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"largest", &Attrs::largest, int64_t{1}},
                        Field{"sorted", &Attrs::sorted, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// The types of a TopK whose k and indices are of type `index`.
bool InferTopK(InferContext& c, int64_t axis, DataType index);

void LoadReduceOps(IrContext& context);

}  // namespace weft::ir::ops
