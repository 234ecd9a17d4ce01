// Gelu and its relatives. A bias is added first.
#pragma once

#include "ir/dialects/microsoft/op_info.h"

namespace weft::ir::microsoft {

constexpr OpInfo GeluInfo(std::string_view name, OperandDef bias, std::string_view doc) {
  return {.name = name,
          .operands = {"x", bias},
          .traits = kPure | kElementwise,
          .onnx = TypeOf(name),
          .onnx_domain = kDomain,
          .doc = doc};
}

struct GeluOp {
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
};

struct Gelu : GeluOp {
  static constexpr OpInfo kInfo = {.name = "com.microsoft.Gelu",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .onnx = "Gelu",
                                   .onnx_domain = kDomain,
                                   .doc = "the Gaussian error linear unit"};
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct BiasGelu : GeluOp {
  static constexpr OpInfo kInfo =
      GeluInfo("com.microsoft.BiasGelu", "bias", "the Gaussian error linear unit of x + bias");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
// By tanh.
struct FastGelu : GeluOp {
  static constexpr OpInfo kInfo =
      GeluInfo("com.microsoft.FastGelu", Optional("bias"), "an approximation of Gelu by tanh");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct QuickGelu {
  static constexpr OpInfo kInfo = {.name = "com.microsoft.QuickGelu",
                                   .operands = {"x"},
                                   .traits = kPure | kElementwise,
                                   .onnx = "QuickGelu",
                                   .onnx_domain = kDomain,
                                   .doc = "x / (1 + exp(-alpha * x))"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    static constexpr auto Fields() { return std::tuple(Field{"alpha", &Attrs::alpha, 1.702f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadActivationOps(IrContext& context);

}  // namespace weft::ir::microsoft
