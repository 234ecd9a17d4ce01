// Batch normalisation, softmax and their gradients, under Paddle's names.
#pragma once

#include <tuple>

#include "ir/dialects/pd/window.h"
#include "ir/op_def.h"

namespace weft::ir::pd {

struct BatchNorm {
  static constexpr OpInfo kInfo = {.name = "pd.batch_norm",
                                   .operands = {"x", "mean", "variance", "scale", "bias"},
                                   .results = {"out", "mean_out", "variance_out", "saved_mean",
                                               "saved_variance", "reserve_space"},
                                   .doc = "normalises each channel"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataFormat> data_layout{};
    Slot<float> epsilon{};
    Slot<bool> is_test{};
    Slot<float> momentum{};
    Slot<bool> trainable_statistics{};
    Slot<bool> use_global_stats{};
    static constexpr auto Fields() {
      return std::tuple(Field{"data_layout", &Attrs::data_layout, DataFormat::kNchw},
                        Field{"epsilon", &Attrs::epsilon, 1e-5f},
                        Field{"is_test", &Attrs::is_test, false},
                        Field{"momentum", &Attrs::momentum, 0.9f},
                        Field{"trainable_statistics", &Attrs::trainable_statistics, false},
                        Field{"use_global_stats", &Attrs::use_global_stats, false});
    }
  };
  static bool Infer(InferContext& c);
};

struct Softmax {
  static constexpr OpInfo kInfo = {.name = "pd.softmax",
                                   .operands = {"x"},
                                   .doc = "exp(x) / sum(exp(x)) along one axis",
                                   .inplace = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}); }
  };
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

struct SoftmaxGrad {
  static constexpr OpInfo kInfo = {.name = "pd.softmax_grad",
                                   .operands = {"out", "out_grad"},
                                   .results = {"x_grad"},
                                   .doc = "the gradient of a softmax"};
  template <template <class> class Slot>
  using Attrs = Softmax::Attrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadNormalizationOps(IrContext& context);

}  // namespace weft::ir::pd
