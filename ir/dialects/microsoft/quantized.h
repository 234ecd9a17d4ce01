// Sums and products of quantised numbers (ir/dialects/onnx/quantize.h) of one 8-bit type, each with one
// scale and one zero point.
#pragma once

#include "ir/dialects/microsoft/op_info.h"

namespace weft::ir::microsoft {

struct QLinearBinaryOp {
  static constexpr OpInfo Info(std::string_view name, std::string_view doc) {
    return {.name = name,
            .operands = {"a", "a_scale", Optional("a_zero_point"), "b", "b_scale",
                         Optional("b_zero_point"), "y_scale", Optional("y_zero_point")},
            .onnx = TypeOf(name),
            .onnx_domain = kDomain,
            .doc = doc};
  }
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// Broadcasts as onnx.Add does.
struct QLinearAdd : QLinearBinaryOp {
  static constexpr OpInfo kInfo =
      Info("com.microsoft.QLinearAdd", "a sum of quantised numbers, quantised");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct QLinearMul : QLinearBinaryOp {
  static constexpr OpInfo kInfo =
      Info("com.microsoft.QLinearMul", "a product of quantised numbers, quantised");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadQuantizedOps(IrContext& context);

}  // namespace weft::ir::microsoft
