// Operators that move data: permute, join, split, select and pad.
#pragma once

#include <array>

#include "ir/dialects/onnx/op_base.h"

namespace weft::ir::ops {

// Dimension i of the result is dimension perm[i] of data; without perm the order is reversed.
struct Transpose {
  static constexpr OpInfo kInfo = {.name = "onnx.Transpose",
                                   .operands = {"data"},
                                   .onnx = "Transpose",
                                   .since = 13,
                                   .doc = "permutes dimensions"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Ints>> perm{};
    static constexpr auto Fields() { return std::tuple(Field{"perm", &Attrs::perm}); }
  };
  static bool Infer(InferContext& c);
};

struct Concat {
  static constexpr OpInfo kInfo = {.name = "onnx.Concat",
                                   .operands = {Variadic("inputs")},
                                   .onnx = "Concat",
                                   .since = 13,
                                   .doc = "joins tensors along an axis"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis}); }
  };
  static bool Infer(InferContext& c);
};

// Without `split` the parts are equal.
struct Split {
  static constexpr OpInfo kInfo = {.name = "onnx.Split",
                                   .operands = {"x", Optional("split")},
                                   .results = {Variadic("outputs")},
                                   .onnx = "Split",
                                   .since = 13,
                                   .doc = "cuts a tensor into parts along an axis"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}}); }
  };
  static bool Infer(InferContext& c);
};

struct Slice {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Slice",
      .operands = {"data", "starts", "ends", Optional("axes"), Optional("steps")},
      .onnx = "Slice",
      .since = 13,
      .doc = "elements start, start + step, ... before end, along some axes"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Gather {
  static constexpr OpInfo kInfo = {.name = "onnx.Gather",
                                   .operands = {"data", "indices"},
                                   .onnx = "Gather",
                                   .since = 13,
                                   .doc = "the entries of data along axis that indices name"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}}); }
  };
  static bool Infer(InferContext& c);
};

enum class PadMode : uint8_t { kConstant, kReflect, kEdge };
constexpr std::array<std::string_view, 3> EnumNames(PadMode) {
  return {"constant", "reflect", "edge"};
}

// pads: all begins, then all ends, one of each per dimension; negative ones crop.
struct Pad {
  static constexpr OpInfo kInfo = {.name = "onnx.Pad",
                                   .operands = {"data", "pads", Optional("constant_value")},
                                   .onnx = "Pad",
                                   .since = 13,
                                   .doc = "adds a border"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<PadMode> mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"mode", &Attrs::mode, PadMode::kConstant});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadTensorOps(IrContext& context);

}  // namespace weft::ir::ops
