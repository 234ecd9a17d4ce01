#include "ir/dialects/fused/embedding.h"

#include <fmt/format.h>

#include "ir/dialects/fused/operands.h"
#include "ir/dialects/onnx.h"
#include "ir/dialects/onnx/infer/agreed.h"
#include "ir/dialects/onnx/infer/indices.h"
#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::fused {
namespace {

enum Operand : size_t {
  kIds,
  kWords,
  kPositions,
  kScale,
  kBias,
  kPositionIds,
  kSegments,
  kSegmentIds
};

// Where there are no position_ids, there are as many rows as positions.
bool CheckPositions(InferContext& c, const Dims& ids) {
  const Dims table = DimsOf(c, kPositions);
  if (c.HasOperand(kPositionIds) || !ids || !table) return true;
  const int64_t rows = table->front(), length = ids->back();
  if (!IsStaticDim(rows) || !IsStaticDim(length) || rows >= length) return true;
  return c.Fail(fmt::format("positions has {} rows for {} ids", rows, length));
}

}  // namespace

bool EmbedLayerNorm::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {kWords, kPositions, kScale, kBias, kSegments}, &dtype) ||
      !CheckFloat(c, kWords))
    return false;
  if (c.HasOperand(kSegments) != c.HasOperand(kSegmentIds))
    return c.Fail("has only one of segments and segment_ids");
  AgreedDim columns("columns");
  for (const size_t i : {kWords, kPositions, kScale, kBias, kSegments}) {
    if (!CheckRank(c, i, i == kScale || i == kBias ? 1 : 2)) return false;
    if (const Dims dims = DimsOf(c, i))
      if (!columns.Add(c, i, dims->back())) return false;
  }
  Dims ids = DimsOf(c, kIds);
  if (!CheckRank(c, kIds, 1, SIZE_MAX)) return false;
  for (const size_t i : {kIds, kPositionIds, kSegmentIds})
    if (!CheckIndex(c, i) || (ids && !AgreeOnBroadcast(c, i, *ids))) return false;
  if (!CheckPositions(c, ids)) return false;
  for (const auto& [at, table] :
       {std::pair(kIds, kWords), {kPositionIds, kPositions}, {kSegmentIds, kSegments}})
    if (const Dims rows = DimsOf(c, table); rows && !CheckIndices(c, at, rows->front(), "rows"))
      return false;
  if (!ids) return SetTensor(c, 0, dtype, ids);
  Shape dims = *ids;
  dims.push_back(columns.dim());
  return SetTensor(c, 0, dtype, dims);
}

std::vector<Value> EmbedLayerNorm::Decompose(Builder& b, std::span<const Value> operands,
                                             const Attrs<Plain>& attrs) {
  const Value ids = operands[kIds], table = operands[kPositions];
  if (!ids.type().HasRank() || !table.type().HasRank()) return {};
  const auto look_up = [&](Value rows, Value at) {
    return b.Make<ops::Gather>({rows, at}, {.axis = 0});
  };
  // Without position_ids the rows in their order, which are all where there are as many.
  Value positions = table;
  if (const Value at = OperandOrNull(operands, kPositionIds)) {
    positions = look_up(table, at);
  } else if (const int64_t length = ids.type().dims().back();
             !IsStaticDim(length) || table.type().dim(0) != length) {
    positions = look_up(table, ops::CountTo(b, ops::DimOf(b, ids, ids.type().rank() - 1)));
  }
  // In the order in which the rule that fuses them reads them: of alike tables it takes the last for positions.
  Value sum = look_up(operands[kWords], ids);
  if (const Value at = OperandOrNull(operands, kSegmentIds))
    sum = b.Make<ops::Add>({sum, look_up(operands[kSegments], at)});
  sum = b.Make<ops::Add>({sum, positions});
  std::vector<Value> inputs = {sum, operands[kScale]};
  if (const Value bias = OperandOrNull(operands, kBias)) inputs.push_back(bias);
  return {b.Make<ops::LayerNormalization>(inputs, {.axis = int64_t{-1}, .epsilon = attrs.epsilon})};
}

}  // namespace weft::ir::fused
