// Mathematical functions: trigonometry, rounding, remainders, bits, conversions by example or of
// bits, running sums and products, and linear algebra.
#pragma once

#include <array>
#include <string>

#include "ir/dialects/onnx/infer/op_base.h"
#include "ir/element/low_precision.h"

namespace weft::ir::ops {

// --- one operand, elementwise ---------------------------------------------------

struct Acos : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Acos", 22, "the arc cosine", kOwnLoop);
};
struct Acosh : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Acosh", 22, "the inverse hyperbolic cosine", kOwnLoop);
};
struct Asin : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Asin", 22, "the arc sine", kOwnLoop);
};
struct Asinh : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Asinh", 22, "the inverse hyperbolic sine", kOwnLoop);
};
struct Atan : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Atan", 22, "the arc tangent", kOwnLoop);
};
struct Atanh : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Atanh", 22, "the inverse hyperbolic tangent", kOwnLoop);
};
struct Cos : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Cos", 22, "the cosine", kOwnLoop);
};
struct Cosh : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Cosh", 22, "the hyperbolic cosine", kOwnLoop);
};
struct Sin : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Sin", 22, "the sine", kOwnLoop);
};
struct Sinh : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Sinh", 22, "the hyperbolic sine", kOwnLoop);
};
struct Tan : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Tan", 22, "the tangent", kOwnLoop);
};
struct Ceil : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Ceil", 13, "the smallest integer not below x", kOwnLoop);
};
struct Floor : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Floor", 13, "the largest integer not above x", kOwnLoop);
};
struct Round : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Round", 22, "the nearest integer, of two the even one", kOwnLoop);
};
struct Sign : UnaryNumberOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Sign", 13, "-1, 0 or 1; NaN of NaN", kOwnLoop);
};
struct BitwiseNot : PlainOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.BitwiseNot", 18, "every bit inverted", kOwnLoop);
  static bool Infer(InferContext& c);
};
struct IsNaN : PlainOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.IsNaN", 20, "whether x is NaN, as bool", kOwnLoop);
  static bool Infer(InferContext& c);
};
struct IsInf {
  static constexpr OpInfo kInfo = UnaryInfo(
      "onnx.IsInf", 20, "whether x is an infinity of the signs asked for, as bool", kOwnLoop);
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> detect_negative{};
    Slot<int64_t> detect_positive{};
    static constexpr auto Fields() {
      return std::tuple(Field{"detect_negative", &Attrs::detect_negative, int64_t{1}},
                        Field{"detect_positive", &Attrs::detect_positive, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
};

// --- two operands and more, elementwise -------------------------------------------

// With fmod = 0 integers only, and the result has the sign of y; else that of x, as fmod() in C.
struct Mod {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.Mod", 13, "the remainder of x / y", kOwnLoop);
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> fmod{};
    static constexpr auto Fields() { return std::tuple(Field{"fmod", &Attrs::fmod, int64_t{0}}); }
  };
  static bool Infer(InferContext& c);
};
struct Mean : PlainOp {
  static constexpr OpInfo kInfo =
      VariadicInfo("onnx.Mean", 13, "the mean of the operands", kOwnLoop);
  static bool Infer(InferContext& c);
};
struct BitwiseAnd : PlainOp {
  static constexpr OpInfo kInfo =
      BinaryInfo("onnx.BitwiseAnd", 18, "and of every pair of bits", kCommutative | kOwnLoop);
  static bool Infer(InferContext& c);
};
struct BitwiseOr : PlainOp {
  static constexpr OpInfo kInfo =
      BinaryInfo("onnx.BitwiseOr", 18, "or of every pair of bits", kCommutative | kOwnLoop);
  static bool Infer(InferContext& c);
};
struct BitwiseXor : PlainOp {
  static constexpr OpInfo kInfo = BinaryInfo(
      "onnx.BitwiseXor", 18, "exclusive or of every pair of bits", kCommutative | kOwnLoop);
  static bool Infer(InferContext& c);
};

enum class ShiftDirection : uint8_t { kLeft, kRight };
constexpr std::array<std::string_view, 2> EnumNames(ShiftDirection) { return {"LEFT", "RIGHT"}; }

// Of unsigned integers; nothing is left of x when y is its width or more.
struct BitShift {
  static constexpr OpInfo kInfo = BinaryInfo("onnx.BitShift", 11, "x shifted by y bits", kOwnLoop);
  template <template <class> class Slot>
  struct Attrs {
    Slot<ShiftDirection> direction{};
    static constexpr auto Fields() { return std::tuple(Field{"direction", &Attrs::direction}); }
  };
  static bool Infer(InferContext& c);
};

// --- conversions ------------------------------------------------------------------

// saturate and round_mode concern 8-bit floats only, as Cast's do.
struct CastLike {
  static constexpr OpInfo kInfo = {.name = "onnx.CastLike",
                                   .operands = {"x", "target_type"},
                                   .onnx = "CastLike",
                                   .since = 25,
                                   .doc = "x converted to the element type of another tensor",
                                   .data = OverOperands(0)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<ScaleRounding> round_mode{};
    Slot<int64_t> saturate{};
    static constexpr auto Fields() {
      return std::tuple(Field{"round_mode", &Attrs::round_mode, ScaleRounding::kUp},
                        Field{"saturate", &Attrs::saturate, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
  // Empty where the type is not known.
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct BitCast {
  static constexpr OpInfo kInfo = {.name = "onnx.BitCast",
                                   .operands = {"x"},
                                   .onnx = "BitCast",
                                   .since = 26,
                                   .doc = "the bits of x read as another type of the same size"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<DataType> to{};
    static constexpr auto Fields() { return std::tuple(Field{"to", &Attrs::to}); }
  };
  static bool Infer(InferContext& c);
};

// --- along axes -------------------------------------------------------------------

// Element i holds elements 0..i of x; exclusive: 0..i-1; reverse: from the end. axis is a scalar.
struct CumulativeOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> exclusive{};
    Slot<int64_t> reverse{};
    static constexpr auto Fields() {
      return std::tuple(Field{"exclusive", &Attrs::exclusive, int64_t{0}},
                        Field{"reverse", &Attrs::reverse, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};
struct CumSum : CumulativeOp {
  static constexpr OpInfo kInfo = {.name = "onnx.CumSum",
                                   .operands = {"x", "axis"},
                                   .onnx = "CumSum",
                                   .since = 14,
                                   .doc = "the running sum along an axis",
                                   .data = OverOperands(0)};
};
struct CumProd : CumulativeOp {
  static constexpr OpInfo kInfo = {.name = "onnx.CumProd",
                                   .operands = {"x", "axis"},
                                   .onnx = "CumProd",
                                   .since = 26,
                                   .doc = "the running product along an axis",
                                   .data = OverOperands(0)};
};

// The equation is read by ir/dialects/onnx/infer/einsum.h.
struct Einsum {
  static constexpr OpInfo kInfo = {.name = "onnx.Einsum",
                                   .operands = {Variadic("inputs")},
                                   .onnx = "Einsum",
                                   .since = 12,
                                   .doc = "sums of products in Einstein's notation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::string> equation{};
    static constexpr auto Fields() { return std::tuple(Field{"equation", &Attrs::equation}); }
  };
  static bool Infer(InferContext& c);
};
struct Det : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.Det",
                                   .operands = {"x"},
                                   .onnx = "Det",
                                   .since = 22,
                                   .doc = "the determinant of square matrices"};
  static bool Infer(InferContext& c);
};

void LoadMathOps(IrContext& context);

}  // namespace weft::ir::ops
