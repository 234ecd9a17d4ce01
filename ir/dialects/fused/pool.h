// Pools on NHWC activations. pads are top, left, bottom, right.
#pragma once

#include "ir/dialects/attr_defaults.h"
#include "ir/op_def.h"

namespace weft::ir::fused {

struct MaxPool2d {
  static constexpr OpInfo kInfo = {
      .name = "fused.max_pool2d",
      .operands = {"x"},
      .doc = "the largest number of each window, of floats, i8 or u8; skips NaN"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> kernel_shape{};
    Slot<Ints> strides{};
    Slot<Ints> pads{};
    Slot<Ints> dilations{};
    Slot<bool> ceil_mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"kernel_shape", &Attrs::kernel_shape},
                        Field{"strides", &Attrs::strides, IntList{1, 1}},
                        Field{"pads", &Attrs::pads, IntList{0, 0, 0, 0}},
                        Field{"dilations", &Attrs::dilations, IntList{1, 1}},
                        Field{"ceil_mode", &Attrs::ceil_mode, false});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

struct AveragePool2d {
  static constexpr OpInfo kInfo = {
      .name = "fused.average_pool2d", .operands = {"x"}, .doc = "the mean of each window"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> kernel_shape{};
    Slot<Ints> strides{};
    Slot<Ints> pads{};
    Slot<bool> ceil_mode{};
    Slot<bool> count_include_pad{};
    static constexpr auto Fields() {
      return std::tuple(Field{"kernel_shape", &Attrs::kernel_shape},
                        Field{"strides", &Attrs::strides, IntList{1, 1}},
                        Field{"pads", &Attrs::pads, IntList{0, 0, 0, 0}},
                        Field{"ceil_mode", &Attrs::ceil_mode, false},
                        Field{"count_include_pad", &Attrs::count_include_pad, false});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// [N, H, W, C] -> [N, 1, 1, C].
struct GlobalAveragePool2d {
  static constexpr OpInfo kInfo = {.name = "fused.global_average_pool2d",
                                   .operands = {"x"},
                                   .doc = "the mean over height and width"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
