// Quantised models from f32 ones, in ONNX's own operators (opset 13 has all of them).
//
//   dynamic: matmul(x, w) => the i32 product of x, quantised when it is known, and i8 weights, scaled.
//            MatMul and Gemm with constant weights; convolutions stay f32.
//   static:  QuantizeLinear and DequantizeLinear around convolutions, products with constant weights,
//            sums, means, max pools and what moves their results; the scales follow from ranges that
//            the caller measured:
//
//     auto values = ValuesToCalibrate(program);                // run the program, look at these
//     QuantizeStatic(program, ranges);                         // one range for each
//
// Weights become i8 with one scale per output channel and no zero point, activations u8 with one
// scale, biases i32. Only the ops of the program's body take part, not those of nested regions.
#pragma once

#include <span>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::passes {

struct Range {
  float low = 0, high = 0;
};

// Whether 8 bits say nothing of it, as of a mask that holds -inf or the least number of f32.
bool IsTooWide(const Range& range);

// The f32 values that static quantisation rounds to u8, in an order that a clone has too.
std::vector<ir::Value> ValuesToCalibrate(ir::Program& program);

// The number of ops that were quantised; those on a value whose range is too wide are not, nor those
// that are quantised already. InvalidArgument for weights that are not finite, and for ranges with NaN.
absl::StatusOr<int64_t> QuantizeStatic(ir::Program& program, std::span<const Range> ranges);
absl::StatusOr<int64_t> QuantizeDynamic(ir::Program& program);

}  // namespace weft::passes
