// fused.masked_softmax, fused.layer_norm, fused.rms_norm and fused.group_norm.
#pragma once

#include "ir/dialects/fused/activation.h"
#include "ir/op_def.h"

namespace weft::ir::fused {

// softmax(x + mask) over the last dimension. mask broadcasts to x.
struct MaskedSoftmax {
  static constexpr OpInfo kInfo = {.name = "fused.masked_softmax",
                                   .operands = {"x", "mask"},
                                   .doc = "softmax of scores to which a mask is added first",
                                   .inplace = OverOperands(0)};
  template <template <class> class Slot>
  using Attrs = NoAttrs<Slot>;
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

// LN(x + residual + x_bias) * scale + bias, over dimensions axis..rank-1; scale, bias and x_bias have
// these dimensions, residual is like x. LN(x) is (x - mean) / sqrt(variance + epsilon). `sum`, only
// where a residual is given, is what is normalised.
struct LayerNorm {
  static constexpr OpInfo kInfo = {
      .name = "fused.layer_norm",
      .operands = {"x", "scale", Optional("bias"), Optional("residual"), Optional("x_bias")},
      .results = {"out", Optional("sum")},
      .doc = "layer normalisation, with a residual and a bias added first",
      .inplace = OverOperands(0, 3)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<float> epsilon{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"epsilon", &Attrs::epsilon});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// v / sqrt(mean(v^2) + epsilon) * scale, where v = x + residual, over the last dimension, which is the
// only one of scale. `sum` is v, likewise.
struct RmsNorm {
  static constexpr OpInfo kInfo = {
      .name = "fused.rms_norm",
      .operands = {"x", "scale", Optional("residual")},
      .results = {"out", Optional("sum")},
      .doc = "root mean square normalisation, with a residual added first"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    static constexpr auto Fields() { return std::tuple(Field{"epsilon", &Attrs::epsilon}); }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// activation(GN(x) * scale + bias): x [N, C, ...] whose channels are `groups` runs of C / groups.
// GN(x) is (x - mean) / sqrt(variance + epsilon) over each run, with all further dimensions. scale
// and bias are [C, 1, ...], so that they broadcast to x. Only activations without parameters. With channels_last
// x is [N, ..., C], and scale and bias are [C].
struct GroupNorm {
  static constexpr OpInfo kInfo = {.name = "fused.group_norm",
                                   .operands = {"x", "scale", Optional("bias")},
                                   .doc = "group normalisation with an activation"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> groups{};
    Slot<float> epsilon{};
    Slot<Activation> activation{};
    Slot<bool> channels_last{};
    static constexpr auto Fields() {
      return std::tuple(Field{"groups", &Attrs::groups}, Field{"epsilon", &Attrs::epsilon},
                        Field{"activation", &Attrs::activation, Activation::kNone},
                        Field{"channels_last", &Attrs::channels_last, false});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs);
};

}  // namespace weft::ir::fused
