// Reductions over some axes, and the largest or smallest elements along one. With keepdims = 1
// (ONNX's default) reduced dimensions stay as 1.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// The axes are an attribute, as rules match them, unless they are known at run time only: then they are
// operand 1. (ONNX has the attribute up to opset 17 and the operand from 18 on; import and export
// translate constants.) Without either, or with an empty list, all dimensions are reduced, or none
// with noop_with_empty_axes.
struct ReduceOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Ints>> axes{};
    Slot<int64_t> keepdims{};
    Slot<int64_t> noop_with_empty_axes{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axes", &Attrs::axes},
                        Field{"keepdims", &Attrs::keepdims, int64_t{1}},
                        Field{"noop_with_empty_axes", &Attrs::noop_with_empty_axes, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

constexpr OpInfo ReduceInfo(std::string_view name, int since, std::string_view doc,
                            uint32_t more_traits = kNone) {
  return {.name = name,
          .operands = {"x", Optional("axes")},
          .traits = kPure | kAxisOfOperand | more_traits,
          .onnx = name.substr(kOnnxPrefix.size()),
          .since = since,
          .doc = doc,
          .data = OverOperands(0)};
}

struct ReduceMean : ReduceOp {
  static constexpr OpInfo kInfo = ReduceInfo("onnx.ReduceMean", 18, "the mean over some axes");
};
struct ReduceMax : ReduceOp {  // of bool too: or
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceMax", 20, "the largest element over some axes");
};
struct ReduceMin : ReduceOp {  // of bool too: and
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceMin", 20, "the smallest element over some axes");
};
struct ReduceSum : ReduceOp {
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceSum", 13, "the sum over some axes", kTypeGeneric);
};
struct ReduceProd : ReduceOp {
  static constexpr OpInfo kInfo = ReduceInfo("onnx.ReduceProd", 18, "the product over some axes");
};
struct ReduceL1 : ReduceOp {
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceL1", 18, "the sum of absolute values over some axes", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct ReduceL2 : ReduceOp {
  static constexpr OpInfo kInfo = ReduceInfo(
      "onnx.ReduceL2", 18, "the square root of the sum of squares over some axes", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct ReduceSumSquare : ReduceOp {
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceSumSquare", 18, "the sum of squares over some axes", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct ReduceLogSum : ReduceOp {
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceLogSum", 18, "the logarithm of the sum over some axes", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct ReduceLogSumExp : ReduceOp {
  static constexpr OpInfo kInfo =
      ReduceInfo("onnx.ReduceLogSumExp", 18,
                 "the logarithm of the sum of exponentials over some axes", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// k has one element. Equal elements are taken in the order of their indices.
struct TopK {
  static constexpr OpInfo kInfo = {.name = "onnx.TopK",
                                   .operands = {"x", "k"},
                                   .results = {"values", "indices"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "TopK",
                                   .since = 24,
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
