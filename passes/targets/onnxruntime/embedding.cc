// fused.embed_layer_norm as com.microsoft's EmbedLayerNormalization.
#include "ir/dialects/fused/embedding.h"

#include "ir/dialects/microsoft/normalization.h"
#include "ir/dialects/onnx/math.h"
#include "passes/rules.h"
#include "passes/several_results.h"

namespace weft::passes {
namespace {

namespace microsoft = ir::microsoft;

// Numbers of rows as that has them: of 32 bits, and none that counts from the end.
ResultTensor CountedFromFront(ResultPattern& res, const Tensor& ids, const Tensor& table) {
  auto rows = res.Op<ops::Shape>({.end = 1})(table);
  auto wide = res.Op<ops::Cast>({.to = kI64})(ids);
  return res.Op<ops::Cast>({.to = kI32})(res.Op<ops::Mod>()(wide, rows));
}

void LowerEmbedding(SourcePattern& src, ResultPattern& res, bool looks_up_positions,
                    bool has_segments) {
  auto ids = src.Tensor("ids"), words = src.Tensor("words"), positions = src.Tensor("positions");
  auto gamma = src.Tensor("gamma"), beta = src.Tensor("beta");
  auto epsilon = src.Attr<float>("epsilon");
  SourceOperand position_ids = src.None(), segments = src.None(), segment_ids = src.None();
  Operand position_rows = res.None(), segment_rows = res.None(), segment_table = res.None();
  if (looks_up_positions) {
    auto given = src.Tensor("position_ids");
    src.Require(SameDim(given, 1, ids, 1), MinDim(positions, 0, 1));
    position_rows = CountedFromFront(res, given, positions);
    position_ids = given;
  }
  if (has_segments) {
    auto given = src.Tensor("segment_ids"), table = src.Tensor("segments");
    src.Require(SameShape(given, ids), MinDim(table, 0, 1));
    segment_rows = CountedFromFront(res, given, table);
    segment_table = table;
    segments = table, segment_ids = given;
  }
  auto out = src.Op<fused::EmbedLayerNorm>({.epsilon = epsilon})(
      ids, words, positions, gamma, beta, position_ids, segments, segment_ids);
  src.Require(DType(words, kF32), Rank(ids, 2), MinDim(words, 0, 1));
  auto [normal, counts] =
      Several<2>(res.Op<microsoft::EmbedLayerNormalization>({.epsilon = epsilon}),
                 CountedFromFront(res, ids, words), segment_rows, words, positions, segment_table,
                 gamma, beta, res.None(), position_rows);
  static_cast<void>(counts);
  res.Tensor(out) = normal;
}

}  // namespace

// embed_layer_norm(ids, words, positions) => com.microsoft.EmbedLayerNormalization, of rows that count from
// the front
WEFT_RULE(LowerEmbedLayerNormToMicrosoft, "onnxruntime", kReassociates) {
  LowerEmbedding(src, res, false, false);
}

// The same with position_ids.
WEFT_RULE(LowerEmbedLayerNormOfPositions, "onnxruntime", kReassociates) {
  LowerEmbedding(src, res, true, false);
}

// The same with segments.
WEFT_RULE(LowerEmbedLayerNormOfSegments, "onnxruntime", kReassociates) {
  LowerEmbedding(src, res, false, true);
}

// The same with both.
WEFT_RULE(LowerEmbedLayerNormOfBoth, "onnxruntime", kReassociates) {
  LowerEmbedding(src, res, true, true);
}

}  // namespace weft::passes
