#include "ir/dialects/onnx/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/dialects/onnx/infer/shape_value.h"

namespace weft::ir::ops {

bool Reshape::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 1, 1)) return false;
  const auto target = ShapeOperand(c, 1);
  Dims dims;
  if (target && !ReshapeDims(c, DimsOf(c, 0), *target, c.attrs_of<Reshape>().allowzero != 0, &dims))
    return false;
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Flatten::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  const Dims x = DimsOf(c, 0);
  if (!x) return SetTensor(c, 0, DtypeOf(c, 0), ir::Shape{kUnknownDim, kUnknownDim});
  int64_t axis = c.attrs_of<Flatten>().axis;
  const auto rank = static_cast<int64_t>(x->size());
  if (axis != rank && !NormalizeAxis(c, &axis, x->size())) return false;
  const auto rows = ProductOf(std::span(*x).first(static_cast<size_t>(axis)));
  const auto columns = ProductOf(std::span(*x).subspan(static_cast<size_t>(axis)));
  if (!rows || !columns) return c.Fail(fmt::format("the result is too large: {}", ToString(*x)));
  return SetTensor(c, 0, DtypeOf(c, 0), ir::Shape{*rows, *columns});
}

bool Squeeze::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 1, 1)) return false;
  const Dims x = DimsOf(c, 0);
  std::optional<Ints> axes = c.HasOperand(1) ? KnownInts(c, 1) : std::nullopt;
  if (!x || (c.HasOperand(1) && !axes)) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  ir::Shape dims;
  if (!axes) {
    for (int64_t d : *x) {
      if (!IsStaticDim(d)) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
      if (d != 1) dims.push_back(d);
    }
    return SetTensor(c, 0, DtypeOf(c, 0), dims);
  }
  if (!NormalizeAxes(c, &*axes, x->size())) return false;
  for (size_t i = 0; i < x->size(); ++i) {
    const int64_t d = (*x)[i];
    if (!std::binary_search(axes->begin(), axes->end(), static_cast<int64_t>(i))) {
      dims.push_back(d);
    } else if (IsStaticDim(d) && d != 1) {
      return c.Fail(fmt::format("dimension {} of data {} is not 1", i, ToString(*x)));
    }
  }
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Unsqueeze::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckDtype(c, 1, DataType::kI64) || !CheckRank(c, 1, 1)) return false;
  const Dims x = DimsOf(c, 0);
  const int64_t count = VectorLength(c, 1);
  if (!x || !IsStaticDim(count) || count > static_cast<int64_t>(kMaxRank))
    return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  const size_t rank = x->size() + static_cast<size_t>(count);
  std::optional<Ints> axes = KnownInts(c, 1);
  if (!axes) return SetTensor(c, 0, DtypeOf(c, 0), ir::Shape(rank, kUnknownDim));
  if (!NormalizeAxes(c, &*axes, rank)) return false;
  ir::Shape dims = *x;
  for (int64_t axis : *axes) dims.insert(dims.begin() + axis, 1);
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool Shape::Infer(InferContext& c) {
  if (!CheckTensors(c)) return false;
  int64_t length = kUnknownDim;
  if (c.Ranked(0)) {
    const auto rank = static_cast<int64_t>(c.operand_type(0).rank());
    const auto attrs = c.attrs_of<Shape>();
    const auto clamp = [rank](int64_t i) {
      return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
    };
    length = std::max<int64_t>(clamp(attrs.end.value_or(rank)) - clamp(attrs.start), 0);
  }
  return SetTensor(c, 0, DataType::kI64, ir::Shape{length});
}

bool ConstantOfShape::Infer(InferContext& c) {
  Dims dims;
  if (!CheckTensors(c) || !DimsFromOperand(c, 0, &dims)) return false;
  DataType dtype = DataType::kF32;
  if (const auto value = c.attrs_of<ConstantOfShape>().value) {
    if (!value->Is(AttrKind::kDense)) return c.Fail("value is no tensor");
    if (value->dense_type().NumElements() != 1)
      return c.Fail(
          fmt::format("value is {} but must have one element", value->dense_type().ToString()));
    dtype = value->dense_type().dtype();
  }
  return SetTensor(c, 0, dtype, dims);
}

void LoadShapeOps(IrContext& context) {
  AddOps<Reshape, Flatten, Squeeze, Unsqueeze, Shape, ConstantOfShape>(context);
}

}  // namespace weft::ir::ops
