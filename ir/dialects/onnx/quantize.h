// Linear quantisation: a number r is stored as the integer q, where r = (q - zero_point) * scale.
// The scale and the zero point are both scalars, or have one element per entry of dimension `axis` of x,
// or, with a block_size, one per block of so many entries along it; then they have the rank of x.
// The zero point is 0 when it is not given.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// The result has the element type of y_zero_point, else output_dtype (ONNX's number of a type), else
// u8. `precision` is the number of the float type to divide in; 0 is that of y_scale.
struct QuantizeLinear {
  static constexpr OpInfo kInfo = {
      .name = "onnx.QuantizeLinear",
      .operands = {"x", "y_scale", Optional("y_zero_point")},
      .traits = kPure | kAxisOfOperand,
      .onnx = "QuantizeLinear",
      .since = 25,
      .doc = "saturate(round_half_to_even(x / y_scale) + y_zero_point), floats rounded last"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> block_size{};
    Slot<int64_t> output_dtype{};
    Slot<int64_t> precision{};
    Slot<int64_t> saturate{};  // of 8-bit floats
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{1}},
                        Field{"block_size", &Attrs::block_size, int64_t{0}},
                        Field{"output_dtype", &Attrs::output_dtype, int64_t{0}},
                        Field{"precision", &Attrs::precision, int64_t{0}},
                        Field{"saturate", &Attrs::saturate, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// The result has the element type output_dtype (ONNX's number), else that of x_scale.
struct DequantizeLinear {
  static constexpr OpInfo kInfo = {.name = "onnx.DequantizeLinear",
                                   .operands = {"x", "x_scale", Optional("x_zero_point")},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "DequantizeLinear",
                                   .since = 25,
                                   .doc = "(x - x_zero_point) * x_scale"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> block_size{};
    Slot<int64_t> output_dtype{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{1}},
                        Field{"block_size", &Attrs::block_size, int64_t{0}},
                        Field{"output_dtype", &Attrs::output_dtype, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// To u8, by the scale and zero point that make the most of it for the numbers of x and 0.
struct DynamicQuantizeLinear : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.DynamicQuantizeLinear",
                                   .operands = {"x"},
                                   .results = {"y", "y_scale", "y_zero_point"},
                                   .onnx = "DynamicQuantizeLinear",
                                   .since = 11,
                                   .doc = "x as u8, with the scale and the zero point that fit it"};
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadQuantizeOps(IrContext& context);

}  // namespace weft::ir::ops
