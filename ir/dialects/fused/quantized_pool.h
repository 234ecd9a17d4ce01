// Means of quantised numbers (ir/dialects/fused/quantized.h), NHWC.
#pragma once

#include "ir/dialects/fused/pool.h"

namespace weft::ir::fused {

struct QAveragePool2d {
  static constexpr OpInfo kInfo = {
      .name = "fused.qaverage_pool2d",
      .operands = {"x", "x_scale", "x_zero_point", "y_scale", "y_zero_point"},
      .doc = "the mean of each window of quantised numbers, quantised"};
  template <template <class> class Slot>
  using Attrs = AveragePool2d::Attrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// [N, H, W, C] -> [N, 1, 1, C].
struct QGlobalAveragePool2d {
  static constexpr OpInfo kInfo = {
      .name = "fused.qglobal_average_pool2d",
      .operands = {"x", "x_scale", "x_zero_point", "y_scale", "y_zero_point"},
      .doc = "the mean of quantised numbers over height and width, quantised"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
