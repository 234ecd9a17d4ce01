// Losses of classifiers: scores [N, C, d1...] against class numbers [N, d1...].
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

enum class LossReduction : uint8_t { kNone, kSum, kMean };
constexpr std::array<std::string_view, 3> EnumNames(LossReduction) {
  return {"none", "sum", "mean"};
}

// -score[class] * weight[class], or 0 where the class is ignore_index; "mean" divides the sum by
// the sum of the weights that were not ignored, a weight being 1 where there are none.
struct LossOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> ignore_index{};
    Slot<LossReduction> reduction{};
    static constexpr auto Fields() {
      return std::tuple(Field{"ignore_index", &Attrs::ignore_index},
                        Field{"reduction", &Attrs::reduction, LossReduction::kMean});
    }
  };
};

// The scores are logarithms of probabilities.
struct NegativeLogLikelihoodLoss : LossOp {
  static constexpr OpInfo kInfo = {.name = "onnx.NegativeLogLikelihoodLoss",
                                   .operands = {"x", "target", Optional("weight")},
                                   .results = {"loss"},
                                   .onnx = "NegativeLogLikelihoodLoss",
                                   .since = 22,
                                   .doc = "minus the logarithm of the probability of a class"};
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
// The same of log_prob, which is the logarithm of softmax(scores) over the classes.
struct SoftmaxCrossEntropyLoss : LossOp {
  static constexpr OpInfo kInfo = {.name = "onnx.SoftmaxCrossEntropyLoss",
                                   .operands = {"scores", "labels", Optional("weights")},
                                   .results = {"loss", Optional("log_prob")},
                                   .onnx = "SoftmaxCrossEntropyLoss",
                                   .since = 13,
                                   .doc = "minus the logarithm of the softmax of a class"};
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

void LoadLossOps(IrContext& context);

}  // namespace weft::ir::ops
