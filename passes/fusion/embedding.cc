// The embeddings that BERT begins with: rows of tables, summed and normalised.
#include "ir/dialects/fused/embedding.h"

#include "ir/dialects/fused/normalization.h"
#include "ir/dialects/onnx/indexing.h"
#include "passes/rules.h"

namespace weft::passes {
namespace {

// Rows of a table.
Tensor LookUp(SourcePattern& src, const Tensor& table, const Tensor& ids) {
  return src.Op<ops::Gather>({.axis = 0})(table, ids);
}

// As many columns as the words have.
void RequireTable(SourcePattern& src, const Tensor& table, const Tensor& words) {
  src.Require(Rank(IfGiven(table), 2), SameDim(IfGiven(table), 1, words, 1));
}

// layer_norm(words[ids] + segments[segment_ids] + position), of which segments may be absent.
struct Embedding {
  Tensor ids, words, segment_ids, segments, gamma, beta;
  Attr<float> epsilon;
  Tensor out;

  Embedding(SourcePattern& src, const Tensor& words, const Tensor& position)
      : ids(src.Tensor("ids")),
        words(words),
        segment_ids(src.Tensor("segment_ids")),
        segments(src.Tensor("segments")),
        gamma(src.Tensor("gamma")),
        beta(src.Tensor("beta")),
        epsilon(src.Attr<float>("epsilon")),
        out(Normal(src, position)) {}

  Tensor Normal(SourcePattern& src, const Tensor& position) const {
    auto word = LookUp(src, words, ids), segment = LookUp(src, segments, segment_ids);
    auto sum =
        src.EitherOf({word + segment + position, word + position + segment, word + position});
    auto axis = src.Attr<int64_t>("axis");
    auto normal = src.Op<fused::LayerNorm>({.axis = axis, .epsilon = epsilon})(sum, gamma,
                                                                               src.Optional(beta));
    src.Require(DType(words, kF32), Rank(words, 2), SameType(sum, word), SameAxis(sum, axis, -1));
    RequireTable(src, segments, words);
    return normal;
  }
};

}  // namespace

// layer_norm(words[ids] + positions[position_ids] + segments[segment_ids]) => fused.embed_layer_norm
WEFT_RULE(FuseEmbedLayerNorm, "fuse-composite", kReassociates) {
  auto words = src.Tensor("words"), positions = src.Tensor("positions");
  auto position_ids = src.Tensor("position_ids");
  const Embedding e(src, words, LookUp(src, positions, position_ids));
  RequireTable(src, positions, words);
  res.Tensor(e.out) = res.Op<fused::EmbedLayerNorm>({.epsilon = e.epsilon})(
      e.ids, words, positions, e.gamma, e.beta, position_ids, e.segments, e.segment_ids);
}

// layer_norm(words[ids] + positions + segments[segment_ids]) => fused.embed_layer_norm, where positions
// has a row for each of them
WEFT_RULE(FuseEmbedLayerNormOfRows, "fuse-composite", kReassociates) {
  auto words = src.Tensor("words"), positions = src.Tensor("positions");
  const Embedding e(src, words, positions);
  src.Require("positions is [1, S, columns]", Rank(positions, 3), Dim(positions, 0, 1),
              SameDim(positions, 1, e.ids, -1), SameDim(positions, 2, words, 1));
  auto rows = res.Op<ops::Squeeze>()(positions, res.ConstantInts({0}));
  res.Tensor(e.out) = res.Op<fused::EmbedLayerNorm>({.epsilon = e.epsilon})(
      e.ids, words, rows, e.gamma, e.beta, res.None(), e.segments, e.segment_ids);
}

}  // namespace weft::passes
