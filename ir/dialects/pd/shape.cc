#include "ir/dialects/pd/shape.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/pd/creation.h"

namespace weft::ir::pd {
namespace {

// xshape: a leading 0, then the dims of operand 0.
bool SetXShape(InferContext& c, size_t result) {
  Dims dims = DimsOf(c, 0);
  if (dims) dims->insert(dims->begin(), 0);
  return SetTensor(c, result, DtypeOf(c, 0), dims);
}

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

bool Reshape::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  Dims dims;
  if (const auto shape = IntsOf(c.operand(1))) {
    ShapeValue target;
    for (int64_t n : *shape) target.push_back(ShapeEntry::Number(n));
    if (!ReshapeDims(c, DimsOf(c, 0), target, /*allow_zero=*/false, &dims)) return false;
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetXShape(c, 1);
}

bool Flatten::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  auto [start, stop] = c.attrs_of<Flatten>();
  const Dims x = DimsOf(c, 0);
  if (!x) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt) && SetXShape(c, 1);
  if (!NormalizeAxis(c, &start, x->size(), "start_axis") ||
      !NormalizeAxis(c, &stop, x->size(), "stop_axis"))
    return false;
  if (start > stop) return c.Fail(fmt::format("start_axis {} is after stop_axis {}", start, stop));
  const auto joined = ProductOf(
      std::span(*x).subspan(static_cast<size_t>(start), static_cast<size_t>(stop - start + 1)));
  if (!joined) return c.Fail(fmt::format("the result is too large: {}", ToString(*x)));
  Shape dims(x->begin(), x->begin() + start);
  dims.push_back(*joined);
  dims.insert(dims.end(), x->begin() + stop + 1, x->end());
  return SetTensor(c, 0, DtypeOf(c, 0), dims) && SetXShape(c, 1);
}

bool ReshapeGrad::Infer(InferContext& c) { return InferFromXShape(c); }
bool FlattenGrad::Infer(InferContext& c) { return InferFromXShape(c); }

void LoadShapeOps(IrContext& context) {
  AddOps<Reshape, Flatten, ReshapeGrad, FlattenGrad>(context);
}

}  // namespace weft::ir::pd
