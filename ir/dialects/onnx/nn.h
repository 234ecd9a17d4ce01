// Convolution, pooling, normalisation and softmax. Activations are [N, C, spatial...].
#pragma once

#include <array>

#include "ir/dialects/onnx/op_base.h"

namespace weft::ir::ops {

// How convolutions and pools pad when `pads` is not given: the enumerators' names are ONNX's.
enum class AutoPad : uint8_t { kNotSet, kSameUpper, kSameLower, kValid };
constexpr std::array<std::string_view, 4> EnumNames(AutoPad) {
  return {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
}

// w is [M, C / group, kernel...]; pads are all begins, then all ends.
struct Conv {
  static constexpr OpInfo kInfo = {.name = "onnx.Conv",
                                   .operands = {"x", "w", Optional("b")},
                                   .onnx = "Conv",
                                   .since = 11,
                                   .doc = "convolution, one bias per output channel"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<AutoPad> auto_pad{};
    Slot<std::optional<Ints>> dilations{};
    Slot<int64_t> group{};
    Slot<std::optional<Ints>> kernel_shape{};
    Slot<std::optional<Ints>> pads{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"auto_pad", &Attrs::auto_pad, AutoPad::kNotSet},
                        Field{"dilations", &Attrs::dilations},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"kernel_shape", &Attrs::kernel_shape}, Field{"pads", &Attrs::pads},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
};

struct MaxPool {
  static constexpr OpInfo kInfo = {.name = "onnx.MaxPool",
                                   .operands = {"x"},
                                   .results = {"out", Optional("indices")},
                                   .onnx = "MaxPool",
                                   .since = 12,
                                   .doc = "the largest element of each window"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<AutoPad> auto_pad{};
    Slot<int64_t> ceil_mode{};
    Slot<std::optional<Ints>> dilations{};
    Slot<Ints> kernel_shape{};
    Slot<std::optional<Ints>> pads{};
    Slot<int64_t> storage_order{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"auto_pad", &Attrs::auto_pad, AutoPad::kNotSet},
                        Field{"ceil_mode", &Attrs::ceil_mode, int64_t{0}},
                        Field{"dilations", &Attrs::dilations},
                        Field{"kernel_shape", &Attrs::kernel_shape}, Field{"pads", &Attrs::pads},
                        Field{"storage_order", &Attrs::storage_order, int64_t{0}},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
};

struct AveragePool {
  static constexpr OpInfo kInfo = {.name = "onnx.AveragePool",
                                   .operands = {"x"},
                                   .onnx = "AveragePool",
                                   .since = 11,
                                   .doc = "the mean of each window"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<AutoPad> auto_pad{};
    Slot<int64_t> ceil_mode{};
    Slot<int64_t> count_include_pad{};
    Slot<Ints> kernel_shape{};
    Slot<std::optional<Ints>> pads{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"auto_pad", &Attrs::auto_pad, AutoPad::kNotSet},
                        Field{"ceil_mode", &Attrs::ceil_mode, int64_t{0}},
                        Field{"count_include_pad", &Attrs::count_include_pad, int64_t{0}},
                        Field{"kernel_shape", &Attrs::kernel_shape}, Field{"pads", &Attrs::pads},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
};

struct GlobalAveragePool {
  static constexpr OpInfo kInfo = {.name = "onnx.GlobalAveragePool",
                                   .operands = {"x"},
                                   .onnx = "GlobalAveragePool",
                                   .since = 1,
                                   .doc = "the mean over all spatial dimensions, kept as 1"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// (x - mean) / sqrt(var + epsilon) * scale + b per channel (dimension 1).
struct BatchNormalization {
  static constexpr OpInfo kInfo = {
      .name = "onnx.BatchNormalization",
      .operands = {"x", "scale", "b", "input_mean", "input_var"},
      .results = {"out", Optional("running_mean"), Optional("running_var")},
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
                                   .since = 6,
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

void LoadNnOps(IrContext& context);

}  // namespace weft::ir::ops
