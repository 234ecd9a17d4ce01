// The ascend dialect: what Ascend NPUs run and ONNX cannot say. Every op has a reference body in
// onnx ops.
#pragma once

#include "ir/dialects/onnx/reduce.h"

namespace weft::ir {

class Builder;

namespace ascend {

// onnx.TopK with i32 for k and for the indices.
struct TopK {
  static constexpr OpInfo kInfo = {
      .name = "ascend.TopK",
      .operands = {"x", "k"},
      .results = {"values", "indices"},
      .doc = "the k largest or smallest elements along an axis, counted in i32"};
  template <template <class> class Slot>
  using Attrs = ops::TopK::Attrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace ascend

void LoadAscendDialect(IrContext& context);

}  // namespace weft::ir
