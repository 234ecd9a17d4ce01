// Normalisation and softmax. Where channels count, x is [N, C, spatial...].
#pragma once

#include "ir/dialects/attr_defaults.h"
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
  // Empty where x has no rank and axis counts from the front.
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

struct Softmax {
  static constexpr OpInfo kInfo = {.name = "onnx.Softmax",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand | kAtomic,
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
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// log(softmax(x)), which stays finite where softmax is too small for a float.
struct LogSoftmax {
  static constexpr OpInfo kInfo = {.name = "onnx.LogSoftmax",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand | kAtomic,
                                   .onnx = "LogSoftmax",
                                   .since = 13,
                                   .doc = "log(softmax(x)) along one axis"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Hardmax {
  static constexpr OpInfo kInfo = {.name = "onnx.Hardmax",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "Hardmax",
                                   .since = 13,
                                   .doc = "1 for the first largest element along one axis, else 0"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}}); }
  };
  static bool Infer(InferContext& c);
};

// x / (bias + alpha / size * s)^beta, where s sums the squares of `size` neighbouring channels,
// (size - 1) / 2 of them before this one.
struct LRN {
  static constexpr OpInfo kInfo = {.name = "onnx.LRN",
                                   .operands = {"x"},
                                   .onnx = "LRN",
                                   .since = 13,
                                   .doc = "normalises by the squares of neighbouring channels"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<float> beta{};
    Slot<float> bias{};
    Slot<int64_t> size{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1e-4f}, Field{"beta", &Attrs::beta, 0.75f},
                        Field{"bias", &Attrs::bias, 1.0f}, Field{"size", &Attrs::size});
    }
  };
  static bool Infer(InferContext& c);
};

// p is 1 or 2; where the norm is 0, so is the result.
struct LpNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.LpNormalization",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "LpNormalization",
                                   .since = 22,
                                   .doc = "x / (the L1 or L2 norm along one axis)"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<int64_t> p{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"p", &Attrs::p, int64_t{2}});
    }
  };
  static bool Infer(InferContext& c);
};

// (x - mean) / (sqrt(var) + 1e-9) over `axes`; none means all.
struct MeanVarianceNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.MeanVarianceNormalization",
                                   .operands = {"x"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "MeanVarianceNormalization",
                                   .since = 13,
                                   .doc = "normalises to mean 0 and variance 1 over some axes"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> axes{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axes", &Attrs::axes, IntList{0, 2, 3}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// (x - mean) / sqrt(var + epsilon) * scale + b, where num_groups groups of neighbouring channels of
// each batch have their own mean and variance; scale and b are per channel.
struct GroupNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.GroupNormalization",
                                   .operands = {"x", "scale", "b"},
                                   .onnx = "GroupNormalization",
                                   .since = 21,
                                   .doc = "normalises groups of channels of each batch"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    Slot<int64_t> num_groups{};
    Slot<int64_t> stash_type{};
    static constexpr auto Fields() {
      return std::tuple(Field{"epsilon", &Attrs::epsilon, 1e-5f},
                        Field{"num_groups", &Attrs::num_groups},
                        Field{"stash_type", &Attrs::stash_type, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// Over dimensions axis..rank-1: x / sqrt(mean(x^2) + epsilon) * scale, in the type of scale.
struct RMSNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.RMSNormalization",
                                   .operands = {"x", "scale"},
                                   .traits = kPure | kAxisOfOperand,
                                   .onnx = "RMSNormalization",
                                   .since = 23,
                                   .doc = "divides by the root mean square of the last dimensions"};
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
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadNormalizationOps(IrContext& context);

}  // namespace weft::ir::ops
