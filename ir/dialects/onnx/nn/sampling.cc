#include "ir/dialects/onnx/nn/sampling.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/dialects/onnx/body.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/infer/shape_value.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/movement.h"

namespace weft::ir::ops {
namespace {

bool CheckScale(InferContext& c, float scale) {
  return std::isfinite(scale) || c.Fail(fmt::format("spatial_scale is {}", scale));
}

// Fails unless rois is [regions, columns]; *regions may be unknown.
bool CheckRois(InferContext& c, int64_t columns, int64_t* regions) {
  if (!CheckRank(c, 0, 4) || !CheckRank(c, 1, 2)) return false;
  *regions = c.Ranked(1) ? (*DimsOf(c, 1))[0] : kUnknownDim;
  const Shape rois = {*regions, columns};
  return CheckShape(c, 1, rois);
}

// [regions, channels of x, height, width]
bool SetRegions(InferContext& c, int64_t regions, int64_t height, int64_t width) {
  const int64_t channels = c.Ranked(0) ? (*DimsOf(c, 0))[1] : kUnknownDim;
  if (height < 0 || width < 0) return c.Fail(fmt::format("the result is {} by {}", height, width));
  return SetTensor(c, 0, DtypeOf(c, 0), Shape{regions, channels, height, width});
}

}  // namespace

bool GridSample::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, 1) || !CheckRank(c, 0, 3, SIZE_MAX) ||
      !CheckRank(c, 1, 3, SIZE_MAX))
    return false;
  const Dims x = DimsOf(c, 0), grid = DimsOf(c, 1);
  if (!x || !grid) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  if (x->size() != grid->size())
    return c.Fail(fmt::format("x has rank {} but grid has rank {}", x->size(), grid->size()));
  Shape expected = *grid;
  expected.front() = x->front();
  expected.back() = static_cast<int64_t>(x->size() - 2);
  if (!CheckShape(c, 1, expected)) return false;
  Shape dims = {(*x)[0], (*x)[1]};
  dims.insert(dims.end(), grid->begin() + 1, grid->end() - 1);
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool AffineGrid::Infer(InferContext& c) {
  if (!CheckTensors(c) || !CheckFloat(c, 0) || !CheckRank(c, 0, 3)) return false;
  Dims size;
  if (!DimsFromOperand(c, 1, &size)) return false;
  if (!size) return SetTensor(c, 0, DtypeOf(c, 0), std::nullopt);
  if (size->size() != 4 && size->size() != 5)
    return c.Fail(fmt::format("size has {} entries but must have 4 or 5", size->size()));
  const auto n = static_cast<int64_t>(size->size() - 2);
  const Shape theta = {size->front(), n, n + 1};
  if (!CheckShape(c, 0, theta)) return false;
  Shape dims = {size->front()};
  dims.insert(dims.end(), size->begin() + 2, size->end());
  dims.push_back(n);
  return SetTensor(c, 0, DtypeOf(c, 0), dims);
}

bool RoiAlign::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<RoiAlign>();
  DataType dtype;
  int64_t regions;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckFloat(c, 0) ||
      !CheckDtype(c, 2, DataType::kI64) || !CheckScale(c, attrs.spatial_scale) ||
      !CheckRois(c, 4, &regions) || !CheckShape(c, 2, {&regions, 1}))
    return false;
  if (attrs.sampling_ratio < 0)
    return c.Fail(fmt::format("sampling_ratio is {}", attrs.sampling_ratio));
  if (!IsStaticDim(regions) && VectorLength(c, 2) >= 0) regions = VectorLength(c, 2);
  return SetRegions(c, regions, attrs.output_height, attrs.output_width);
}

bool MaxRoiPool::Infer(InferContext& c) {
  const auto attrs = c.attrs_of<MaxRoiPool>();
  DataType dtype;
  int64_t regions;
  if (!CheckTensors(c) || !SameDtype(c, {0, 1}, &dtype) || !CheckFloat(c, 0) ||
      !CheckScale(c, attrs.spatial_scale) || !CheckRois(c, 5, &regions))
    return false;
  if (attrs.pooled_shape.size() != 2)
    return c.Fail(
        fmt::format("pooled_shape has {} entries but needs 2", attrs.pooled_shape.size()));
  return SetRegions(c, regions, attrs.pooled_shape[0], attrs.pooled_shape[1]);
}

// --- reference bodies -------------------------------------------------------------

namespace {

// The places of `size` elements in a row, from -1 to 1.
Value Places(Builder& b, Value size, bool align_corners, DataType dtype) {
  const auto number = [&](double value) { return b.ConstantScalar(dtype, value); };
  const Value at = CastTo(b, CountTo(b, size), dtype);
  const Value n = CastTo(b, AsScalar(b, size), dtype);
  if (!align_corners) {  // (2 i + 1) / n - 1
    const Value centre = b.Make<Add>({Scaled(b, at, 2), number(1)});
    return b.Make<Sub>({b.Make<Div>({centre, n}), number(1)});
  }
  const Value gaps = b.Make<Max>({b.Make<Sub>({n, number(1)}), number(1)});
  return b.Make<Sub>({b.Make<Div>({Scaled(b, at, 2), gaps}), number(1)});
}

}  // namespace

// The places as a matrix, the last axis first and then ones, times theta.
std::vector<Value> AffineGrid::Decompose(Builder& b, std::span<const Value> operands,
                                         const Attrs<Plain>& attrs) {
  const Value theta = operands[0];
  const DataType dtype = ElementTypeOf(theta);
  if (dtype == DataType::kNull || !theta.type().HasRank() || !IsStaticDim(theta.type().dim(1)))
    return {};
  const int64_t axes = theta.type().dim(1);
  std::vector<Value> image;  // sizes
  for (int64_t i = 0; i < axes; ++i)
    image.push_back(b.Make<Gather>({operands[1], b.ConstantInts({i + 2})}));
  image.push_back(b.ConstantInts({1}));
  const Value shape = JoinDims(b, image);
  std::vector<Value> columns;
  for (int64_t i = axes; i-- > 0;) {
    Ints others;
    for (int64_t k = 0; k <= axes; ++k)
      if (k != i) others.push_back(k);
    const Value places = Places(b, image[static_cast<size_t>(i)], attrs.align_corners != 0, dtype);
    columns.push_back(b.Make<Expand>({UnsqueezeAt(b, places, others), shape}));
  }
  columns.push_back(b.Make<Expand>({b.ConstantScalar(dtype, 1), shape}));
  const Value joined = b.Make<Concat>(columns, {.axis = -1});
  const Value points = ReshapeTo(b, joined, {b.ConstantInts({-1, axes + 1})});
  const Value transposed = b.Make<Transpose>({theta}, {.perm = {0, 2, 1}});
  const Value grid = b.Make<MatMul>({points, transposed});
  image.back() = b.ConstantInts({axes});
  image.insert(image.begin(), DimOf(b, theta, 0));
  return {ReshapeToNonEmpty(b, grid, image)};
}

void LoadSamplingOps(IrContext& context) {
  AddOps<GridSample, AffineGrid, RoiAlign, MaxRoiPool>(context);
}

}  // namespace weft::ir::ops
