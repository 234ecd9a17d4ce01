// Gradients of convolution, pooling, normalisation and softmax, under Paddle's names.
#pragma once

#include "ir/dialects/pd/nn.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

struct Conv2dGrad {
  static constexpr OpInfo kInfo = {.name = "pd.conv2d_grad",
                                   .operands = {"input", "filter", "out_grad"},
                                   .results = {"input_grad", "filter_grad"},
                                   .doc = "the gradients of a convolution"};
  template <template <class> class Slot>
  using Attrs = Conv2d::Attrs<Slot>;
  static bool Infer(InferContext& c);
};
// saved_mean and saved_variance, which holds 1 / sqrt(variance + epsilon), are of the batch;
// mean_out and variance_out are read instead where the op normalises by running statistics:
// use_global_stats, or is_test without trainable_statistics. The batch's own statistics depend on x.
struct BatchNormGrad {
  static constexpr OpInfo kInfo = {.name = "pd.batch_norm_grad",
                                   .operands = {"x", "scale", "bias", "mean_out", "variance_out",
                                                "saved_mean", "saved_variance", "out_grad"},
                                   .results = {"x_grad", "scale_grad", "bias_grad"},
                                   .doc = "the gradients of a batch normalisation"};
  template <template <class> class Slot>
  using Attrs = BatchNorm::Attrs<Slot>;
  static bool Infer(InferContext& c);
};
// A maximum sends its gradient to the first element of the window that equals it.
struct Pool2dGrad {
  static constexpr OpInfo kInfo = {.name = "pd.pool2d_grad",
                                   .operands = {"x", "out", "out_grad", "kernel_size"},
                                   .results = {"x_grad"},
                                   .doc = "the gradient of a pooling"};
  template <template <class> class Slot>
  using Attrs = Pool2d::Attrs<Slot>;
  static bool Infer(InferContext& c);
};
struct SoftmaxGrad {
  static constexpr OpInfo kInfo = {.name = "pd.softmax_grad",
                                   .operands = {"out", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "the gradient of a softmax"};
  template <template <class> class Slot>
  using Attrs = Softmax::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadNnGradOps(IrContext& context);

}  // namespace weft::ir::pd
