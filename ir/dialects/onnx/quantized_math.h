// Convolutions and matrix products of quantised numbers (ir/dialects/onnx/quantize.h).
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"
#include "ir/dialects/onnx/nn/conv.h"

namespace weft::ir::ops {

// The zero points are 0 unless given: a scalar, or one per row of a, per column of b.
struct MatMulInteger : PlainOp {
  static constexpr OpInfo kInfo = {
      .name = "onnx.MatMulInteger",
      .operands = {"a", "b", Optional("a_zero_point"), Optional("b_zero_point")},
      .onnx = "MatMulInteger",
      .since = 10,
      .doc = "(a - a_zero_point) . (b - b_zero_point) in i32"};
  static bool Infer(InferContext& c);
};

// Scales and zero points are scalars, or one per row of a, per column of b, per row of y.
struct QLinearMatMul : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.QLinearMatMul",
                                   .operands = {"a", "a_scale", "a_zero_point", "b", "b_scale",
                                                "b_zero_point", "y_scale", "y_zero_point"},
                                   .onnx = "QLinearMatMul",
                                   .since = 21,
                                   .doc = "matrix product of quantised numbers, quantised"};
  static bool Infer(InferContext& c);
};

// w_zero_point is a scalar or has one element per output channel.
struct ConvInteger {
  static constexpr OpInfo kInfo = {
      .name = "onnx.ConvInteger",
      .operands = {"x", "w", Optional("x_zero_point"), Optional("w_zero_point")},
      .onnx = "ConvInteger",
      .since = 10,
      .doc = "convolution of x - x_zero_point with w - w_zero_point in i32"};
  template <template <class> class Slot>
  using Attrs = Conv::Attrs<Slot>;
  static bool Infer(InferContext& c);
  static double Flops(Operation op);
};

// w_scale and w_zero_point are scalars or have one element per output channel; b is in units of
// x_scale * w_scale.
struct QLinearConv {
  static constexpr OpInfo kInfo = {
      .name = "onnx.QLinearConv",
      .operands = {"x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale",
                   "y_zero_point", Optional("b")},
      .onnx = "QLinearConv",
      .since = 10,
      .doc = "convolution of quantised numbers, quantised"};
  template <template <class> class Slot>
  using Attrs = Conv::Attrs<Slot>;
  static bool Infer(InferContext& c);
  static double Flops(Operation op);
};

void LoadQuantizedMathOps(IrContext& context);

}  // namespace weft::ir::ops
