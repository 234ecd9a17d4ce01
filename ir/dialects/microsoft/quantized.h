// Operators of quantised numbers (ir/dialects/onnx/quantize.h) of 8 bits. Each number comes as three
// operands: the integers, the f32 scale, the zero point, which has the type of the integers and is 0
// when it is not given.
#pragma once

#include "ir/dialects/microsoft/op_info.h"

namespace weft::ir::microsoft {

// All of one type, each with one scale and one zero point.
struct QLinearBinaryOp {
  static constexpr OpInfo Info(std::string_view name, std::string_view doc) {
    return {.name = name,
            .operands = {"a", "a_scale", Optional("a_zero_point"), "b", "b_scale",
                         Optional("b_zero_point"), "y_scale", Optional("y_zero_point")},
            .onnx = TypeOf(name),
            .onnx_domain = kDomain,
            .doc = doc};
  }
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

// Broadcasts as onnx.Add does.
struct QLinearAdd : QLinearBinaryOp {
  static constexpr OpInfo kInfo =
      Info("com.microsoft.QLinearAdd", "a sum of quantised numbers, quantised");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct QLinearMul : QLinearBinaryOp {
  static constexpr OpInfo kInfo =
      Info("com.microsoft.QLinearMul", "a product of quantised numbers, quantised");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// The scale and the zero point of b may have one element per column of the product. c is i32, in units
// of alpha * a_scale * b_scale. The result is f32 when y_scale and y_zero_point are not given, else
// has the type of y_zero_point.
struct QGemm {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.QGemm",
      .operands = {"a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", Optional("c"),
                   Optional("y_scale"), Optional("y_zero_point")},
      .onnx = "QGemm",
      .onnx_domain = kDomain,
      .doc = "alpha * a . b + c, for matrices of quantised numbers"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<int64_t> transA{};
    Slot<int64_t> transB{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f},
                        Field{"transA", &Attrs::transA, int64_t{0}},
                        Field{"transB", &Attrs::transB, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// b [..., K, N] has one scale and one zero point, or one per column of it; bias is f32 [N].
struct MatMulIntegerToFloat {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.MatMulIntegerToFloat",
      .operands = {"a", "b", "a_scale", "b_scale", Optional("a_zero_point"),
                   Optional("b_zero_point"), Optional("bias")},
      .onnx = "MatMulIntegerToFloat",
      .onnx_domain = kDomain,
      .doc = "a matrix product of quantised numbers, in f32, + bias"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// The same where a is f32.
struct DynamicQuantizeMatMul {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.DynamicQuantizeMatMul",
      .operands = {"a", "b", "b_scale", Optional("b_zero_point"), Optional("bias")},
      .onnx = "DynamicQuantizeMatMul",
      .onnx_domain = kDomain,
      .doc =
          "a matrix product of a, quantised as onnx.DynamicQuantizeLinear does, with quantised "
          "numbers b, in f32, "
          "+ bias"};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// The channels are dimension 1 or, with channels_last, the last one.
struct QLinearGlobalAveragePool {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.QLinearGlobalAveragePool",
      .operands = {"x", "x_scale", Optional("x_zero_point"), "y_scale", Optional("y_zero_point")},
      .onnx = "QLinearGlobalAveragePool",
      .onnx_domain = kDomain,
      .doc = "the mean of quantised numbers over all spatial dimensions, kept as 1"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> channels_last{};
    static constexpr auto Fields() {
      return std::tuple(Field{"channels_last", &Attrs::channels_last, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// For each of the numbers three operands.
struct QLinearConcat {
  static constexpr OpInfo kInfo = {.name = "com.microsoft.QLinearConcat",
                                   .operands = {"y_scale", "y_zero_point", Variadic("inputs")},
                                   .onnx = "QLinearConcat",
                                   .onnx_domain = kDomain,
                                   .doc = "joins quantised numbers along an axis, quantised"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    static constexpr auto Fields() { return std::tuple(Field{"axis", &Attrs::axis}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadQuantizedOps(IrContext& context);

}  // namespace weft::ir::microsoft
