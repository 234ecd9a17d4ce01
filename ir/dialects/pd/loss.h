// What a training program ends with: a loss, its gradient, and the metric of a classifier.
#pragma once

#include <tuple>

#include "ir/op_def.h"

namespace weft::ir::pd {

// softmax = softmax(logits) along axis, or logits themselves without use_softmax; loss = -log of the
// entry of softmax that label names. label holds class numbers (in input's shape but for 1 along
// axis; the loss of ignore_index is 0), or with soft_label a weight for every class.
struct CrossEntropyWithSoftmax {
  static constexpr OpInfo kInfo = {.name = "pd.cross_entropy_with_softmax",
                                   .operands = {"logits", "label"},
                                   .results = {"softmax", "loss"},
                                   .doc = "cross entropy of logits against labels"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> ignore_index{};
    Slot<bool> numeric_stable_mode{};
    Slot<bool> soft_label{};
    Slot<bool> use_softmax{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"ignore_index", &Attrs::ignore_index, int64_t{-100}},
                        Field{"numeric_stable_mode", &Attrs::numeric_stable_mode, true},
                        Field{"soft_label", &Attrs::soft_label, false},
                        Field{"use_softmax", &Attrs::use_softmax, true});
    }
  };
  static bool Infer(InferContext& c);
};

// The share of rows of indices [N, k] that hold the row's label [N, 1]; how many, and of how many.
struct Accuracy {
  static constexpr OpInfo kInfo = {.name = "pd.accuracy",
                                   .operands = {"x", "indices", "label"},
                                   .results = {"accuracy", "correct", "total"},
                                   .doc = "how often the label is among the best k"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct CrossEntropyWithSoftmaxGrad {
  static constexpr OpInfo kInfo = {.name = "pd.cross_entropy_with_softmax_grad",
                                   .operands = {"label", "softmax", "loss_grad"},
                                   .results = {"logits_grad"},
                                   .doc = "the gradient of a cross entropy"};
  template <template <class> class Slot>
  using Attrs = CrossEntropyWithSoftmax::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadLossOps(IrContext& context);

}  // namespace weft::ir::pd
