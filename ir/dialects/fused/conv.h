// Convolutions on NHWC activations. pads are top, left, bottom, right.
#pragma once

#include "ir/dialects/attr_defaults.h"
#include "ir/dialects/fused/activation.h"

namespace weft::ir::fused {

// activation(conv(x, w) + bias + residual): x NHWC, or NCHW where x_channels_first says so, w
// [O, I / group, kh, kw], bias [O], residual like the result, NHWC.
struct Conv2d {
  static constexpr OpInfo kInfo = {.name = "fused.conv2d",
                                   .operands = {"x", "w", Optional("bias"), Optional("residual")},
                                   .doc = "a convolution with bias, residual and activation",
                                   .inplace = OverOperands(3)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> strides{};
    Slot<Ints> pads{};
    Slot<Ints> dilations{};
    Slot<int64_t> group{};
    Slot<Activation> activation{};
    Slot<Floats> activation_params{};
    Slot<bool> x_channels_first{};
    static constexpr auto Fields() {
      return std::tuple(Field{"strides", &Attrs::strides, IntList{1, 1}},
                        Field{"pads", &Attrs::pads, IntList{0, 0, 0, 0}},
                        Field{"dilations", &Attrs::dilations, IntList{1, 1}},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"activation", &Attrs::activation, Activation::kNone},
                        Field{"activation_params", &Attrs::activation_params, EmptyList{}},
                        Field{"x_channels_first", &Attrs::x_channels_first, false});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// activation(conv_transpose(x, w) + bias): x and the result NHWC, w [I, O / group, kh, kw], bias [O]. pads are cut
// off the result, output_padding rows and columns are added to its end.
struct ConvTranspose2d {
  static constexpr OpInfo kInfo = {.name = "fused.conv_transpose2d",
                                   .operands = {"x", "w", Optional("bias")},
                                   .doc = "a transposed convolution with bias and activation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> strides{};
    Slot<Ints> pads{};
    Slot<Ints> output_padding{};
    Slot<int64_t> group{};
    Slot<Activation> activation{};
    Slot<Floats> activation_params{};
    static constexpr auto Fields() {
      return std::tuple(Field{"strides", &Attrs::strides, IntList{1, 1}},
                        Field{"pads", &Attrs::pads, IntList{0, 0, 0, 0}},
                        Field{"output_padding", &Attrs::output_padding, IntList{0, 0}},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"activation", &Attrs::activation, Activation::kNone},
                        Field{"activation_params", &Attrs::activation_params, EmptyList{}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
