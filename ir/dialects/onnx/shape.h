// Operators that change or make shapes and move no data, or make data from a shape.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

// In `shape` one -1 is computed, and 0 copies the dimension of data unless allowzero is 1.
struct Reshape {
  static constexpr OpInfo kInfo = {.name = "onnx.Reshape",
                                   .operands = {"data", "shape"},
                                   .traits = kPure | kView | kTypeGeneric,
                                   .onnx = "Reshape",
                                   .since = 25,
                                   .doc = "the same elements in another shape",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> allowzero{};
    static constexpr auto Fields() {
      return std::tuple(Field{"allowzero", &Attrs::allowzero, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

struct Flatten {
  static constexpr OpInfo kInfo = {.name = "onnx.Flatten",
                                   .operands = {"x"},
                                   .traits = kPure | kView | kAxisOfOperand,
                                   .onnx = "Flatten",
                                   .since = 25,
                                   .doc = "a matrix: dimensions before axis by the others"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{1}}); }
  };
  static bool Infer(InferContext& c);
};

struct Squeeze {
  static constexpr OpInfo kInfo = {.name = "onnx.Squeeze",
                                   .operands = {"data", Optional("axes")},
                                   .traits = kPure | kView | kTypeGeneric,
                                   .onnx = "Squeeze",
                                   .since = 25,
                                   .doc = "removes dimensions of size 1 (all, without axes)",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Unsqueeze {
  static constexpr OpInfo kInfo = {.name = "onnx.Unsqueeze",
                                   .operands = {"data", "axes"},
                                   .traits = kPure | kView | kTypeGeneric,
                                   .onnx = "Unsqueeze",
                                   .since = 25,
                                   .doc = "inserts dimensions of size 1",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// Dimensions start..end-1 of data, as i64.
struct Shape {
  static constexpr OpInfo kInfo = {.name = "onnx.Shape",
                                   .operands = {"data"},
                                   .traits = kPure | kReadsShapesOnly,
                                   .onnx = "Shape",
                                   .since = 25,
                                   .doc = "the dimensions of a tensor"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> end{};
    Slot<int64_t> start{};
    static constexpr auto Fields() {
      return std::tuple(Field{"end", &Attrs::end}, Field{"start", &Attrs::start, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// value is a dense tensor of one element; absent it is f32 zero.
struct ConstantOfShape {
  static constexpr OpInfo kInfo = {.name = "onnx.ConstantOfShape",
                                   .operands = {"shape"},
                                   .onnx = "ConstantOfShape",
                                   .since = 25,
                                   .doc = "a tensor of a given shape, all elements alike",
                                   .data = 0};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Attribute>> value{};
    static constexpr auto Fields() { return std::tuple(Field{"value", &Attrs::value}); }
  };
  static bool Infer(InferContext& c);
};

void LoadShapeOps(IrContext& context);

}  // namespace weft::ir::ops
