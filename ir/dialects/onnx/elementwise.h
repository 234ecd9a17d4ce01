// Elementwise operators: operands broadcast against each other as in numpy, and result element i
// depends on the operands' elements i only.
#pragma once

#include "ir/dialects/onnx/infer/op_base.h"
#include "ir/element/low_precision.h"

namespace weft::ir::ops {

// --- one operand --------------------------------------------------------------

struct Abs : UnaryNumberOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Abs", 13, "the absolute value", kTypeGeneric | kRankGeneric);
};
struct Neg : UnaryNumberOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Neg", 13, "minus x");
};
struct Exp : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Exp", 13, "e to the power x");
};
struct Log : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Log", 13, "the natural logarithm");
};
struct Sqrt : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Sqrt", 13, "the square root");
};
struct Reciprocal : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Reciprocal", 13, "1 / x");
};
struct Erf : UnaryNumberOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Erf", 13, "the error function");
};
struct Relu : UnaryNumberOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Relu", 14, "max(x, 0)", kTypeGeneric | kRankGeneric | kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Sigmoid : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Sigmoid", 13, "1 / (1 + exp(-x))", kTypeGeneric);
};
struct Tanh : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Tanh", 13, "the hyperbolic tangent", kTypeGeneric | kRankGeneric);
};
struct HardSwish : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.HardSwish", 22, "x * max(0, min(1, x / 6 + 0.5))", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Not : LogicalOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Not", 1, "logical not");
};
struct Identity : UnaryOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Identity", 25, "x itself, of any type", kView);
};
struct HardSigmoid {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.HardSigmoid", 22, "max(0, min(1, alpha * x + beta))", kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<float> beta{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 0.2f}, Field{"beta", &Attrs::beta, 0.5f});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct LeakyRelu {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.LeakyRelu", 16, "x where x >= 0, else alpha * x",
                                            kTypeGeneric | kRankGeneric | kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    static constexpr auto Fields() { return std::tuple(Field{"alpha", &Attrs::alpha, 0.01f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
// The kernels of this one and of Selu have more digits than f32 before they subtract.
struct Elu {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Elu", 22, "x where x >= 0, else alpha * (exp(x) - 1)", kOwnLoop | kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    static constexpr auto Fields() { return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Selu {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Selu", 22, "gamma * x where x > 0, else gamma * alpha * (exp(x) - 1)",
                kOwnLoop | kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<float> gamma{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1.67326319217681884765625f},
                        Field{"gamma", &Attrs::gamma, 1.05070102214813232421875f});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
// saturate and round_mode concern 8-bit floats only; absent, they are 1 and up.
struct Cast {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Cast", 25, "x converted to another element type");
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> to{};
    Slot<std::optional<int64_t>> saturate{};
    Slot<std::optional<ScaleRounding>> round_mode{};
    static constexpr auto Fields() {
      return std::tuple(Field{"to", &Attrs::to}, Field{"saturate", &Attrs::saturate},
                        Field{"round_mode", &Attrs::round_mode});
    }
  };
  static bool Infer(InferContext& c);
};

// --- two operands and more ------------------------------------------------------

struct Add : BinaryNumberOp {
  static constexpr OpInfo kInfo =
      BinaryInfo("onnx.Add", 14, "x + y", kCommutative | kTypeGeneric | kRankGeneric);
};
struct Sub : BinaryNumberOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Sub", 14, "x - y", kTypeGeneric | kRankGeneric);
};
struct Mul : BinaryNumberOp {
  static constexpr OpInfo kInfo =
      BinaryInfo("onnx.Mul", 14, "x * y", kCommutative | kTypeGeneric | kRankGeneric);
};
struct Div : BinaryNumberOp {
  static constexpr OpInfo kInfo =
      BinaryInfo("onnx.Div", 14, "x / y; integers are truncated", kTypeGeneric | kRankGeneric);
};
// x to the power y; the result has the element type of x, whatever y's is.
struct Pow {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Pow", 15, "x to the power y");
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
struct And : LogicalOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.And", 7, "logical and", kCommutative);
};
struct Or : LogicalOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Or", 7, "logical or", kCommutative);
};
struct Xor : LogicalOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Xor", 7, "logical exclusive or", kCommutative);
};
struct Equal : EqualityOp {
  static constexpr OpInfo kInfo =
      BinaryInfo("onnx.Equal", 19, "x == y, as bool", kCommutative | kTypeGeneric);
};
struct Greater : ComparisonOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Greater", 13, "x > y, as bool");
};
struct Less : ComparisonOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Less", 13, "x < y, as bool", kTypeGeneric);
};
struct GreaterOrEqual : ComparisonOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.GreaterOrEqual", 16, "x >= y, as bool", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct LessOrEqual : ComparisonOp {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.LessOrEqual", 16, "x <= y, as bool", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Min : BinaryNumberOp {
  static constexpr OpInfo kInfo = VariadicInfo("onnx.Min", 13, "the smallest of the operands");
};
struct Max : BinaryNumberOp {
  static constexpr OpInfo kInfo = VariadicInfo("onnx.Max", 13, "the largest of the operands");
};
struct Sum : BinaryNumberOp {
  static constexpr OpInfo kInfo = VariadicInfo("onnx.Sum", 13, "the sum of the operands");
};
struct Where {
  static constexpr OpInfo kInfo = {.name = "onnx.Where",
                                   .operands = {"condition", "x", "y"},
                                   .traits = kPure | kElementwise | kTypeGeneric,
                                   .onnx = "Where",
                                   .since = 16,
                                   .doc = "x where the condition holds, else y",
                                   .data = OverOperands(1, 2)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};
// min and max are scalars.
struct Clip {
  static constexpr OpInfo kInfo = {.name = "onnx.Clip",
                                   .operands = {"x", Optional("min"), Optional("max")},
                                   .traits = kPure | kElementwise | kAtomic,
                                   .onnx = "Clip",
                                   .since = 13,
                                   .doc = "min(max(x, min), max)"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
// At inference, and with training_mode absent or false, the identity; mask is then all true.
struct Dropout {
  static constexpr OpInfo kInfo = {
      .name = "onnx.Dropout",
      .operands = {"data", Optional("ratio"), Optional("training_mode")},
      .results = {"out", Optional("mask")},
      .traits = kPure | kView | kRandom,
      .onnx = "Dropout",
      .since = 22,
      .doc = "zeroes random elements and scales the rest when training; else the identity",
      .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<int64_t>> seed{};
    static constexpr auto Fields() { return std::tuple(Field{"seed", &Attrs::seed}); }
  };
  static bool Infer(InferContext& c);
};

void LoadElementwiseOps(IrContext& context);

}  // namespace weft::ir::ops
