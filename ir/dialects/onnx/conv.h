// Convolution. x is [N, C, spatial...].
#pragma once

#include "ir/dialects/onnx/infer/auto_pad.h"
#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// w is [M, C / group, kernel...]; pads are all begins, then all ends.
struct Conv {
  static constexpr OpInfo kInfo = {.name = "onnx.Conv",
                                   .operands = {"x", "w", Optional("b")},
                                   .onnx = "Conv",
                                   .since = 22,
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
  static double Flops(Operation op);
};

void LoadConvOps(IrContext& context);

}  // namespace weft::ir::ops
