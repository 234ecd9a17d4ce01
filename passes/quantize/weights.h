// Ops with constant weights, and the weights in 8 bits.
#pragma once

#include <optional>
#include <vector>

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::passes {

// A convolution, MatMul or Gemm of f32 with constant weights in operand 1.
struct WeightedOp {
  ir::Operation op{};
  int64_t channel_axis = 0;  // of the weights
};
std::optional<WeightedOp> WeightedOpOf(ir::Operation op);

struct Int8Weights {
  ir::Attribute integers;  // the shape of the weights
  // One per channel; 1 where all its integers are 0, and any other will do.
  std::vector<float> scales;
  std::vector<bool> is_zero;  // by channel: whether they are
};
// The largest number of a channel is 127. InvalidArgument when one is not finite.
absl::StatusOr<Int8Weights> QuantizeWeights(ir::IrContext& context, const WeightedOp& weighted);

// The f32 elements of a constant, or none.
std::vector<float> FloatsOf(ir::Value constant);

}  // namespace weft::passes
