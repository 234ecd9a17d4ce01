// Gradients of means and losses, under Paddle's names.
#pragma once

#include "ir/dialects/pd/loss.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

struct MeanGrad {
  static constexpr OpInfo kInfo = {.name = "pd.mean_grad",
                                   .operands = {"x", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "out_grad shared out evenly over the elements of x"};
  template <template <class> class Slot>
  using Attrs = Mean::Attrs<Slot>;
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

void LoadLossGradOps(IrContext& context);

}  // namespace weft::ir::pd
