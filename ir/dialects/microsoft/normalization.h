// Layer normalisation as ONNX Runtime has it: of a sum, or by the root mean square.
#pragma once

#include "ir/dialects/microsoft/op_info.h"

namespace weft::ir::microsoft {

// Of the domain ai.onnx, which does not know it: x / sqrt(mean(x^2) + epsilon) * scale over
// dimensions axis..rank-1.
struct SimplifiedLayerNormalization {
  static constexpr OpInfo kInfo = {.name = "onnx.SimplifiedLayerNormalization",
                                   .operands = {"x", "scale"},
                                   .results = {"out", Optional("inv_std_var")},
                                   .onnx = "SimplifiedLayerNormalization",
                                   .doc = "divides by the root mean square of the last dimensions"};
  template <template <class> class Slot>
  struct Attrs {
    Slot<int64_t> axis{};
    Slot<float> epsilon{};
    Slot<int64_t> stash_type{};
    static constexpr auto Fields() {
      return std::tuple(Field{"axis", &Attrs::axis, int64_t{-1}},
                        Field{"epsilon", &Attrs::epsilon, 1e-5f},
                        Field{"stash_type", &Attrs::stash_type, int64_t{1}});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// The two below normalise x + skip + bias over the last dimension, which is the only one of gamma,
// beta and bias; skip broadcasts to x. The last result is that sum.
struct SkipNormalizationOp {
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    static constexpr auto Fields() { return std::tuple(Field{"epsilon", &Attrs::epsilon, 1e-12f}); }
  };
  static bool Infer(InferContext& c);
};
struct SkipLayerNormalization : SkipNormalizationOp {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.SkipLayerNormalization",
      .operands = {"x", "skip", "gamma", Optional("beta"), Optional("bias")},
      .results = {"out", Optional("mean"), Optional("inv_std_var"), Optional("sum")},
      .onnx = "SkipLayerNormalization",
      .onnx_domain = kDomain,
      .doc = "layer normalisation of a sum"};
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};
struct SkipSimplifiedLayerNormalization : SkipNormalizationOp {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.SkipSimplifiedLayerNormalization",
      .operands = {"x", "skip", "gamma", Optional("bias")},
      .results = {"out", Optional("mean"), Optional("inv_std_var"), Optional("sum")},
      .onnx = "SkipSimplifiedLayerNormalization",
      .onnx_domain = kDomain,
      .doc = "a sum divided by its root mean square"};
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

// Layer normalisation of the sum of the embeddings of words, positions and segments, over [B, S,
// columns]. mask_index counts the ones in each row of the mask; ONNX Runtime refuses a node without it.
struct EmbedLayerNormalization {
  static constexpr OpInfo kInfo = {
      .name = "com.microsoft.EmbedLayerNormalization",
      .operands = {"input_ids", Optional("segment_ids"), "word_embedding", "position_embedding",
                   Optional("segment_embedding"), "gamma", "beta", Optional("mask"),
                   Optional("position_ids")},
      .results = {"out", "mask_index", Optional("embedding_sum")},
      .onnx = "EmbedLayerNormalization",
      .onnx_domain = kDomain,
      .doc = "the embedding layer of BERT",
      .data = OverOperands(2, 3, 4, 5, 6)};
  template <template <class> class Slot>
  struct Attrs {
    Slot<float> epsilon{};
    Slot<std::optional<int64_t>> mask_index_type{};
    static constexpr auto Fields() {
      return std::tuple(Field{"epsilon", &Attrs::epsilon, 1e-12f},
                        Field{"mask_index_type", &Attrs::mask_index_type});
    }
  };
  static bool Infer(InferContext& c);
  static std::vector<Value> Decompose(Builder& b, std::span<const Value> operands,
                                      const Attrs<Plain>& attrs, size_t num_results);
};

void LoadNormalizationOps(IrContext& context);

}  // namespace weft::ir::microsoft
