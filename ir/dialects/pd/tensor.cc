#include "ir/dialects/pd/tensor.h"

#include <fmt/format.h>

#include "ir/dialects/onnx/shape_value.h"
#include "ir/dialects/pd/creation.h"

namespace weft::ir::pd {
namespace {

// xshape: a leading 0, then the dims of operand 0.
bool SetXShape(InferContext& c, size_t result) {
  Dims dims = DimsOf(c, 0);
  if (dims) dims->insert(dims->begin(), 0);
  return SetTensor(c, result, DtypeOf(c, 0), dims);
}

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
  const auto axis = IntsOf(c.operand(1));
  if (!axis) {
    const bool typed = !x.elements().empty() && x.elements()[0].IsTensor();
    return SetTensor(c, 0, typed ? x.elements()[0].dtype() : DataType::kNull, std::nullopt);
  }
  if (axis->size() != 1) return c.Fail(fmt::format("axis has {} elements", axis->size()));
  return ConcatTensors(c, x.elements(), (*axis)[0]);
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

void LoadTensorOps(IrContext& context) {
  AddOps<Expand, Reshape, Transpose, Concat, Flatten>(context);
}

}  // namespace weft::ir::pd
