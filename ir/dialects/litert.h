// The litert dialect: ops of LiteRT that ONNX says otherwise. Those that ONNX says alike (Add, Mul,
// Softmax, Reshape, Transpose, Concat, Split...) are onnx ops in LiteRT programs too. Every op has a
// reference body in onnx ops, which the pass lower-litert puts in its place.
//
// Values are quantised per tensor: an i8, u8 or i16 element q is the number (q - zero_point) * scale.
// A tensor type holds neither, so the ops that compute with them state both for each operand and for
// the result. Bodies quantise by rounding halves up, and saturate.
#pragma once

#include <optional>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir {

class Builder;

namespace litert {

// Quantised throughout when the scales are given, else of one floating-point type.
struct MatMul {
  static constexpr OpInfo kInfo = {
      .name = "litert.MatMul",
      .operands = {"x", "y"},
      .doc = "matrix product; adj_x and adj_y exchange the last two dimensions of an operand"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<bool> adj_x{};
    Slot<bool> adj_y{};
    Slot<std::optional<float>> out_scale{};
    Slot<int64_t> out_zero_point{};
    Slot<std::optional<float>> x_scale{};
    Slot<int64_t> x_zero_point{};
    Slot<std::optional<float>> y_scale{};
    Slot<int64_t> y_zero_point{};
    static constexpr auto Fields() {
      return std::tuple(Field{"adj_x", &Attrs::adj_x, false}, Field{"adj_y", &Attrs::adj_y, false},
                        Field{"out_scale", &Attrs::out_scale},
                        Field{"out_zero_point", &Attrs::out_zero_point, int64_t{0}},
                        Field{"x_scale", &Attrs::x_scale},
                        Field{"x_zero_point", &Attrs::x_zero_point, int64_t{0}},
                        Field{"y_scale", &Attrs::y_scale},
                        Field{"y_zero_point", &Attrs::y_zero_point, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// A side without a scale is f32: it quantises, dequantises or changes the quantisation.
struct Convert {
  static constexpr OpInfo kInfo = {.name = "litert.Convert",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .doc = "x in another quantisation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<float>> from_scale{};
    Slot<int64_t> from_zero_point{};
    Slot<DataType> to{};
    Slot<std::optional<float>> to_scale{};
    Slot<int64_t> to_zero_point{};
    static constexpr auto Fields() {
      return std::tuple(Field{"from_scale", &Attrs::from_scale},
                        Field{"from_zero_point", &Attrs::from_zero_point, int64_t{0}},
                        Field{"to", &Attrs::to}, Field{"to_scale", &Attrs::to_scale},
                        Field{"to_zero_point", &Attrs::to_zero_point, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

struct NotEqual : ops::EqualityOp {
  static constexpr OpInfo kInfo = {.name = "litert.NotEqual",
                                   .operands = {"x", "y"},
                                   .traits = kPure | kElementwise | kCommutative,
                                   .doc = "x != y, as bool"};
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

struct Select {
  static constexpr OpInfo kInfo = {.name = "litert.Select",
                                   .operands = {"condition", "x", "y"},
                                   .traits = kPure | kElementwise,
                                   .doc = "x where the condition holds, else y; they broadcast"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// One entry per dimension; negative ones count from its end, an end beyond it means all of it.
// Strides are positive. LiteRT's masks are spelled out as begins and ends.
struct StridedSlice {
  static constexpr OpInfo kInfo = {.name = "litert.StridedSlice",
                                   .operands = {"x"},
                                   .doc = "elements begin, begin + stride, ... before end"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<Ints> begin{};
    Slot<Ints> end{};
    Slot<Ints> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"begin", &Attrs::begin}, Field{"end", &Attrs::end},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

struct AxisOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis, int64_t{0}}); }
  };
};

struct Pack : AxisOp {
  static constexpr OpInfo kInfo = {.name = "litert.Pack",
                                   .operands = {Variadic("inputs")},
                                   .doc = "tensors of one shape stacked along a new axis"};
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// As many results as the axis has entries.
struct Unpack : AxisOp {
  static constexpr OpInfo kInfo = {.name = "litert.Unpack",
                                   .operands = {"x"},
                                   .results = {Variadic("outputs")},
                                   .doc = "the entries of an axis, which goes"};
  static bool Infer(InferContext& c);
  // Nothing when the number of entries is not known.
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace litert

void LoadLitertDialect(IrContext& context);

}  // namespace weft::ir
