// Recurrent layers. x is [T, B, input], or [B, T, input] for layout 1; each direction has its own
// slice of the weights: w [directions, gates * hidden, input], r [directions, gates * hidden, hidden],
// b [directions, 2 * gates * hidden], that of w before that of r. The initial states and the last ones
// are [directions, B, hidden], y is [T, directions, B, hidden]; for layout 1 B comes first in all.
// Sequences may be shorter than T; what y has after their end is 0.
#pragma once

#include <array>

#include "ir/dialects/onnx/infer/op_base.h"

namespace weft::ir::ops {

enum class RecurrentDirection : uint8_t { kForward, kReverse, kBidirectional };
constexpr std::array<std::string_view, 3> EnumNames(RecurrentDirection) {
  return {"forward", "reverse", "bidirectional"};
}

// Activation functions, by the names that `activations` has. They take the next entry of
// activation_alpha and activation_beta if they have such a parameter.
enum class GateActivation : uint8_t {
  kRelu,
  kTanh,
  kSigmoid,
  kAffine,
  kLeakyRelu,
  kThresholdedRelu,
  kScaledTanh,
  kHardSigmoid,
  kElu,
  kSoftsign,
  kSoftplus,
};
constexpr std::array<std::string_view, 11> EnumNames(GateActivation) {
  return {"Relu",       "Tanh",        "Sigmoid", "Affine",   "LeakyRelu", "ThresholdedRelu",
          "ScaledTanh", "HardSigmoid", "Elu",     "Softsign", "Softplus"};
}

// h = f(x . w^T + h . r^T + b)
struct RNN {
  static constexpr OpInfo kInfo = {
      .name = "onnx.RNN",
      .operands = {"x", "w", "r", Optional("b"), Optional("sequence_lens"), Optional("initial_h")},
      .results = {Optional("y"), Optional("y_h")},
      .onnx = "RNN",
      .since = 22,
      .doc = "a layer of recurrent neurons"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Floats>> activation_alpha{};
    Slot<std::optional<Floats>> activation_beta{};
    Slot<std::optional<Strings>> activations{};
    Slot<std::optional<float>> clip{};
    Slot<RecurrentDirection> direction{};
    Slot<std::optional<int64_t>> hidden_size{};
    Slot<int64_t> layout{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation_alpha", &Attrs::activation_alpha},
                        Field{"activation_beta", &Attrs::activation_beta},
                        Field{"activations", &Attrs::activations}, Field{"clip", &Attrs::clip},
                        Field{"direction", &Attrs::direction, RecurrentDirection::kForward},
                        Field{"hidden_size", &Attrs::hidden_size},
                        Field{"layout", &Attrs::layout, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// Gates z, r, h in this order: h' = (1 - z) h~ + z h, where h~ = g(x . wh^T + (r * h) . rh^T + b), or
// with linear_before_reset g(x . wh^T + r * (h . rh^T + rb) + wb).
struct GRU {
  static constexpr OpInfo kInfo = {
      .name = "onnx.GRU",
      .operands = {"x", "w", "r", Optional("b"), Optional("sequence_lens"), Optional("initial_h")},
      .results = {Optional("y"), Optional("y_h")},
      .onnx = "GRU",
      .since = 22,
      .doc = "a layer of gated recurrent units"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Floats>> activation_alpha{};
    Slot<std::optional<Floats>> activation_beta{};
    Slot<std::optional<Strings>> activations{};
    Slot<std::optional<float>> clip{};
    Slot<RecurrentDirection> direction{};
    Slot<std::optional<int64_t>> hidden_size{};
    Slot<int64_t> layout{};
    Slot<int64_t> linear_before_reset{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation_alpha", &Attrs::activation_alpha},
                        Field{"activation_beta", &Attrs::activation_beta},
                        Field{"activations", &Attrs::activations}, Field{"clip", &Attrs::clip},
                        Field{"direction", &Attrs::direction, RecurrentDirection::kForward},
                        Field{"hidden_size", &Attrs::hidden_size},
                        Field{"layout", &Attrs::layout, int64_t{0}},
                        Field{"linear_before_reset", &Attrs::linear_before_reset, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

// Gates i, o, f, c in this order: c' = f c + i g(...), h = o h(c'). p [directions, 3 * hidden] has the
// peepholes of i, o, f. With input_forget f is 1 - i.
struct LSTM {
  static constexpr OpInfo kInfo = {
      .name = "onnx.LSTM",
      .operands = {"x", "w", "r", Optional("b"), Optional("sequence_lens"), Optional("initial_h"),
                   Optional("initial_c"), Optional("p")},
      .results = {Optional("y"), Optional("y_h"), Optional("y_c")},
      .onnx = "LSTM",
      .since = 22,
      .doc = "a layer of long short-term memory"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<Floats>> activation_alpha{};
    Slot<std::optional<Floats>> activation_beta{};
    Slot<std::optional<Strings>> activations{};
    Slot<std::optional<float>> clip{};
    Slot<RecurrentDirection> direction{};
    Slot<std::optional<int64_t>> hidden_size{};
    Slot<int64_t> input_forget{};
    Slot<int64_t> layout{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation_alpha", &Attrs::activation_alpha},
                        Field{"activation_beta", &Attrs::activation_beta},
                        Field{"activations", &Attrs::activations}, Field{"clip", &Attrs::clip},
                        Field{"direction", &Attrs::direction, RecurrentDirection::kForward},
                        Field{"hidden_size", &Attrs::hidden_size},
                        Field{"input_forget", &Attrs::input_forget, int64_t{0}},
                        Field{"layout", &Attrs::layout, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
};

void LoadRecurrentOps(IrContext& context);

}  // namespace weft::ir::ops
