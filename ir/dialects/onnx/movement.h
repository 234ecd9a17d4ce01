// Operators that move data: permute, join, split, select, repeat, pad, place by index.
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// Dimension i of the result is dimension perm[i] of data; without perm the order is reversed.
struct Transpose {
  static constexpr OpInfo kInfo = {.name = "onnx.Transpose",
                                   .operands = {"data"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "Transpose",
                                   .since = 25,
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
                                   .traits = kPure | kTypeGeneric | kRankGeneric | kAxisOfOperand,
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
// Into parts of the sizes `split`; else into num_outputs, by default as many as there are results, equal
// ones but for the last, which may be smaller where num_outputs is given.
struct Split {
  static constexpr OpInfo kInfo = {.name = "onnx.Split",
                                   .operands = {"x", Optional("split")},
                                   .results = {Variadic("outputs")},
                                   .traits = kPure | kTypeGeneric | kRankGeneric | kAxisOfOperand,
                                   .onnx = "Split",
                                   .since = 18,
                                   .doc = "cuts a tensor into parts along an axis",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<std::optional<int64_t>> num_outputs{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}},
                        Field{"num_outputs", &Attrs::num_outputs});
    }
  };
  static bool Infer(InferContext& c);
};

struct Slice {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Slice",
      .operands = {"data", "starts", "ends", Optional("axes"), Optional("steps")},
      .traits = kPure | kTypeGeneric,
      .onnx = "Slice",
      .since = 13,
      .doc = "elements start, start + step, ... before end, along some axes",
      .data = OverOperands(0)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Gather {
  static constexpr OpInfo kInfo = {.name = "onnx.Gather",
                                   .operands = {"data", "indices"},
                                   .traits = kPure | kTypeGeneric | kAxisOfOperand,
                                   .onnx = "Gather",
                                   .since = 13,
                                   .doc = "the entries of data along axis that indices name",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}}); }
  };
  static bool Infer(InferContext& c);
};

struct Expand {
  static constexpr OpInfo kInfo = {.name = "onnx.Expand",
                                   .operands = {"x", "shape"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "Expand",
                                   .since = 13,
                                   .doc = "x broadcast against a shape",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Tile {
  static constexpr OpInfo kInfo = {.name = "onnx.Tile",
                                   .operands = {"x", "repeats"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "Tile",
                                   .since = 13,
                                   .doc = "x repeated along each dimension",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };
constexpr std::array<std::string_view, 4> EnumNames(PadMode) {
  return {"constant", "reflect", "edge", "wrap"};
}

// pads: all begins, then all ends, one of each per dimension, or per entry of axes; negative ones
// crop.
struct Pad {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Pad",
      .operands = {"data", "pads", Optional("constant_value"), Optional("axes")},
      .onnx = "Pad",
      .since = 25,
      .doc = "adds a border",
      .data = OverOperands(0, 2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<PadMode> mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"mode", &Attrs::mode, PadMode::kConstant});
    }
  };
  static bool Infer(InferContext& c);
};

enum class ScatterReduction : uint8_t { kNone, kAdd, kMul, kMax, kMin };
constexpr std::array<std::string_view, 5> EnumNames(ScatterReduction) {
  return {"none", "add", "mul", "max", "min"};
}

// The last dimension of indices counts the leading dimensions of data that an index names; updates
// is [indices without its last dimension, what data has left].
struct ScatterND {
  static constexpr OpInfo kInfo = {.name = "onnx.ScatterND",
                                   .operands = {"data", "indices", "updates"},
                                   .traits = kPure | kTypeGeneric,
                                   .onnx = "ScatterND",
                                   .since = 18,
                                   .doc = "data with updates written, or applied, at some indices",
                                   .inplace = OverOperands(0),
                                   .data = OverOperands(0, 2)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<ScatterReduction> reduction{};
    static constexpr auto Fields() {
      return std::tuple(Field{"reduction", &Attrs::reduction, ScatterReduction::kNone});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadMovementOps(IrContext& context);

}  // namespace weft::ir::ops
