#include "ir/dialects/pd/tensor_grad.h"

#include <fmt/format.h>

#include "ir/dialects/pd/internal/gradient.h"

namespace weft::ir::pd {
namespace {

// The dims behind the 0 that begins xshape; as many elements as out_grad.
bool InferFromXShape(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckRank(c, 0, 1, SIZE_MAX))
    return false;
  const Dims xshape = DimsOf(c, 0), out = DimsOf(c, 1);
  if (!xshape) return SetTensor(c, 0, dtype, std::nullopt);
  if (!MergeDim((*xshape)[0], 0))
    return c.Fail(fmt::format("xshape {} does not begin with 0", ToString(*xshape)));
  const Shape dims(xshape->begin() + 1, xshape->end());
  const auto before = ProductOf(dims), after = out ? ProductOf(*out) : kUnknownDim;
  if (before && after && !MergeDim(*before, *after))
    return c.Fail(
        fmt::format("out_grad {} does not fit xshape {}", ToString(*out), ToString(*xshape)));
  return SetTensor(c, 0, dtype, dims);
}

}  // namespace

bool ReshapeGrad::Infer(InferContext& c) { return InferFromXShape(c); }
bool FlattenGrad::Infer(InferContext& c) { return InferFromXShape(c); }

bool ExpandGrad::Infer(InferContext& c) {
  DataType dtype;
  if (!CheckTensors(c) || !SameDtype(c, {0, 2}, &dtype)) return false;
  const Dims out = DimsOf(c, 2);
  return (!out || CheckBroadcastsTo(c, 0, *out)) && SetGradsOf(c, {0});
}

bool ConcatGrad::Infer(InferContext& c) {
  const Type x = c.operand_type(0);
  if (!x || x.kind() == TypeKind::kOpaque) return c.Unknown();
  if (!x.IsVector()) return c.Fail(fmt::format("x is {}, not a vector", x.ToString()));
  return c.SetResult(0, x);
}

void LoadTensorGradOps(IrContext& context) {
  AddOps<ReshapeGrad, FlattenGrad, ExpandGrad, ConcatGrad>(context);
}

}  // namespace weft::ir::pd
