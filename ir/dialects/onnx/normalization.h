// Normalisation and softmax. Where channels count, x is [N, C, spatial...].
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// (x - mean) / sqrt(var + epsilon) * scale + b per channel (dimension 1).
struct BatchNormalization {
  static constexpr OpInfo kInfo = {
      .name = "onnx.BatchNormalization",
      .operands = {"x", "scale", "b", "input_mean", "input_var"},
      .results = {"out", Optional("running_mean"), Optional("running_var")},
      .traits = kPure | kTypeGeneric | kRankGeneric,
      .onnx = "BatchNormalization",
      .since = 15,
      .doc = "normalises each channel with the given statistics",
      .inplace = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    Slot<float> momentum{};
    Slot<int64_t> training_mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"epsilon", &Attrs::epsilon, 1e-5f},
                        Field{"momentum", &Attrs::momentum, 0.9f},
                        Field{"training_mode", &Attrs::training_mode, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// (x - mean) / sqrt(var + epsilon) * scale + b, where each channel of each batch has its own mean
// and variance over the spatial dimensions.
struct InstanceNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.InstanceNormalization",
                                   .operands = {"x", "scale", "b"},
                                   .onnx = "InstanceNormalization",
                                   .since = 22,
                                   .doc = "normalises each channel of each batch"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    static constexpr auto Fields() { return std::tuple(Field{"epsilon", &Attrs::epsilon, 1e-5f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// Over dimensions axis..rank-1: (x - mean) / sqrt(var + epsilon) * scale + b.
struct LayerNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.LayerNormalization",
                                   .operands = {"x", "scale", Optional("b")},
                                   .results = {"out", Optional("mean"), Optional("inv_std_dev")},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "LayerNormalization",
                                   .since = 17,
                                   .doc = "normalises the last dimensions to mean 0 and variance 1",
                                   .inplace = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<float> epsilon{};
    Slot<int64_t> stash_type{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"epsilon", &Attrs::epsilon, 1e-5f},
                        Field{"stash_type", &Attrs::stash_type, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
  // Of the first result. Empty where that is not known: the statistics have another element type
  // than x, or x has no rank and axis counts from the front.
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

struct Softmax {
  static constexpr OpInfo kInfo = {.name = "onnx.Softmax",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "Softmax",
                                   .since = 13,
                                   .doc = "exp(x) / sum(exp(x)) along one axis",
                                   .inplace = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}); }
  };
  static bool Infer(InferContext& c);
};

void LoadNormalizationOps(IrContext& context);

}  // namespace weft::ir::ops
