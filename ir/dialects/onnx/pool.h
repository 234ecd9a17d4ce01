// Pooling. x is [N, C, spatial...].
#pragma once

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

struct MaxPool {
  static constexpr OpInfo kInfo = {.name = "onnx.MaxPool",
                                   .operands = {"x"},
                                   .results = {"out", Optional("indices")},
                                   .onnx = "MaxPool",
                                   .since = 22,
                                   .doc = "the largest number of each window; skips NaN"};
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
                                   .since = 22,
                                   .doc = "the mean over all spatial dimensions, kept as 1"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

void LoadPoolOps(IrContext& context);

}  // namespace weft::ir::ops
