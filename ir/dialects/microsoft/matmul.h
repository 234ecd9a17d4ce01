// Matrix products and convolution with what follows them, and products with weights of few bits.
#pragma once

#include <array>

#include "ir/dialects/attr_defaults.h"
#include "ir/dialects/microsoft/op_info.h"
#include "ir/dialects/onnx/infer/auto_pad.h"

namespace weft::ir::microsoft {

// alpha * a' . b': transBatchA puts the first dimension of a before its last one, transA then
// exchanges the last two; b' likewise.
struct FusedMatMul {
  static constexpr OpInfo kInfo = {.name = "com.microsoft.FusedMatMul",
                                   .operands = {"a", "b"},
                                   .onnx = "FusedMatMul",
                                   .onnx_domain = kDomain,
                                   .doc = "a matrix product of transposed operands, scaled"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> alpha{};
    Slot<int64_t> transA{};
    Slot<int64_t> transB{};
    Slot<int64_t> transBatchA{};
    Slot<int64_t> transBatchB{};
    static constexpr auto Fields() {
      return std::tuple(Field{"alpha", &Attrs::alpha, 1.0f},
                        Field{"transA", &Attrs::transA, int64_t{0}},
                        Field{"transB", &Attrs::transB, int64_t{0}},
                        Field{"transBatchA", &Attrs::transBatchA, int64_t{0}},
                        Field{"transBatchB", &Attrs::transBatchB, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

enum class ConvActivation : uint8_t {
  kRelu,
  kSigmoid,
  kTanh,
  kLeakyRelu,
  kClip,
  kHardSigmoid,
};
constexpr std::array<std::string_view, 6> EnumNames(ConvActivation) {
  return {"Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid"};
}

// activation(conv(x, w) + b + z). The parameters are those of the activation: alpha; the limits;
// alpha and beta.
struct FusedConv {
  static constexpr OpInfo kInfo = {.name = "com.microsoft.FusedConv",
                                   .operands = {"x", "w", Optional("b"), Optional("z")},
                                   .onnx = "FusedConv",
                                   .onnx_domain = kDomain,
                                   .doc = "a convolution with a sum and an activation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<ConvActivation>> activation{};
    Slot<std::optional<Floats>> activation_params{};
    Slot<ops::AutoPad> auto_pad{};
    Slot<std::optional<Ints>> dilations{};
    Slot<int64_t> group{};
    Slot<std::optional<Ints>> kernel_shape{};
    Slot<std::optional<Ints>> pads{};
    Slot<std::optional<Ints>> strides{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation", &Attrs::activation},
                        Field{"activation_params", &Attrs::activation_params},
                        Field{"auto_pad", &Attrs::auto_pad, ops::AutoPad::kNotSet},
                        Field{"dilations", &Attrs::dilations},
                        Field{"group", &Attrs::group, int64_t{1}},
                        Field{"kernel_shape", &Attrs::kernel_shape}, Field{"pads", &Attrs::pads},
                        Field{"strides", &Attrs::strides});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

enum class GemmActivation : uint8_t {
  kRelu,
  kSigmoid,
  kTanh,
  kSoftplus,
  kSoftsign,
  kLeakyRelu,
  kElu,
  kThresholdedRelu,
  kHardSigmoid,
  kSelu,
};
constexpr std::array<std::string_view, 10> EnumNames(GemmActivation) {
  return {"Relu", "Sigmoid",         "Tanh",        "Softplus", "Softsign", "LeakyRelu",
          "Elu",  "ThresholdedRelu", "HardSigmoid", "Selu"};
}

// activation(alpha * a' . b' + beta * c). The attributes of the activation have activation_ before their names and,
// where they are not given, its defaults.
struct FusedGemm {
  static constexpr OpInfo kInfo = {.name = "com.microsoft.FusedGemm",
                                   .operands = {"a", "b", Optional("c")},
                                   .onnx = "FusedGemm",
                                   .onnx_domain = kDomain,
                                   .doc = "a general matrix product with an activation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<std::optional<GemmActivation>> activation{};
    Slot<std::optional<float>> activation_alpha{};
    Slot<std::optional<float>> activation_beta{};
    Slot<std::optional<float>> activation_gamma{};
    Slot<float> alpha{};
    Slot<float> beta{};
    Slot<int64_t> transA{};
    Slot<int64_t> transB{};
    static constexpr auto Fields() {
      return std::tuple(Field{"activation", &Attrs::activation},
                        Field{"activation_alpha", &Attrs::activation_alpha},
                        Field{"activation_beta", &Attrs::activation_beta},
                        Field{"activation_gamma", &Attrs::activation_gamma},
                        Field{"alpha", &Attrs::alpha, 1.0f}, Field{"beta", &Attrs::beta, 1.0f},
                        Field{"transA", &Attrs::transA, int64_t{0}},
                        Field{"transB", &Attrs::transB, int64_t{0}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// a [..., K] times the transpose of weights [N, K], plus bias [N]. Each row of the weights is blocks
// of block_size numbers (q - zero point) * scale, where q has `bits` bits: b is [N, blocks,
// block_size * bits / 8] bytes, low bits first. scales is [N, blocks], in any shape; zero_points is
// [N, blocks] of the type of a, or as many bits, each row filled up to bytes; half the range unless
// given. g_idx says for each column whose scale and zero point it has, where that is not its block.
struct MatMulNBits {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.MatMulNBits",
      .operands = {"a", "b", "scales", Optional("zero_points"), Optional("g_idx"),
                   Optional("bias")},
      .onnx = "MatMulNBits",
      .onnx_domain = kDomain,
      .doc = "a matrix product with weights of few bits, quantised in blocks"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> K{};
    Slot<int64_t> N{};
    Slot<std::optional<int64_t>> accuracy_level{};
    Slot<int64_t> bits{};
    Slot<int64_t> block_size{};
    Slot<std::optional<int64_t>> weight_prepacked{};
    static constexpr auto Fields() {
      return std::tuple(Field{"K", &Attrs::K}, Field{"N", &Attrs::N},
                        Field{"accuracy_level", &Attrs::accuracy_level},
                        Field{"bits", &Attrs::bits, int64_t{4}},
                        Field{"block_size", &Attrs::block_size},
                        Field{"weight_prepacked", &Attrs::weight_prepacked});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

void LoadMatmulOps(IrContext& context);

}  // namespace weft::ir::microsoft
