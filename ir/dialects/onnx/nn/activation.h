// Activations beyond those of elementwise.h. All but PRelu have one operand.
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

struct Softplus : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Softplus", 22, "log(1 + exp(x))", kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Softsign : UnaryFloatOp {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Softsign", 22, "x / (1 + |x|)", kOwnLoop | kAtomic);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Mish : UnaryFloatOp {
  static constexpr OpInfo kInfo = UnaryInfo("onnx.Mish", 22, "x * tanh(log(1 + exp(x)))");
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Celu {
  static constexpr OpInfo kInfo = UnaryInfo(
      "onnx.Celu", 12, "max(0, x) + min(0, alpha * (exp(x / alpha) - 1))", kOwnLoop | kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    static constexpr auto Fields() { return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct ThresholdedRelu {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.ThresholdedRelu", 22, "x where x > alpha, else 0", kOwnLoop | kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    static constexpr auto Fields() { return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
struct Swish {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Swish", 24, "x / (1 + exp(-alpha * x))", kOwnLoop);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    static constexpr auto Fields() { return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};
// Integers are shrunk as the floats they are equal to, and truncated.
struct Shrink {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Shrink", 9, "x + bias where x < -lambd, x - bias where x > lambd, else 0",
                kOwnLoop | kAtomic);
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> bias{};
    Slot<float> lambd{};
    static constexpr auto Fields() {
      return std::tuple(Field{"bias", &Attrs::bias, 0.0f}, Field{"lambd", &Attrs::lambd, 0.5f});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

enum class GeluApproximation : uint8_t { kNone, kTanh };
constexpr std::array<std::string_view, 2> EnumNames(GeluApproximation) { return {"none", "tanh"}; }

// Exactly 0.5 x (1 + erf(x / sqrt(2))); with approximate = tanh
// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
struct Gelu {
  static constexpr OpInfo kInfo =
      UnaryInfo("onnx.Gelu", 20, "the Gaussian error linear unit", kOwnLoop);
  template <template <class> class Slot>
  struct Attrs {
    Slot<GeluApproximation> approximate{};
    static constexpr auto Fields() {
      return std::tuple(Field{"approximate", &Attrs::approximate, GeluApproximation::kNone});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// slope broadcasts to x.
struct PRelu : PlainOp {
  static constexpr OpInfo kInfo = {.name = "onnx.PRelu",
                                   .operands = {"x", "slope"},
                                   .traits = kPure | kElementwise | kOwnLoop | kAtomic,
                                   .onnx = "PRelu",
                                   .since = 16,
                                   .doc = "x where x >= 0, else slope * x"};
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadActivationOps(IrContext& context);

}  // namespace weft::ir::ops
