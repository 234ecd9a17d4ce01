#include "ir/dialects/pd/attention.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/infer_util.h"

namespace weft::ir::pd {

bool MultiheadMatmul::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1, 2, 3}, &dtype) || !CheckRank(c, 0, 3) ||
      !CheckRank(c, 1, 3))
    return false;
  const Shape unknown(3, kUnknownDim);
  const Shape input = DimsOf(c, 0).value_or(unknown), w = DimsOf(c, 1).value_or(unknown);
  const int64_t heads = c.attrs_of<MultiheadMatmul>().head_number;
  if (!MergeDim(input[2], w[0]))
    return c.Fail(fmt::format("input has {} columns but w has {} rows", input[2], w[0]));
  if (!MergeDim(w[1], 3)) return c.Fail(fmt::format("w holds {} matrices, not 3", w[1]));
  if (heads < 1 || (IsStaticDim(w[2]) && w[2] % heads != 0))
    return c.Fail(fmt::format("{} columns of w do not split into {} heads", w[2], heads));
  const int64_t bias[] = {3, w[2]};
  const int64_t scores[] = {input[0], heads, input[1], input[1]};
  if (!CheckShape(c, 2, bias) || !CheckBroadcastsTo(c, 3, scores)) return false;
  return SetTensor(c, 0, dtype, Shape{input[0], input[1], w[2]});
}

void LoadAttentionOps(IrContext& context) { AddOps<MultiheadMatmul>(context); }

}  // namespace weft::ir::pd
