#include "ir/dialects/pd/movement.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/infer/infer_util.h"
#include "ir/dialects/pd/creation.h"
#include "ir/dialects/pd/gradient.h"

namespace weft::ir::pd {
namespace {

// nullopt when x does not broadcast to shape, which has as many entries as x, or more.
Dims ExpandDims(const Shape& x, const Ints& shape) {
  Shape dims = shape;
  const size_t offset = shape.size() - x.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t from = i < offset ? 1 : x[i - offset];
    if (dims[i] == -1) {
      dims[i] = from;
    } else if (dims[i] < 0 || (IsStaticDim(from) && from != 1 && from != dims[i])) {
      return std::nullopt;
    }
  }
  return dims;
}

}  // namespace

bool Expand::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const Dims x = DimsOf(c, 0);
  const auto shape = IntsOf(c.operand(1));
  Dims dims;
  // Listings print expands that are no legal broadcast: no shape is inferred for these.
  if (x && shape && shape->size() >= x->size()) dims = ExpandDims(*x, *shape);
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Transpose::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const Dims x = DimsOf(c, 0);
  Dims dims;
  if (x && !PermuteDims(c, *x, c.attrs_of<Transpose>().perm, &dims)) return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Concat::Infer(InferContext& c) {
  const Type x = c.operand_type(0);
  if (!x || x.kind() == TypeKind::kOpaque) return c.Unknown();
  if (!x.IsVector()) return c.Fail(fmt::format("x is {}, not a vector", x.ToString()));
  if (IsFloat(DtypeOf(c, 1))) return c.Fail("axis is no integer");
  const auto axis = IntsOf(c.operand(1));
  if (!axis) {
    const bool typed = !x.elements().empty() && x.elements()[0].IsTensor();
    return SetTensor(c, 0, typed ? x.elements()[0].dtype() : DataType::kNull, std::nullopt);
  }
  if (axis->size() != 1) return c.Fail(fmt::format("axis has {} elements", axis->size()));
  return ConcatTensors(c, x.elements(), (*axis)[0]);
}

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

void LoadMovementOps(IrContext& context) {
  AddOps<Expand, Transpose, Concat, ExpandGrad, ConcatGrad>(context);
}

}  // namespace weft::ir::pd
