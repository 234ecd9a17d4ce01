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

// w is [C, M / group, kernel...]. The result is as large as x spread by the strides, under the kernel,
// less the pads; output_shape (spatial dimensions only) or SAME_* choose the pads instead.
struct ConvTranspose {
  static constexpr OpInfo kInfo = {.name = "onnx.ConvTranspose",
                                   .operands = {"x", "w", Optional("b")},
                                   .onnx = "ConvTranspose",
                                   .since = 22,
                                   .doc = "the gradient of a convolution by its input"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<AutoPad> auto_pad{};
    Slot<std::optional<Ints>> dilations{};
    Slot<int64_t> group{};
    Slot<std::optional<Ints>> kernel_shape{};
    Slot<std::optional<Ints>> output_padding{};
    Slot<std::optional<Ints>> output_shape{};
    Slot<std::optional<Ints>> pads{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"auto_pad", &Attrs::auto_pad, AutoPad::kNotSet},
                        Field{"dilations", &Attrs::dilations},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"kernel_shape", &Attrs::kernel_shape},
                        Field{"output_padding", &Attrs::output_padding},
                        Field{"output_shape", &Attrs::output_shape}, Field{"pads", &Attrs::pads},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
  static double Flops(Operation op);
  // Those of the result, for those of x and w; fails where they, b (operand 2) or attributes do not fit together.
  static std::optional<Shape> InferDims(InferContext& c, const Attrs<Plain>& attrs, const Shape& x,
                                        const Shape& w);
  // Along spatial dimension i, for an input of `size` and a kernel of `kernel` elements.
  struct Extent {
    int64_t size, begin;  // of the result; padding at its begin, negative where it grows
  };
  static Extent ExtentAlong(const Attrs<Plain>& attrs, size_t i, int64_t size, int64_t kernel);
};

// x is [N, C * product of block_shape, blocks]; the result is [N, C, image_shape...], the sum of the
// blocks where they lie.
struct Col2Im {
  static constexpr OpInfo kInfo = {.name = "onnx.Col2Im",
                                   .operands = {"x", "image_shape", "block_shape"},
                                   .onnx = "Col2Im",
                                   .since = 18,
                                   .doc = "adds blocks up to an image",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Ints>> dilations{};
    Slot<std::optional<Ints>> pads{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dilations", &Attrs::dilations}, Field{"pads", &Attrs::pads},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
};

// A convolution whose kernel elements read x where `offset` moves them, between elements by linear
// interpolation, 0 outside. offset is [N, offset_group * kernel elements * spatial dimensions, out...]
// and mask, factors of what is read, [N, offset_group * kernel elements, out...].
struct DeformConv {
  static constexpr OpInfo kInfo = {
      .name = "onnx.DeformConv",
      .operands = {"x", "w", "offset", Optional("b"), Optional("mask")},
      .onnx = "DeformConv",
      .since = 22,
      .doc = "convolution that reads where an operand says"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Ints>> dilations{};
    Slot<int64_t> group{};
    Slot<std::optional<Ints>> kernel_shape{};
    Slot<int64_t> offset_group{};
    Slot<std::optional<Ints>> pads{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"dilations", &Attrs::dilations},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"kernel_shape", &Attrs::kernel_shape},
                        Field{"offset_group", &Attrs::offset_group, int64_t{1}},
                        Field{"pads", &Attrs::pads}, Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
  static double Flops(Operation op);
};

void LoadConvOps(IrContext& context);

}  // namespace weft::ir::ops
