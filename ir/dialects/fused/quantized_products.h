// Convolutions and matrix products of quantised numbers (ir/dialects/fused/quantized.h). The sums
// are exact; they are rounded once, to the result's scale.
#pragma once

#include "ir/dialects/attr_defaults.h"
#include "ir/op_def.h"

namespace weft::ir::fused {

// x and y NHWC, w [O, I / group, kh, kw]; w_scale and w_zero_point one or O; bias i32 [O] in units of
// x_scale * w_scale. pads are top, left, bottom, right.
struct QConv2d {
  static constexpr OpInfo kInfo = {
      .name = "fused.qconv2d",
      .operands = {"x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale",
                   "y_zero_point", Optional("bias")},
      .doc = "a convolution of quantised numbers, quantised"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> strides{};
    Slot<Ints> pads{};
    Slot<Ints> dilations{};
    Slot<int64_t> group{};
    Slot<Ints> clamp{};
    static constexpr auto Fields() {
      return std::tuple(Field{"strides", &Attrs::strides, IntList{1, 1}},
                        Field{"pads", &Attrs::pads, IntList{0, 0, 0, 0}},
                        Field{"dilations", &Attrs::dilations, IntList{1, 1}},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"clamp", &Attrs::clamp, EmptyList{}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// x [..., K], w [K, N] (or [N, K] with transpose_w); w_scale and w_zero_point one or N; bias i32 [N]
// in units of x_scale * w_scale.
struct QLinear {
  static constexpr OpInfo kInfo = {
      .name = "fused.qlinear",
      .operands = {"x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale",
                   "y_zero_point", Optional("bias")},
      .doc = "a matrix product of quantised numbers with bias, quantised"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> transpose_w{};
    Slot<Ints> clamp{};
    static constexpr auto Fields() {
      return std::tuple(Field{"transpose_w", &Attrs::transpose_w, false},
                        Field{"clamp", &Attrs::clamp, EmptyList{}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// x [..., K] times weights that only the product sees as floats of the type of x: w [K, N], integers with
// a scale and a zero point (0 unless given) for each block of block_size rows: [ceil(K / block_size), N].
struct DequantizeMatmul {
  static constexpr OpInfo kInfo = {.name = "fused.dequantize_matmul",
                                   .operands = {"x", "w", "w_scale", Optional("w_zero_point")},
                                   .doc = "a matrix product with weights quantised in blocks"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> block_size{};
    static constexpr auto Fields() { return std::tuple(Field{"block_size", &Attrs::block_size}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
